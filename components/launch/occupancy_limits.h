// What the blocks of a launch take of an SM.
#pragma once
#include "components/launch/kernel_launch.h"
#include "simcore/occupancy/machine_limits.h"

namespace gpusim::comp {

/// What one block of the launch takes of an SM, and what an SM has.
[[nodiscard]] SmShare share_of_block(const core::MachineConfig& machine, const KernelLaunch& run);
[[nodiscard]] SmShare whole_sm(const core::MachineConfig& machine);
/// What each block's place in the grid and the kernel's parameters take of shared memory, on 1.x. A machine
/// without shared memory has them elsewhere.
[[nodiscard]] uint32_t system_shared_bytes(const core::MachineConfig& machine, const isa::KernelImage& image);
/// Blocks per SM of a launch on the machine.
[[nodiscard]] isa::Occupancy occupancy_on(const core::MachineConfig& machine, const KernelLaunch& run);

}  // namespace gpusim::comp
