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
};
/// The `bytes` at `address` of `space`, generic ones resolved, aligned to `align`.
[[nodiscard]] LaneBytes lane_bytes(const WarpContext& context, Space space, uint64_t address, uint64_t bytes,
                                   uint64_t align, bool store, int lane);

/// Sets the fault of `access` to that of `place`.
void set_fault(MemoryAccess& access, const LaneBytes& place, int lane);
/// An access that nothing is known of yet.
void begin_access(MemoryAccess& access, Space space, uint32_t bytes);

}  // namespace gpusim::isa
