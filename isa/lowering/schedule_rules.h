// What an order of operations must keep and may assume: as ptxas 13 has it where nothing else is said.
#pragma once
#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

/// Cycles that the schedule assumes until a load from global memory has its data.
inline constexpr uint32_t kGlobalLatency = 200;

/// From a comparison to what its predicate guards, from compute capability 7.0 on.
[[nodiscard]] uint32_t guard_latency(int capability);

/// Cycles that the schedule assumes between an operation and who needs its result (compute capability 7.5).
[[nodiscard]] uint32_t latency(const Op& op);

/// The same for an operation that reads its result: from compute capability 7.0 on, ptxas 13 leaves more
/// cycles between an operation of fixed latency and what it guards, and a load, store, shuffle or special
/// function that it is an operand of (stall counts in its code for 7.5, 8.0 and 9.0).
[[nodiscard]] uint32_t latency(const Op& op, const Op& reader, int capability);

[[nodiscard]] bool writes(const Op& op, Var var);

/// bar.sync and its reductions and arrivals, and bar.warp.sync.
[[nodiscard]] bool is_barrier(const Op& op);

/// Nothing passes these.
[[nodiscard]] bool is_wall(const Op& op, int capability);

/// ptxas 13 leaves these before or behind a barrier, for 7.5, 8.0 and 9.0: what may see the writes of other
/// threads. Arithmetic and loads of what no thread writes pass it either way. So do shuffles and votes there,
/// but here they stay: --check race takes them for an order of the lanes' accesses. `access`: the memory
/// operation that `op` is or has; nullptr if none.
[[nodiscard]] bool heeds_barriers(const Op& op, const Op* access);

/// No access passes these.
[[nodiscard]] bool is_ordered(const Op& access);

}  // namespace gpusim::isa::lir
