// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor in tile and im2col mode (PTX ISA, "Tensors"): a box of
// a tensor, or channels of its pixels, to shared memory or from there. As of a bulk copy (isa/exec/bulk.h),
// lowering makes a loop of steps of it, each of which moves the next pieces of one lane's box as all lanes of
// a warp would move them.
#pragma once
#include <cstdint>

#include "isa/exec/executor.h"

namespace gpusim::isa {

/// MicroOp::imm of a step: from the tensor (else to it), in how many blocks of the cluster, the mode, the
/// AtomOp of a reduction or kNone, and the number of coordinates.
inline constexpr uint64_t kTensorLoads = 1, kTensorMulticast = 2, kTensorIm2col = 4;
inline constexpr int kTensorOperation = 8, kTensorRank = 16;

/// src: addresses in shared memory and of the tensor map (64 bits), bytes that earlier steps have moved, the
/// coordinates, and of a load the address of the mbarrier (64 bits) and with kTensorMulticast the blocks that
/// get the box, a bit each. A load in im2col mode has 64 bits last: the blocks, and what is added to the
/// place of each pixel, 16 bits for each of its dimensions. dst[0]: bytes moved so far; pred_dst[0]: there
/// are more.
void execute_tensor_step(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access);

/// MicroOp::imm of tensormap.replace: the dimension, and above it the TensorMap::Field.
inline constexpr int kTensorField = 8;
/// src: base of the address, if there is one, and the value (64 bits).
void execute_tensormap_replace(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access);
/// tensormap.cp_fenceproxy of the whole warp: a map from shared memory to global. src: base of the address
/// in global memory, if there is one, and the address in shared memory (64 bits).
void execute_tensormap_copy(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access);

}  // namespace gpusim::isa
