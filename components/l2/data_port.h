// The data of an L2 slice: one port, which sectors that are read, written or brought by DRAM take one after
// another, each for a number of interconnect cycles that need not be whole. Plain class.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "simcore/config/machine_config.h"

namespace gpusim::comp {

class DataPort {
 public:
  explicit DataPort(const core::MachineConfig::Partition& l2)
      : of_read_(parts(l2.read_cycles)), of_write_(parts(l2.write_cycles)), of_fill_(parts(l2.fill_cycles)) {}
  /// The first cycle in which an access can begin.
  [[nodiscard]] uint64_t free_at() const { return free_ / kParts; }
  void read(uint32_t sectors, uint64_t now) { take(sectors * of_read_, now); }
  void write(uint32_t sectors, uint64_t now) { take(sectors * of_write_, now); }
  void fill(uint32_t sectors, uint64_t now) { take(sectors * of_fill_, now); }
  /// Cycles for which it has been taken.
  [[nodiscard]] uint64_t busy_cycles() const { return busy_ / kParts; }

 private:
  static constexpr uint64_t kParts = 256;
  static uint64_t parts(double cycles) { return static_cast<uint64_t>(std::llround(cycles * kParts)); }
  /// An access begins when the one before has ended, which may be within a cycle.
  void take(uint64_t taken, uint64_t now) {
    if (taken == 0) return;
    free_ = std::max(free_, now * kParts) + taken;
    busy_ += taken;
  }
  uint64_t of_read_, of_write_, of_fill_;
  uint64_t free_ = 0, busy_ = 0;  ///< in parts of a cycle
};

}  // namespace gpusim::comp
