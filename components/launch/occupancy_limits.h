// What the blocks of a launch take of an SM.
#pragma once
#include "components/launch/kernel_launch.h"
#include "simcore/occupancy/machine_limits.h"

namespace gpusim::comp {

/// What one block of the launch takes of an SM, and what an SM has.
[[nodiscard]] SmShare share_of_block(const core::MachineConfig& machine, const KernelLaunch& run);
[[nodiscard]] SmShare whole_sm(const core::MachineConfig& machine);
/// Blocks per SM of a launch on the machine.
[[nodiscard]] isa::Occupancy occupancy_on(const core::MachineConfig& machine, const KernelLaunch& run);

}  // namespace gpusim::comp
