// How many instructions and registers ptxas needs for the operations of a program on compute capability 7.5.
// Most operations are one. Those on 64-bit integers are two, divisions and IEEE roots are sequences (some
// with a subroutine that a kernel has once), and some cost nothing, because an instruction takes them as an
// operand: parameters and negations.
#pragma once
#include "isa/lowering/liveness.h"

namespace gpusim::isa::lir {

/// Registers that the sequence of an operation needs besides its sources and results.
[[nodiscard]] uint32_t own_registers(const Op& op);
/// Whether a source is a constant that needs a register, because an instruction takes one at most.
[[nodiscard]] bool holds_constant(const Op& op, int source);
/// Both: of the sequence and of constants.
[[nodiscard]] uint32_t scratch_registers(const Op& op);

/// Of a block alone, those of machine_registers() that are alive or that the sequence of an operation takes.
/// `segments`: of its operations `ops`, the first of which has the index 0; `through`: registers of what
/// lives through it.
[[nodiscard]] uint32_t block_registers(const Program& program, const std::vector<Op>& ops,
                                       const std::vector<Segment>& segments, uint32_t through);

/// A call of what the CUDA run-time system brings (printf, malloc, free, a failed assert).
[[nodiscard]] bool calls_system(const Op& op);
/// Registers of a kernel, at least: more if it has such a call. By experiment with ptxas 13.0, for sm_75 to
/// sm_90.
[[nodiscard]] uint32_t least_registers(const Program& program);
/// Registers per thread of that code: what is alive, and what the sequences and constants need besides.
[[nodiscard]] uint32_t machine_registers(const Program& program, const Flow& flow);
[[nodiscard]] uint32_t machine_registers(const Program& program, const Liveness& live);
/// Kernels with few registers mostly have an even number, for the last ones are a pair or hold what is
/// stored: 449 of 534 with up to 24 (ptxas 13 for 8.0). `registers`, or one more.
[[nodiscard]] constexpr uint32_t made_even(uint32_t registers, uint32_t up_to) {
  return registers < up_to ? registers + registers % 2 : registers;
}
/// Those that a program takes from 7.0 on once its order is final; `limit`: with which its schedule did.
/// Sets Program::places. assign_registers.cpp
[[nodiscard]] uint32_t assigned_registers(Program& program, const Flow& flow, uint32_t limit);
/// Of each block, without subroutines and what branches need to meet again, as ptxas reckons before it
/// decides which branches become predicates.
[[nodiscard]] std::vector<uint32_t> block_instructions(const Program& program, const Flow& flow);
/// Sets how many of those instructions a warp issues for each operation, and how many it executes.
void count_executed(Program& program, const Flow& flow);
[[nodiscard]] MachineCounts machine_instructions(const Program& program, const Flow& flow);

}  // namespace gpusim::isa::lir
