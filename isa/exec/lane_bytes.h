// Where the bytes of one lane's access lie on the host: for the operations of rare use, which take their time
// lane by lane (asynchronous copies, mbarrier, ldmatrix). The common ones: isa/exec/semantics/access.h.
#pragma once
#include <cstddef>
#include <cstdint>

#include "isa/exec/executor.h"

namespace gpusim::isa {

/// The lane's address by the base and offset of MicroOp::memory.
[[nodiscard]] uint64_t lane_address(const MicroOp& op, const WarpContext& context, int lane);

/// A place in one state space.
struct LaneBytes {
  std::byte* data = nullptr;  ///< nullptr: `fault` says why
  Space space = Space::kNone;
  uint64_t address = 0;  ///< in `space`
  FaultKind fault = FaultKind::kNone;
  uint32_t rank = 0;  ///< of the block whose shared memory it is
};
/// The `bytes` at `address` of `space`, generic ones resolved, aligned to `align`. In the shared memory of
/// other blocks of the cluster only if `cluster` says so.
[[nodiscard]] LaneBytes lane_bytes(const WarpContext& context, Space space, uint64_t address, uint64_t bytes,
                                   uint64_t align, bool store, int lane, bool cluster = false);
/// Shared memory of the cluster's block of that rank; nullptr if it does not run.
[[nodiscard]] std::byte* shared_of(const WarpContext& context, uint32_t rank);

/// The same place in the shared memory of the block `rank`, which does not run.
[[nodiscard]] LaneBytes without_block(LaneBytes place, uint32_t rank);

/// Sets the fault of `access` to that of `place`.
void set_fault(MemoryAccess& access, const LaneBytes& place, int lane);
/// An access that nothing is known of yet.
void begin_access(MemoryAccess& access, Space space, uint32_t bytes);

}  // namespace gpusim::isa
