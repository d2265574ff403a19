// The occupancy calculation of isa/ with the limits of a machine configuration.
#pragma once
#include "components/kernel_run.h"
#include "isa/occupancy.h"
#include "simcore/config/machine_config.h"

namespace gpusim::comp {

[[nodiscard]] isa::OccupancyLimits occupancy_limits(const core::MachineConfig& machine);
/// Ways of a first-level set that shared memory leaves if the SM's blocks need `shared_bytes` of it.
[[nodiscard]] uint32_t l1_ways_beside(const core::MachineConfig& machine, uint64_t shared_bytes);
/// Blocks per SM of a launch on the machine.
[[nodiscard]] isa::Occupancy occupancy_on(const core::MachineConfig& machine, const KernelRun& run);

}  // namespace gpusim::comp
