// What ptxas reckons an iteration of a loop to cost before it unrolls it. By experiment with ptxas 13.0:
// loops of FMA and n operations of one kind, and with how many FMA they are still unrolled.
#pragma once
#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

/// In operations, of which an FMA is one. ptxas decides before it has made instructions, when 64 bits are one
/// operation, but divisions and approximations that scale their argument are several already.
/// `at_parameter`: the address of an access is a parameter of the kernel as it is.
[[nodiscard]] uint32_t operation_cost(const Op& op, bool at_parameter);

/// What of an iteration stays when its counter is a number, and what goes: the counter, the test, the branch,
/// and what else depends on nothing but numbers, among it loads of shared, local and parameter memory.
struct UnrolledCost {
  uint32_t left = 0, gone = 3, loads = 0;
};
/// Iterations, of a number that is known, which all become code; `several_loops`: the kernel has others.
[[nodiscard]] uint32_t most_trips(const UnrolledCost& each, bool several_loops);

/// Of an iteration whose counter is no number: what would go is there, too.
[[nodiscard]] uint32_t cost_together(const UnrolledCost& each);
/// Of `trips` iterations of that cost, too many for all to become code, how many become one iteration of a
/// loop, before the rest of them; 1 if the loop stays.
[[nodiscard]] uint32_t iterations_together(uint32_t trips, uint32_t cost);

}  // namespace gpusim::isa::lir
