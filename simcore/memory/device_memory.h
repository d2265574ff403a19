// The GPU's device memory: a sparse 64-bit address space of named allocations with host storage behind each.
// Storage is reserved by mmap without swap, so untouched pages cost nothing. Allocations start at kBase,
// below 4 GiB first (32-bit PTX can address those), and never touch: kGuardBytes of unmapped addresses follow
// each, so running over the end is found.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simcore/text/input_error.h"

namespace gpusim::core {

struct Allocation {
  std::string name;
  uint64_t base = 0;
  uint64_t bytes = 0;  ///< usable bytes: the size asked for
  std::byte* data = nullptr;
  bool writable = true;
  [[nodiscard]] uint64_t end() const { return base + bytes; }
};

class DeviceMemory {
 public:
  static constexpr uint64_t kBase = 0x1000'0000;
  static constexpr uint64_t kAlign = 256;
  /// A multiple of partitions x interleave of common machines: buffers keep the partition phase of packed
  /// ones.
  static constexpr uint64_t kGuardBytes = 4096;

  explicit DeviceMemory(uint64_t capacity_bytes) : capacity_(capacity_bytes) {}
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Reserves zeroed memory and returns its device address. `align` is a power of two; at least kAlign is
  /// used. Zero bytes give an address of their own that maps nothing. Throws InputError when the capacity is
  /// exceeded.
  uint64_t allocate(uint64_t bytes, uint64_t align, std::string_view name, bool writable = true);

  /// The allocation that holds `address`, nullptr if none does. Valid for the lifetime of this object (until
  /// the next allocate() as a pointer).
  [[nodiscard]] const Allocation* find(uint64_t address) const;
  [[nodiscard]] const Allocation* find(std::string_view name) const;
  /// The allocation whose bytes are nearest to `address`, nullptr if there is none at all.
  [[nodiscard]] const Allocation* nearest(uint64_t address) const;
  /// "address 0x... is 4 bytes past the end of 'C' (0x10000000, 4096 bytes)", for error messages.
  [[nodiscard]] std::string describe(uint64_t address) const;

  /// Bytes of all allocations, in their order.
  using Contents = std::vector<std::vector<std::byte>>;
  [[nodiscard]] Contents contents() const;
  /// Puts back what contents() has given; no allocation was made since.
  void restore(const Contents& contents) const;

  [[nodiscard]] uint64_t capacity() const { return capacity_; }
  [[nodiscard]] uint64_t used() const { return used_; }
  /// In address order.
  [[nodiscard]] const std::vector<Allocation>& allocations() const { return allocations_; }

 private:
  struct Mapping {
    void* pointer;
    size_t bytes;
  };
  std::vector<Allocation> allocations_;
  std::vector<Mapping> mappings_;
  uint64_t capacity_;
  uint64_t used_ = 0;
  uint64_t next_low_ = kBase;
  uint64_t next_high_ = uint64_t{1} << 32;
};

}  // namespace gpusim::core
