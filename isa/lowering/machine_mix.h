// What kinds of instructions the machine code of an operation consists of, counted in code that ptxas 13.0
// makes for sm_75.
#pragma once
#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

/// What a sequence of instructions is made of, besides those on integers, predicates and moves.
struct Mix {
  uint32_t special = 0;  ///< reciprocals and the like, and conversions
  uint32_t own = 0;      ///< arithmetic of the operation's own type
  uint32_t control = 0;
};

/// Of arithmetic on values of this type.
[[nodiscard]] MachineClass class_of_type(Type t);
/// Of an operation that is no arithmetic.
[[nodiscard]] MachineClass class_of_access(const Op& op);
[[nodiscard]] bool is_matrix(const Op& op);
/// A sum with zero of half precision.
[[nodiscard]] bool widens_half(const Op& op);
/// Of the `n` instructions of an operation in place.
[[nodiscard]] Mix mix_of(const Op& op, uint32_t n);
/// Of a subroutine.
[[nodiscard]] Mix subroutine_mix(OpClass c);

}  // namespace gpusim::isa::lir
