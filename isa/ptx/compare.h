// What the six relations of numbers say (PTX ISA, "Comparison Operators"); those without sign are the same
// ones of unsigned types by the time that a comparison is executed.
#pragma once
#include "isa/ptx/opcodes.h"

namespace gpusim::isa {

template <class T>
[[nodiscard]] constexpr bool holds(CompareOp relation, T a, T b) {
  switch (relation) {
    case CompareOp::kEq:
      return a == b;
    case CompareOp::kNe:
      return a != b;
    case CompareOp::kLt:
      return a < b;
    case CompareOp::kLe:
      return a <= b;
    case CompareOp::kGt:
      return a > b;
    default:
      return a >= b;
  }
}

}  // namespace gpusim::isa
