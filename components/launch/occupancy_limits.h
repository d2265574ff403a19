// What the blocks of a launch take of an SM.
#pragma once
#include <vector>

#include "components/launch/kernel_launch.h"
#include "simcore/occupancy/machine_limits.h"

namespace gpusim::comp {

/// What one block of the launch takes of an SM, and what an SM has.
[[nodiscard]] SmShare share_of_block(const core::MachineConfig& machine, const KernelLaunch& run);
[[nodiscard]] SmShare whole_sm(const core::MachineConfig& machine);
/// What each block's place in the grid and the kernel's parameters take of shared memory, on 1.x. A machine
/// without shared memory has them elsewhere.
[[nodiscard]] uint32_t system_shared_bytes(const core::MachineConfig& machine, const isa::KernelImage& image);
/// SM numbers that a run with the first `sms` SMs uses (spread over the machine if gpu.sms_spread).
[[nodiscard]] std::vector<uint32_t> used_sms(const core::MachineConfig& machine, uint32_t sms);
/// The part of the chip that holds the SM, of a machine with thread block clusters.
[[nodiscard]] uint32_t gpc_of(const core::MachineConfig& machine, uint32_t sm);
/// Clusters of `blocks` blocks that run at a time on the first `sms` SMs, `blocks_per_sm` on each.
[[nodiscard]] uint64_t clusters_together(const core::MachineConfig& machine, uint32_t sms,
                                         uint32_t blocks_per_sm, uint32_t blocks);
/// Blocks per SM of a launch on the machine.
[[nodiscard]] isa::Occupancy occupancy_on(const core::MachineConfig& machine, const KernelLaunch& run);

}  // namespace gpusim::comp
