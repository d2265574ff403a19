// The run summary's line on what limits a kernel (analysis/profile/limiter.h).
#pragma once
#include <string>

#include "components/simulation/simulation_result.h"

namespace gpusim::cli {

/// The limiter of a kernel that has ended, without places in its code. Empty for a run without timing.
[[nodiscard]] std::string limiter_line(const comp::KernelResult& kernel, const core::MachineConfig& machine);

}  // namespace gpusim::cli
