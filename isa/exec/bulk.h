// cp.async.bulk and cp.reduce.async.bulk (PTX ISA, "Data Movement and Conversion Instructions: Bulk copy").
// Lowering makes a loop of one copy: each step moves the next piece of one lane, as all lanes of a warp would
// move it, so that it is timed as accesses of whole warps. Values move when the step issues; an mbarrier
// counts them when they have come.
#pragma once
#include <cstdint>

#include "isa/exec/executor.h"
#include "isa/ptx/opcodes.h"

namespace gpusim::isa {

/// MicroOp::imm of a step: where from and to (else shared memory, of the cluster's blocks where it goes to),
/// what further sources there are, and, of a reduction, its AtomOp and the Type of its elements.
inline constexpr uint64_t kBulkFromGlobal = 1, kBulkToGlobal = 2, kBulkArrives = 4, kBulkMulticast = 8,
                          kBulkReduces = 16;
inline constexpr int kBulkOperation = 8, kBulkType = 16;

/// src: addresses of destination and source (64 bits; those of shared memory in that space), bytes, bytes
/// that earlier steps have moved; with kBulkArrives the address of the mbarrier (64 bits), and with
/// kBulkMulticast the blocks that get it, a bit each. dst[0]: bytes moved so far; pred_dst[0]: there are
/// more.
void execute_bulk_step(const MicroOp& op, WarpContext& ctx, LaneMask mask, MemoryAccess& access);

}  // namespace gpusim::isa
