// What the commands on recorded files share: choosing kernels, and printing one report for each.
#pragma once
#include <functional>
#include <string>

#include "analysis/recording/recording.h"
#include "cli/commands.h"

namespace gpusim::cli {

/// What these commands have in common.
struct RecordingArguments {
  std::string file, kernel;
  bool json = false, describe = false;
  bool all = false;  ///< every launch, in their order
};

/// The command `name`, with the options that all of them have.
CLI::App* add_recording_command(CLI::App& program, const std::string& name, const std::string& description,
                                RecordingArguments& arguments);

/// Prints `report` of each kernel that the arguments choose; with --json they are the objects of one list.
/// Otherwise launches with the same kernel, grid and block are one group, of which the longest is reported;
/// groups come by their time, the first ten of them.
int for_recorded_kernels(
    const RecordingArguments& arguments,
    const std::function<std::string(const analysis::KernelRecord&, const core::MachineConfig&)>& report);

}  // namespace gpusim::cli
