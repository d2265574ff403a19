// Division by a number that is known when the machine is built: a shift and a mask if it is a power of two,
// as nearly all sizes of a GPU are.
#pragma once
#include <bit>
#include <cstdint>

namespace gpusim::core {

class Divisor {
 public:
  /// `value` >= 1.
  explicit Divisor(uint64_t value = 1)
      : value_(value), shift_(std::has_single_bit(value) ? std::countr_zero(value) : -1) {}

  [[nodiscard]] uint64_t value() const { return value_; }
  /// n / value, rounded up.
  [[nodiscard]] uint64_t up(uint64_t n) const { return (n + value_ - 1) / *this; }
  friend uint64_t operator/(uint64_t n, const Divisor& d) {
    return d.shift_ >= 0 ? n >> d.shift_ : n / d.value_;
  }
  friend uint64_t operator%(uint64_t n, const Divisor& d) {
    return d.shift_ >= 0 ? n & (d.value_ - 1) : n % d.value_;
  }

 private:
  uint64_t value_;
  int shift_;
};

}  // namespace gpusim::core
