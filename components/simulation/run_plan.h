// Everything that a run needs besides a machine to run on, and what comes of it; the timed and the functional
// run read it.
#pragma once
#include <variant>
#include <vector>

#include "components/checker/checker.h"
#include "components/services/host_services.h"
#include "components/simulation/device_contents.h"
#include "components/simulation/prepared_launch.h"
#include "components/simulation/simulation_options.h"
#include "components/simulation/simulation_result.h"

namespace gpusim::comp {

struct LaunchItem {
  size_t launch;  ///< index into RunPlan::launches
};
struct CopyItem {
  size_t copy;  ///< index into the launch file's copies
};
using RunItem = std::variant<LaunchItem, CopyItem>;

struct RunPlan {
  const SimulationOptions& options;
  const DeviceContents& contents;
  const std::vector<PreparedLaunch>& launches;
  const std::vector<PreparedLaunch>& warm_up;  ///< of caches that are warm, before the launches; not counted
  std::vector<RunItem> order;                  ///< launches and copies as they stand in the launch file
  Checker* checker;                            ///< of a run with --check, else null
  HostServices& services;
};

/// Executes the launches cycle by cycle on a machine of its own, and records them. Throws core::RecordError.
void run_timed(const RunPlan& plan, SimulationResult& result);
/// Computes the values of the launches, one after the other.
void run_functional(const RunPlan& plan, SimulationResult& result);

}  // namespace gpusim::comp
