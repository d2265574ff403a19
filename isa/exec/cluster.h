// Addresses in the shared memory of a cluster's blocks: mapa and getctarank (PTX ISA, "Data Movement and
// Conversion Instructions"). The windows are in isa/exec/executor.h.
#pragma once
#include "isa/exec/executor.h"

namespace gpusim::isa {

/// MicroOp::imm of both: where the window of rank 0 begins, in the space of the addresses. modifiers: they
/// have 64 bits.
[[nodiscard]] constexpr uint64_t cluster_window(bool shared_space) {
  return kClusterWindowBase - (shared_space ? kSharedWindowBase : 0);
}
/// src[0]: an address in the shared memory of any block, src[1]: a rank; dst[0]: the same place in that
/// block.
void execute_mapa(const MicroOp& op, WarpContext& ctx, LaneMask mask);
/// src[0]: such an address; dst[0]: the rank of its block.
void execute_getctarank(const MicroOp& op, WarpContext& ctx, LaneMask mask);

}  // namespace gpusim::isa
