// The unit of a partition that performs atomics: one word after another, each in a number of interconnect
// cycles that need not be whole. It takes an access when it has finished the one before. Plain class.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace gpusim::comp {

class AtomicUnit {
 public:
  /// `cycles`: of a word, >= 1.
  explicit AtomicUnit(double cycles) : of_word_(static_cast<uint64_t>(std::llround(cycles * kParts))) {}
  /// The first cycle in which it can take an access.
  [[nodiscard]] uint64_t free_at() const { return (free_ + kParts - 1) / kParts; }
  /// It takes an access to `words` at `now` >= free_at(). Work that follows the last without a pause begins
  /// in the part of a cycle in which that ended.
  void take(uint32_t words, uint64_t now) {
    const bool no_pause = now * kParts < free_ + kParts;
    free_ = (no_pause ? free_ : now * kParts) + words * of_word_;
    busy_ += words * of_word_;
  }
  /// Cycles for which it has been taken.
  [[nodiscard]] uint64_t busy_cycles() const { return busy_ / kParts; }

 private:
  static constexpr uint64_t kParts = 256;
  uint64_t of_word_;
  uint64_t free_ = 0, busy_ = 0;  ///< in parts of a cycle
};

}  // namespace gpusim::comp
