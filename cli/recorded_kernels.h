// What the commands on recorded files share: choosing kernels, and printing one report for each.
#pragma once
#include <functional>
#include <string>

#include "analysis/recording/recording.h"
#include "cli/commands.h"

namespace gpusim::cli {

/// Prints `report` of each kernel that the arguments choose; with --json they are the objects of one list.
int for_recorded_kernels(
    const RecordingArguments& arguments,
    const std::function<std::string(const analysis::KernelRecord&, const core::MachineConfig&)>& report);

}  // namespace gpusim::cli
