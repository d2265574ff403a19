// The result of a kernel that has ended, as far as its own books say.
#pragma once
#include <string>

#include "components/launch/kernel_launch.h"
#include "components/simulation/simulation_result.h"
#include "simcore/config/machine_config.h"

namespace gpusim::comp {

/// Totals of a kernel, which took `seconds` until `end`; 0: of a functional run, without anything timed.
/// `limiter`: what keeps further blocks off an SM.
[[nodiscard]] KernelResult summarise(const KernelLaunch& run, const core::MachineConfig& machine,
                                     const std::string& limiter, double seconds = 0,
                                     core::Cycle end = core::Cycle(0));

}  // namespace gpusim::comp
