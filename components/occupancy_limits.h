// The occupancy calculation of isa/ with the limits of a machine configuration.
#pragma once
#include "components/kernel_run.h"
#include "isa/occupancy.h"
#include "simcore/config/machine_config.h"

namespace gpusim::comp {

[[nodiscard]] isa::OccupancyLimits occupancy_limits(const core::MachineConfig& machine);
/// What one block of the launch takes of an SM, and what an SM has.
[[nodiscard]] SmShare share_of_block(const core::MachineConfig& machine, const KernelRun& run);
[[nodiscard]] SmShare whole_sm(const core::MachineConfig& machine);
/// Bytes that an SM has for shared memory while its blocks need `shared_bytes`: those it takes from the
/// first-level cache, or all of a memory of its own.
[[nodiscard]] uint64_t carved_shared(const core::MachineConfig& machine, uint64_t shared_bytes);
/// Ways of a first-level set that shared memory leaves if the SM's blocks need `shared_bytes` of it.
[[nodiscard]] uint32_t l1_ways_beside(const core::MachineConfig& machine, uint64_t shared_bytes);
/// Blocks per SM of a launch on the machine.
[[nodiscard]] isa::Occupancy occupancy_on(const core::MachineConfig& machine, const KernelRun& run);

}  // namespace gpusim::comp
