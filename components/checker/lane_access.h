// The bytes that each lane of a load, store or atomic means, found from its registers before it executes.
#pragma once
#include <array>
#include <cstdint>

#include "isa/exec/executor.h"
#include "simcore/bits.h"

namespace gpusim::comp {

struct LaneAccess {
  std::array<uint64_t, isa::kWarpSize> address;  ///< in `space`; valid for the lanes asked for
  std::array<isa::Space, isa::kWarpSize> space;  ///< never kGeneric
  uint32_t bytes = 0;
  /// Lanes whose place is in the shared memory of another block of the cluster, and which block.
  isa::LaneMask remote;
  std::array<uint8_t, isa::kWarpSize> rank;
};
[[nodiscard]] LaneAccess find_lanes(const isa::MicroOp& op, const isa::WarpContext& context,
                                    isa::LaneMask lanes);

/// Room that stands for the shared memory of a single lane; as large as any access.
struct Scratch {
  alignas(64) std::array<std::byte, 64> bytes{};
};
/// Executes `op` with its function `function` for one lane on `scratch` instead of its address: a load reads
/// what is there, a store leaves there what it would have stored.
void execute_on(Scratch& scratch, const isa::MicroOp& op, isa::MemFn function,
                const isa::WarpContext& context, uint32_t lane);

/// Calls fn(lane) for each lane in the mask.
template <class Fn>
void for_each_lane(isa::LaneMask lanes, Fn fn) {
  for (const uint32_t lane : core::Bits(lanes.bits())) fn(lane);
}

}  // namespace gpusim::comp
