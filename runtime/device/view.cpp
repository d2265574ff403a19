#include "runtime/device/view.h"

#include <sys/mman.h>

#include <algorithm>

namespace gpusim::runtime {

namespace {
constexpr uint64_t kPage = 4096;                    // of this computer
constexpr uint64_t kLargePage = uint64_t{2} << 20;  // of a GPU, in which its allocations lie

uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }
}  // namespace

isa::MemoryWindow Device::Memory::behind_the_end(uint64_t address) const {
  const core::Allocation* a = on_stray_ ? memory_.before(address) : nullptr;
  if (a == nullptr || a->of_host || a->bytes == 0 || address >= round_up(a->end(), kLargePage) ||
      memory_.was_released(address))
    return {};
  // Storage lies at the device's addresses. The last page of an allocation is there, and the first of the
  // next.
  const uint64_t page = address / kPage * kPage;
  const core::Allocation* next = memory_.before(page + kPage - 1);
  const bool of_next = next != a && next != nullptr && next->bytes != 0;
  if (page >= round_up(a->end(), kPage) && !of_next &&
      std::ranges::find(pages_, reinterpret_cast<void*>(page)) == pages_.end()) {
    void* const mapped = mmap(reinterpret_cast<void*>(page), kPage, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (mapped == MAP_FAILED) return {};
    pages_.push_back(mapped);
  }
  on_stray_(*a);
  const uint64_t begin = std::max(page, a->end()), end = of_next ? next->base : page + kPage;
  return {begin, end, reinterpret_cast<std::byte*>(begin), a->writable};
}

isa::MemoryWindow Device::Memory::window_beyond(uint64_t address) const {
  const core::Allocation* a = memory_.find(address);
  if (!on_stray_ || a == nullptr || a->of_host) return {};
  const isa::MemoryWindow behind = window(a->end());
  if (behind.data == nullptr || behind.begin != a->end() || behind.data != a->data + a->bytes) return {};
  return {a->base, behind.end, a->data, a->writable && behind.writable};
}

void Device::Memory::forget_strays() {
  for (void* page : pages_) munmap(page, kPage);
  pages_.clear();
}

}  // namespace gpusim::runtime
