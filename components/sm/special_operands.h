// Operands for which the code of an IEEE division, reciprocal or square root calls a subroutine: zeros,
// infinities, NaN, and exponents for which the usual sequence would leave the range of its type on the way.
// Lanes with other operands wait for those that have them.
//
// Instructions and cycles are of the code that ptxas 13.0 makes for compute capability 7.5, 8.0 and 9.0,
// which hardly differ; cycles are the stall counts of its control codes on the way that the operands take, 20
// for a reciprocal or a conversion that it waits for and 8 for each branch that is taken (both assumed). The
// tests are those of that code, but for quotients of 32 bits: their test is an instruction (fchk) whose
// limits are not published, and assumed to be those within which the usual sequence is exact. Zeros,
// infinities and NaN fail it.
#pragma once
#include <cstdint>

#include "isa/exec/executor.h"
#include "isa/exec/micro_op.h"

namespace gpusim::comp {

struct SubroutineCall {
  uint16_t instructions = 0;  ///< that the warp issues besides those of the usual sequence; 0: no call
  uint16_t cycles = 0;        ///< core cycles that they take a warp which nothing else holds back
};

/// What the lanes' operands of a MicroOp::has_subroutine cost; to be asked before it executes.
[[nodiscard]] SubroutineCall subroutine_call(const isa::MicroOp& op, const isa::WarpContext& context,
                                             isa::LaneMask lanes);

}  // namespace gpusim::comp
