// The unit of a partition that performs atomics: one word after another, each in a number of interconnect
// cycles that need not be whole and depends on the words' type, and some more for each access. It takes an
// access when it has finished the one before. Plain class.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "simcore/config/machine_config.h"

namespace gpusim::comp {

class AtomicUnit {
 public:
  /// Cycles of an integer, of a floating-point number (0: as many) and of an access besides its words.
  AtomicUnit(double of_integer, double of_float, double of_access)
      : of_integer_(parts(of_integer)),
        of_float_(parts(of_float > 0 ? of_float : of_integer)),
        of_access_(parts(of_access)) {}
  explicit AtomicUnit(const core::MachineConfig::Partition& l2)
      : AtomicUnit(l2.atomic_cycles, l2.atomic_float_cycles, l2.atomic_access_cycles) {}
  /// The first cycle in which it can take an access.
  [[nodiscard]] uint64_t free_at() const { return (free_ + kParts - 1) / kParts; }
  /// It takes an access to `words`, integers or floating-point numbers, at `now` >= free_at(). Work that
  /// follows the last without a pause begins in the part of a cycle in which that ended.
  void take(uint32_t words, bool floating, uint64_t now) {
    const bool no_pause = now * kParts < free_ + kParts;
    const uint64_t taken = of_access_ + words * (floating ? of_float_ : of_integer_);
    free_ = (no_pause ? free_ : now * kParts) + taken;
    busy_ += taken;
  }
  /// Cycles for which it has been taken.
  [[nodiscard]] uint64_t busy_cycles() const { return busy_ / kParts; }

 private:
  static constexpr uint64_t kParts = 256;
  static uint64_t parts(double cycles) { return static_cast<uint64_t>(std::llround(cycles * kParts)); }
  uint64_t of_integer_, of_float_, of_access_;
  uint64_t free_ = 0, busy_ = 0;  ///< in parts of a cycle
};

}  // namespace gpusim::comp
