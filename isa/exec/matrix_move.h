// ldmatrix, stmatrix and movmatrix (PTX ISA, "Warp-level matrix load instruction" and its relatives):
// matrices of 8 x 8 elements of 16 bits, of which lane l holds row l / 4, columns 2 (l % 4) and the next.
#pragma once
#include <array>

#include "isa/exec/executor.h"

namespace gpusim::isa {

/// MicroOp::memory: the address of each lane, in shared memory; lanes 8 i to 8 i + 7 have the rows of matrix
/// i, which goes to or comes from register i. Bit 0 of MicroOp::modifiers: rows and columns change places.
void execute_ldmatrix(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access);
void execute_stmatrix(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access);

/// MicroOp::imm of execute_wmma_matrices(): where the 8 x 8 elements of each destination lie in the matrix of
/// a wmma.load, in units of 8: row (of a multiplicand: index outside of k) in the low half, k in the upper
/// half.
struct WmmaMatrices {
  std::array<uint8_t, 4> place{};
  uint8_t across = 0;  ///< neighbours in memory have different rows, not columns
  uint8_t unused[3] = {};
};
static_assert(sizeof(WmmaMatrices) == sizeof(uint64_t));
/// wmma.load of multiplicands of 16 bits from shared memory, as ldmatrix does it: the base and behind it the
/// stride in elements are the same in all lanes.
void execute_wmma_matrices(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access);

/// The rows of all matrices in memory.
using MatrixRows = std::array<std::byte*, kWarpSize>;
/// Gives them to the destinations.
void give_matrices(const MicroOp& op, const WarpContext& ctx, const MatrixRows& rows, bool transposes);
/// The transpose of the matrix in src[0].
void execute_movmatrix(const MicroOp& op, WarpContext& ctx, LaneMask mask);

}  // namespace gpusim::isa
