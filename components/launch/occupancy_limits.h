// What the blocks of a launch take of an SM.
#pragma once
#include <span>
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
/// The SM numbers in the order in which parts of the machine are given away: those of a part of the chip one
/// after another, in whole eights, and then what is left of them.
[[nodiscard]] std::vector<uint32_t> sms_in_parts(const core::MachineConfig& machine);
/// Clusters of `blocks` blocks that run at a time on these SMs, or on the first `sms`, `blocks_per_sm` on
/// each.
[[nodiscard]] uint64_t clusters_together(const core::MachineConfig& machine, uint32_t sms,
                                         uint32_t blocks_per_sm, uint32_t blocks);
[[nodiscard]] uint64_t clusters_together(const core::MachineConfig& machine, std::span<const uint32_t> sms,
                                         uint32_t blocks_per_sm, uint32_t blocks);
/// Blocks per SM of a launch on the machine.
[[nodiscard]] isa::Occupancy occupancy_on(const core::MachineConfig& machine, const KernelLaunch& run);

}  // namespace gpusim::comp
