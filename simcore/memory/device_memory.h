// The GPU's device memory: a sparse 64-bit address space of named allocations with host storage behind each.
// Storage is reserved by mmap without swap, so untouched pages cost nothing. Allocations start at kBase,
// below 4 GiB first (32-bit PTX can address those), and never touch: kGuardBytes of unmapped addresses follow
// each, so running over the end is found. Storage can also lie at the device addresses themselves, so that
// the process and the device mean the same by a pointer (runtime/).
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
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
  bool of_host =
      false;  ///< memory of the host that the device may access: takes none of the device's capacity
  [[nodiscard]] uint64_t end() const { return base + bytes; }
};

class DeviceMemory {
 public:
  static constexpr uint64_t kBase = 0x1000'0000;
  static constexpr uint64_t kAlign = 256;
  /// A multiple of partitions x interleave of common machines: buffers keep the partition phase of packed
  /// ones.
  static constexpr uint64_t kGuardBytes = 4096;

  /// Where the storage of an allocation lies in this process: anywhere, or at its device address. Pieces of
  /// the address space that the process uses already are passed over then.
  enum class Storage : uint8_t { kAnywhere, kInPlace };

  explicit DeviceMemory(uint64_t capacity_bytes, Storage storage = Storage::kAnywhere)
      : capacity_(capacity_bytes), storage_(storage) {}
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Reserves zeroed memory and returns its device address. `align` is a power of two; at least kAlign is
  /// used. Zero bytes give an address of their own that maps nothing. Throws InputError when the capacity is
  /// exceeded.
  uint64_t allocate(uint64_t bytes, uint64_t align, std::string_view name, bool writable = true);

  /// As allocate(), at the address `base`, with no guard around it. False if addresses do not go that far, or
  /// something is there. Only where storage lies anywhere. Throws InputError when the capacity is exceeded.
  [[nodiscard]] bool allocate_at(uint64_t base, uint64_t bytes, std::string_view name);

  /// As allocate(), for memory of the host that the device may access.
  uint64_t allocate_host(uint64_t bytes, std::string_view name);
  /// [memory, memory + bytes) of this process can be accessed from the device, at that address. False if it
  /// touches an allocation.
  bool adopt(void* memory, uint64_t bytes, std::string_view name);
  /// Ends an allocation, or an adoption, that starts at `base`: false if none does. Its addresses are not
  /// handed out again, so that whoever still uses them is found.
  bool release(uint64_t base);

  /// The allocation that holds `address`, nullptr if none does. Valid for the lifetime of this object (until
  /// the next allocate() as a pointer).
  [[nodiscard]] const Allocation* find(uint64_t address) const;
  [[nodiscard]] const Allocation* find(std::string_view name) const;
  /// It lies in one of the last allocations that were released.
  [[nodiscard]] bool was_released(uint64_t address) const;
  /// The last allocation that begins at `address` or before it, nullptr if none does.
  [[nodiscard]] const Allocation* before(uint64_t address) const;
  /// The first allocation that begins behind `address`, nullptr if none does.
  [[nodiscard]] const Allocation* after(uint64_t address) const;
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
  struct Released {
    std::string name;
    uint64_t base = 0, bytes = 0;
  };
  uint64_t place(uint64_t bytes, uint64_t align, std::string_view name, bool writable, bool of_host);
  /// Maps `bytes` of zeros at `base`; nullptr if the process has something there.
  std::byte* map(uint64_t base, uint64_t bytes, std::string_view name);
  void insert(Allocation allocation);
  void check_capacity(uint64_t bytes, std::string_view name) const;
  /// The end of an allocation that comes within `guard` bytes of [base, base + bytes); 0 if none does.
  [[nodiscard]] uint64_t in_the_way(uint64_t base, uint64_t bytes, uint64_t guard) const;
  std::vector<Allocation> allocations_;
  std::vector<Mapping> mappings_;
  static constexpr size_t kRemembered = 1024;
  std::deque<Released> released_;  ///< the last ones, for describe()
  uint64_t capacity_;
  Storage storage_;
  uint64_t used_ = 0;
  bool has_fixed_ = false;  ///< allocate_at() was called
  uint64_t next_low_ = kBase;
  uint64_t next_high_ = uint64_t{1} << 32;
};

}  // namespace gpusim::core
