// What wgmma reads of shared memory (PTX ISA, "Shared Memory Matrix Layout" and "Matrix Descriptor Format" of
// wgmma): matrices of 8 lines (rows of A, columns of B) x 16 bytes, to one register each, as ldmatrix does.
#pragma once
#include <cstdint>

#include "isa/exec/executor.h"

namespace gpusim::isa {

/// MicroOp::imm of a kFence that is wgmma.commit_group; those of isa/exec/async.h have other bits.
inline constexpr uint64_t kCommitsMatrices = uint64_t{1} << 35;
/// Of a kBarrier with kBarrierAfterMatrices: from this bit on, the groups that may still be under way.
inline constexpr int kMatrixGroupsShift = 9;

/// MicroOp::imm. Two registers are lines 0 to 7 with the first 16 bytes of k, and with the second.
struct WgmmaTile {
  uint8_t block = 0;  ///< the first 8 lines of B
  bool of_a = false;  ///< the 16 lines that are this warp's: two registers, then two of the second half of k
  bool transposed = false;  ///< of 16 bits: neighbours in memory are neighbours across lines
  bool wide = false;        ///< of 8 lines of B all 64 bytes of k, by which a sparse A is multiplied
  uint8_t unused[4] = {};
};
static_assert(sizeof(WgmmaTile) == sizeof(uint64_t));

/// src[0]: the descriptor; as many matrices as there are destinations.
void execute_wgmma_load(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access);

/// Those of the rows of `op`, a load of wgmma, that the warp fetches where a matrix that all four warps
/// multiply by is fetched once: each fetches one of B's matrices, and its own of A.
[[nodiscard]] LaneMask wgmma_share(const MicroOp& op, const WarpContext& ctx);

}  // namespace gpusim::isa
