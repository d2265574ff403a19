// A number of a launch file: a 64-bit signed integer (exact) or a double. Integers stay integers through + -
// * // % min max and exact /; the rest gives doubles.
#pragma once
#include <cstdint>

namespace gpusim::core {

struct Number {
  bool is_integer = true;
  int64_t integer = 0;
  double real = 0;  ///< valid if !is_integer
  static Number of(int64_t v) { return {true, v, 0}; }
  static Number of_real(double v) { return {false, 0, v}; }
  [[nodiscard]] double as_double() const { return is_integer ? static_cast<double>(integer) : real; }
  friend bool operator==(const Number&, const Number&) = default;
};

}  // namespace gpusim::core
