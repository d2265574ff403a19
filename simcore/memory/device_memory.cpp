#include "simcore/memory/device_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

namespace gpusim::core {
namespace {

constexpr uint64_t kFourGiB = uint64_t{1} << 32;
constexpr uint64_t kAddressLimit = uint64_t{1} << 47;

uint64_t align_up(uint64_t value, uint64_t align) { return (value + align - 1) & ~(align - 1); }

uint64_t distance(const Allocation& allocation, uint64_t address) {
  if (address < allocation.base) return allocation.base - address;
  return address < allocation.end() ? 0 : address - allocation.end() + 1;
}

}  // namespace

DeviceMemory::~DeviceMemory() {
  for (const Mapping& mapping : mappings_) munmap(mapping.pointer, mapping.bytes);
}

uint64_t DeviceMemory::allocate(uint64_t bytes, uint64_t align, std::string_view name, bool writable) {
  if (bytes > capacity_ - used_) {
    throw InputError(fmt::format("error: device memory is full: '{}' needs {} bytes, {} of {} are free", name,
                                 bytes, capacity_ - used_, capacity_));
  }
  if (bytes > kAddressLimit)
    throw InputError(fmt::format("error: no device addresses left for '{}' ({} bytes)", name, bytes));
  if (!std::has_single_bit(align)) align = std::bit_ceil(std::min(align, uint64_t{1} << 30));
  align = std::clamp(align, kAlign, uint64_t{1} << 30);
  uint64_t* cursor = &next_low_;
  if (align_up(next_low_, align) + bytes + kGuardBytes > kFourGiB) cursor = &next_high_;
  const uint64_t base = align_up(*cursor, align);
  if (base + bytes + kGuardBytes > kAddressLimit) {
    throw InputError(fmt::format("error: no device addresses left for '{}' ({} bytes)", name, bytes));
  }
  Allocation allocation{std::string(name), base, bytes, nullptr, writable};
  if (bytes > 0) {
    void* memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      throw InputError(fmt::format("error: cannot reserve {} bytes of host memory for '{}': {}", bytes, name,
                                   std::strerror(errno)));
    }
    mappings_.push_back({memory, bytes});
    allocation.data = static_cast<std::byte*>(memory);
  }
  *cursor = base + bytes + kGuardBytes;
  used_ += bytes;
  const auto place = std::upper_bound(allocations_.begin(), allocations_.end(), base,
                                      [](uint64_t address, const Allocation& a) { return address < a.base; });
  allocations_.insert(place, std::move(allocation));
  return base;
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

const Allocation* DeviceMemory::nearest(uint64_t address) const {
  const Allocation* best = nullptr;
  for (const Allocation& allocation : allocations_) {
    if (best == nullptr || distance(allocation, address) < distance(*best, address)) best = &allocation;
  }
  return best;
}

std::string DeviceMemory::describe(uint64_t address) const {
  const Allocation* a = nearest(address);
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
