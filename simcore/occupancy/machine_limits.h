// The occupancy calculation of isa/ with the limits of a machine configuration, and how shared memory and an
// L1 divide what they have in common. For components/ and analysis/; a library of its own,
// because the rest of simcore does not know isa/.
#pragma once
#include <cstdint>

#include "isa/ptx/occupancy.h"
#include "simcore/config/machine_config.h"

namespace gpusim::core {

/// Bytes of shared memory that the system takes with each block, from 8.0 on (CUDA programming guide,
/// "Compute Capability 8.x": 1 KB). An SM has as many more than shared.size, which is the most that one block
/// can have.
[[nodiscard]] uint32_t reserved_shared_bytes(const MachineConfig& machine);
[[nodiscard]] isa::OccupancyLimits occupancy_limits(const MachineConfig& machine);
/// Bytes that an SM has for shared memory while its blocks need `shared_bytes`: those it takes from the
/// L1, or all of a memory of its own.
[[nodiscard]] uint64_t carved_shared(const MachineConfig& machine, uint64_t shared_bytes);
/// Ways of an L1 set that shared memory leaves if the SM's blocks need `shared_bytes` of it.
[[nodiscard]] uint32_t l1_ways_beside(const MachineConfig& machine, uint64_t shared_bytes);

}  // namespace gpusim::core
