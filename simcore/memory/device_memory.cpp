#include "simcore/memory/device_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "simcore/memory/page_arena.h"

namespace gpusim::core {
namespace {

constexpr uint64_t kFourGiB = uint64_t{1} << 32;
constexpr uint64_t kAddressLimit = uint64_t{1} << 47;
constexpr uint64_t kPage = 4096;

uint64_t align_up(uint64_t value, uint64_t align) { return (value + align - 1) & ~(align - 1); }

uint64_t distance(const Allocation& allocation, uint64_t address) {
  if (address < allocation.base) return allocation.base - address;
  return address < allocation.end() ? 0 : address - allocation.end() + 1;
}

}  // namespace

DeviceMemory::~DeviceMemory() {
  for (const Mapping& mapping : mappings_) munmap(mapping.pointer, mapping.bytes);
}

void DeviceMemory::check_capacity(uint64_t bytes, std::string_view name) const {
  if (bytes > capacity_ - used_)
    throw InputError(fmt::format("error: device memory is full: '{}' needs {} bytes, {} of {} are free", name,
                                 bytes, capacity_ - used_, capacity_));
}

uint64_t DeviceMemory::in_the_way(uint64_t base, uint64_t bytes, uint64_t guard) const {
  const auto after = std::ranges::upper_bound(allocations_, base, {}, &Allocation::base);
  if (after != allocations_.end() && base + bytes + guard > after->base) return after->end();
  if (after != allocations_.begin() && (after - 1)->end() + guard > base) return (after - 1)->end();
  return 0;
}

bool DeviceMemory::allocate_at(uint64_t base, uint64_t bytes, std::string_view name) {
  if (base < kBase || base > kAddressLimit || bytes > kAddressLimit - base || in_the_way(base, bytes, 0) != 0)
    return false;
  check_capacity(bytes, name);
  insert({std::string(name), base, bytes, bytes == 0 ? nullptr : map(base, bytes, name), true, false});
  used_ += bytes;
  has_fixed_ = true;
  return true;
}

uint64_t DeviceMemory::allocate(uint64_t bytes, uint64_t align, std::string_view name, bool writable) {
  check_capacity(bytes, name);
  const uint64_t base = place(bytes, align, name, writable, false);
  used_ += bytes;
  return base;
}

uint64_t DeviceMemory::allocate_host(uint64_t bytes, std::string_view name) {
  return place(bytes, kPage, name, true, true);
}

uint64_t DeviceMemory::place(uint64_t bytes, uint64_t align, std::string_view name, bool writable,
                             bool of_host) {
  if (bytes > kAddressLimit)
    throw InputError(fmt::format("error: no device addresses left for '{}' ({} bytes)", name, bytes));
  if (!std::has_single_bit(align)) align = std::bit_ceil(std::min(align, uint64_t{1} << 30));
  align = std::clamp(align, kAlign, uint64_t{1} << 30);
  uint64_t* cursor = &next_low_;
  // 32-bit PTX never gets an address of host memory.
  if (of_host || align_up(next_low_, align) + bytes + kGuardBytes > kFourGiB) cursor = &next_high_;
  while (true) {
    const uint64_t base = align_up(*cursor, align);
    if (cursor == &next_low_ && base + bytes + kGuardBytes > kFourGiB) {
      cursor = &next_high_;
      continue;
    }
    if (base + bytes + kGuardBytes > kAddressLimit)
      throw InputError(fmt::format("error: no device addresses left for '{}' ({} bytes)", name, bytes));
    if (const uint64_t behind = has_fixed_ ? in_the_way(base, bytes, kGuardBytes) : 0; behind != 0) {
      *cursor = behind + kGuardBytes;
      continue;
    }
    std::byte* data = nullptr;
    if (bytes > 0) {
      data = map(base, bytes, name);
      if (data == nullptr) {  // the farther from the last try, the larger the next step
        *cursor = base + std::max<uint64_t>(base / 16, uint64_t{1} << 24);
        continue;
      }
    }
    *cursor = base + bytes + kGuardBytes;
    insert({std::string(name), base, bytes, data, writable, of_host});
    return base;
  }
}

std::byte* DeviceMemory::map(uint64_t base, uint64_t bytes, std::string_view name) {
  constexpr int kProtection = PROT_READ | PROT_WRITE, kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  const bool in_place = storage_ == Storage::kInPlace;
  // Allocations are not aligned to pages, but their guard keeps one from the pages of the next.
  const uint64_t first = in_place ? base / kPage * kPage : base;
  const uint64_t size = bytes + (base - first);
  void* const memory =
      in_place ? mmap(reinterpret_cast<void*>(first), size, kProtection, kFlags | MAP_FIXED_NOREPLACE, -1, 0)
               : mmap(nullptr, size, kProtection, kFlags, -1, 0);
  if (memory == MAP_FAILED && in_place && errno == EEXIST) return nullptr;
  if (memory == MAP_FAILED)
    throw InputError(fmt::format("error: cannot reserve {} bytes of host memory for '{}': {}", bytes, name,
                                 std::strerror(errno)));
  // Where little of a very large allocation is used, huge pages would take memory that the machine may not
  // have.
  constexpr uint64_t kLeast = uint64_t{4} << 20, kMost = uint64_t{1} << 30;
  if (size >= kLeast && size <= kMost) prefer_huge_pages(memory, size);
  mappings_.push_back({memory, size});
  return static_cast<std::byte*>(memory) + (in_place ? base - first : 0);
}

void DeviceMemory::insert(Allocation allocation) {
  const auto at = std::upper_bound(allocations_.begin(), allocations_.end(), allocation.base,
                                   [](uint64_t address, const Allocation& a) { return address < a.base; });
  allocations_.insert(at, std::move(allocation));
}

bool DeviceMemory::adopt(void* memory, uint64_t bytes, std::string_view name) {
  const auto base = reinterpret_cast<uint64_t>(memory);
  const auto after = std::ranges::upper_bound(allocations_, base, {}, &Allocation::base);
  if (after != allocations_.end() && after->base < base + bytes) return false;
  if (after != allocations_.begin() && (after - 1)->end() > base) return false;
  insert({std::string(name), base, bytes, static_cast<std::byte*>(memory), true, true});
  return true;
}

bool DeviceMemory::release(uint64_t base) {
  const auto at = std::ranges::lower_bound(allocations_, base, {}, &Allocation::base);
  if (at == allocations_.end() || at->base != base) return false;
  if (!at->of_host) used_ -= at->bytes;
  const auto mapping = std::ranges::find_if(mappings_, [&](const Mapping& m) {
    const auto* const begin = static_cast<const std::byte*>(m.pointer);
    return at->bytes != 0 && at->data >= begin && at->data < begin + m.bytes;
  });
  if (mapping != mappings_.end()) {
    munmap(mapping->pointer, mapping->bytes);
    mappings_.erase(mapping);
  }
  if (released_.size() == kRemembered) released_.pop_front();
  released_.push_back({std::move(at->name), at->base, at->bytes});
  allocations_.erase(at);
  return true;
}

const Allocation* DeviceMemory::find(uint64_t address) const {
  auto after = std::upper_bound(allocations_.begin(), allocations_.end(), address,
                                [](uint64_t a, const Allocation& allocation) { return a < allocation.base; });
  if (after == allocations_.begin()) return nullptr;
  const Allocation& candidate = *--after;
  return address < candidate.end() ? &candidate : nullptr;
}

const Allocation* DeviceMemory::find(std::string_view name) const {
  for (const Allocation& allocation : allocations_) {
    if (allocation.name == name) return &allocation;
  }
  return nullptr;
}

bool DeviceMemory::was_released(uint64_t address) const {
  return std::ranges::any_of(released_, [address](const Released& r) { return address - r.base < r.bytes; });
}

const Allocation* DeviceMemory::before(uint64_t address) const {
  const auto after = std::ranges::upper_bound(allocations_, address, {}, &Allocation::base);
  return after == allocations_.begin() ? nullptr : &*(after - 1);
}

const Allocation* DeviceMemory::after(uint64_t address) const {
  const auto at = std::ranges::upper_bound(allocations_, address, {}, &Allocation::base);
  return at == allocations_.end() ? nullptr : &*at;
}

const Allocation* DeviceMemory::nearest(uint64_t address) const {
  const Allocation* best = nullptr;
  for (const Allocation& allocation : allocations_) {
    if (best == nullptr || distance(allocation, address) < distance(*best, address)) best = &allocation;
  }
  return best;
}

std::string DeviceMemory::describe(uint64_t address) const {
  const Allocation* a = nearest(address);
  const auto freed =
      std::ranges::find_if(released_, [address](const Released& r) { return address - r.base < r.bytes; });
  if (freed != released_.end() && (a == nullptr || address - a->base >= a->bytes))
    return fmt::format("address {:#x} is byte {} of '{}' ({:#x}, {} bytes), which has been freed", address,
                       address - freed->base, freed->name, freed->base, freed->bytes);
  if (a == nullptr) return fmt::format("address {:#x}: nothing is allocated", address);
  const std::string what = fmt::format("'{}' ({:#x}, {} bytes)", a->name, a->base, a->bytes);
  if (address < a->base)
    return fmt::format("address {:#x} is {} bytes before {}", address, a->base - address, what);
  if (address < a->end())
    return fmt::format("address {:#x} is byte {} of {}", address, address - a->base, what);
  return fmt::format("address {:#x} is {} bytes past the end of {}", address, address - a->end(), what);
}

DeviceMemory::Contents DeviceMemory::contents() const {
  Contents all;
  for (const Allocation& a : allocations_) all.emplace_back(a.data, a.data + a.bytes);
  return all;
}

void DeviceMemory::restore(const Contents& contents) const {
  for (size_t i = 0; i < contents.size(); ++i)
    std::copy(contents[i].begin(), contents[i].end(), allocations_[i].data);
}

}  // namespace gpusim::core
