// The heap of malloc() and free() in kernels (CUDA C++ Programming Guide, "Dynamic Global Memory Allocation
// and Operations"): one range of device memory whose size is fixed before the first kernel that uses it.
// What is free or taken is noted outside the range, so that a program cannot damage it. The same calls in the
// same order give the same addresses.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace gpusim::comp {

class DeviceHeap {
 public:
  static constexpr uint64_t kDefaultBytes = uint64_t{8} << 20;
  static constexpr uint64_t kAlign = 16;
  /// Bytes before each block that belong to nobody: an index that runs over a block's end by little is found.
  static constexpr uint64_t kGap = 16;

  void place(uint64_t base, uint64_t bytes);
  [[nodiscard]] bool placed() const { return bytes_ != 0; }
  [[nodiscard]] uint64_t base() const { return base_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

  /// The smallest free range that has room, the lowest of these; 0 if there is none, or for no bytes.
  [[nodiscard]] uint64_t allocate(uint64_t bytes);
  /// False if no block that is in use begins at `address`.
  bool release(uint64_t address);
  /// Everything is free again.
  void reset();

  [[nodiscard]] bool contains(uint64_t address) const { return address - base_ < bytes_; }
  struct Block {
    uint64_t begin = 0, bytes = 0;
  };
  /// The block in use that begins at or before `address`, nearest to it; no bytes if there is none.
  [[nodiscard]] Block block_before(uint64_t address) const;
  [[nodiscard]] uint64_t blocks_in_use() const { return used_.size(); }

 private:
  void add_free(uint64_t begin, uint64_t bytes);

  uint64_t base_ = 0, bytes_ = 0;
  std::map<uint64_t, uint64_t> free_;                ///< bytes by begin
  std::set<std::pair<uint64_t, uint64_t>> by_size_;  ///< bytes and begin
  struct Taken {
    uint64_t asked = 0, range = 0;  ///< bytes: asked for, and of the range with the gap before
  };
  std::map<uint64_t, Taken> used_;  ///< by address
};

}  // namespace gpusim::comp
