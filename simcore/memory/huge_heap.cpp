// Part of programs, not of libraries: their heap lies on huge pages where the system has them to give. A GPU
// of 132 SMs is tens of MB of small objects, and to build it on pages of 4 KB took twice as long as to run a
// small kernel on it, most of that in page faults.
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace {

constexpr size_t kHugePage = size_t{1} << 21;
constexpr size_t kHeap = 64 * kHugePage;  ///< virtual: a page takes memory when it is touched
constexpr size_t kLargestInHeap = 2 * kHugePage;

void lay_heap_on_huge_pages(int, char**, char**) {
  mallopt(M_MMAP_THRESHOLD, static_cast<int>(kLargestInHeap));
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(2 * kHeap));
  mallopt(M_TOP_PAD, static_cast<int>(kHeap));
  void* const first = malloc(1);
  mallopt(M_TOP_PAD, static_cast<int>(kHugePage));
  if (first == nullptr) return;
  const auto begin = (reinterpret_cast<uintptr_t>(first) + kHugePage - 1) / kHugePage * kHugePage;
  const auto end = reinterpret_cast<uintptr_t>(sbrk(0)) / kHugePage * kHugePage;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  free(first);
}

/// Before the shared libraries begin: SystemC's takes 3 MB.
[[gnu::used, gnu::section(".preinit_array")]] void (*const kFirst)(int, char**,
                                                                   char**) = lay_heap_on_huge_pages;

}  // namespace
