// Everything that a run needs besides a machine to run on, and what comes of it; the timed and the functional
// run read it.
#pragma once
#include "components/checker/checker.h"
#include "components/services/host_services.h"
#include "components/simulation/device_contents.h"
#include "components/simulation/run_launches.h"
#include "components/simulation/simulation_options.h"
#include "components/simulation/simulation_result.h"

namespace gpusim::comp {

struct RunPlan {
  const SimulationOptions& options;
  DeviceContents& contents;
  RunLaunches& launches;
  Checker* checker;  ///< of a run with --check, else null
  HostServices& services;
};

/// Executes the launches cycle by cycle on a machine of its own, and records them. Throws core::RecordError.
void run_timed(const RunPlan& plan, SimulationResult& result);
/// Computes the values of the launches, one after the other, and does what the host does between them.
void run_functional(const RunPlan& plan, SimulationResult& result);

}  // namespace gpusim::comp
