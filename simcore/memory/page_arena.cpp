#include "simcore/memory/page_arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

#include "simcore/memory/address_sanitizer.h"
#include "simcore/memory/small_pages.h"
#ifdef GPUSIM_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

namespace gpusim::core {
namespace {
constexpr size_t kHugePage = size_t{1} << 21;
constexpr size_t kChunk = 16 * kHugePage;
constexpr size_t kAlign = 128;
bool small_pages = false;  ///< set before there are threads

/// What objects in the arena point to is no leak; the LeakSanitizer does not look into mapped pages by
/// itself.
void hold_pointers([[maybe_unused]] void* pages, [[maybe_unused]] size_t bytes) {
#ifdef GPUSIM_ADDRESS_SANITIZER
  __lsan_register_root_region(pages, bytes);
#endif
}

void hold_no_pointers([[maybe_unused]] void* pages, [[maybe_unused]] size_t bytes) {
#ifdef GPUSIM_ADDRESS_SANITIZER
  __lsan_unregister_root_region(pages, bytes);
#endif
}
}  // namespace

PageArena::~PageArena() {
  for (const Mapping& mapping : mappings_) {
    hold_no_pointers(mapping.pointer, mapping.bytes);
    munmap(mapping.pointer, mapping.bytes);
  }
}

std::byte* PageArena::allocate(size_t bytes) {
  bytes = (bytes + kAlign - 1) / kAlign * kAlign;
  if (bytes > left_) {
    const size_t chunk = std::max(kChunk, (bytes + kHugePage - 1) / kHugePage * kHugePage);
    const size_t mapped = chunk + kHugePage;
    void* p =
        mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    mappings_.push_back({p, mapped});
    hold_pointers(p, mapped);
    next_ = static_cast<std::byte*>(p) + (-reinterpret_cast<uintptr_t>(p) & (kHugePage - 1));
    left_ = chunk;
    prefer_huge_pages(next_, chunk);
  }
  std::byte* const data = next_;
  next_ += bytes;
  left_ -= bytes;
  return data;
}

void prefer_huge_pages(void* data, size_t bytes) {
  if (!small_pages) madvise(data, bytes, MADV_HUGEPAGE);
}

void prefer_small_pages() { small_pages = true; }

}  // namespace gpusim::core
