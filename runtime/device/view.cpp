#include "runtime/device/view.h"

#include <sys/mman.h>

#include <algorithm>

namespace gpusim::runtime {

namespace {
constexpr uint64_t kPage = comp::kHostPage;
constexpr uint64_t kLargePage = uint64_t{2} << 20;  // of a GPU, in which its allocations lie

uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }
}  // namespace

isa::MemoryWindow Device::Memory::outside(uint64_t address) const {
  if (!on_stray_) return {};
  const uint64_t page = address / kPage * kPage;
  const core::Allocation* const before = memory_.before(address);
  const core::Allocation* const after = memory_.before(page + kPage - 1);
  // Memory of the host is the process's own, whose pages hold what the program has there.
  const bool behind = before != nullptr && before->of_host && before->end() > page;
  if (behind || (after != before && after->of_host)) {
    on_stray_(behind ? *before : *after);
    const uint64_t begin = before == nullptr ? page : std::max(page, before->end());
    const core::Allocation* const next = memory_.after(address);
    const uint64_t end = next == nullptr ? page + kPage : std::min(page + kPage, next->base);
    return {begin, end, reinterpret_cast<std::byte*>(begin)};
  }
  return before == nullptr ? isa::MemoryWindow{} : behind_the_end(address, *before);
}

isa::MemoryWindow Device::Memory::behind_the_end(uint64_t address, const core::Allocation& a) const {
  if (a.of_host || a.bytes == 0 || address >= round_up(a.end(), kLargePage) || memory_.was_released(address))
    return {};
  // Storage lies at the device's addresses. The last page of an allocation is there, and the first of the
  // next.
  const uint64_t page = address / kPage * kPage;
  const core::Allocation* next = memory_.before(page + kPage - 1);
  const bool of_next = next != &a && next != nullptr && next->bytes != 0;
  if (page >= round_up(a.end(), kPage) && !of_next &&
      std::ranges::find(pages_, reinterpret_cast<void*>(page)) == pages_.end()) {
    void* const mapped = mmap(reinterpret_cast<void*>(page), kPage, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (mapped == MAP_FAILED) return {};
    pages_.push_back(mapped);
  }
  on_stray_(a);
  const uint64_t begin = std::max(page, a.end()), end = of_next ? next->base : page + kPage;
  return {begin, end, reinterpret_cast<std::byte*>(begin), a.writable};
}

isa::MemoryWindow Device::Memory::window_beyond(uint64_t address) const {
  const isa::MemoryWindow first = on_stray_ ? window(address) : isa::MemoryWindow{};
  if (first.data == nullptr) return {};
  const isa::MemoryWindow next = window(first.end);
  if (next.data == nullptr || next.begin != first.end || next.data != first.data + (first.end - first.begin))
    return {};
  return {first.begin, next.end, first.data, first.writable && next.writable};
}

void Device::Memory::forget_strays() {
  for (void* page : pages_) munmap(page, kPage);
  pages_.clear();
}

}  // namespace gpusim::runtime
