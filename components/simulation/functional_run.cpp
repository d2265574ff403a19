#include <optional>

#include "components/dram/device_memory_adapter.h"
#include "components/functional/functional_runner.h"
#include "components/simulation/kernel_summary.h"
#include "components/simulation/run_plan.h"

namespace gpusim::comp {

void run_functional(const RunPlan& plan, SimulationResult& result) {
  const SimulationOptions& options = plan.options;
  const DeviceMemoryAdapter memory(plan.contents.memory(), plan.contents.textures(), &plan.services);
  FunctionalRunner runner(
      memory, options.max_cycles, options.machine.gpu.compute_capability >= 70,
      [&options] { return interrupted(options); }, plan.checker);
  std::optional<WarpTracer> tracer;
  if (options.trace) runner.set_tracer(&tracer.emplace(options.machine, options.trace));
  for (const RunItem& item : plan.order) {
    const auto* at = std::get_if<LaunchItem>(&item);
    if (at == nullptr) continue;  // a copy: buffers are where they are; only time would pass
    const PreparedLaunch& launch = plan.launches[at->launch];
    const FunctionalRunner::Outcome outcome = runner.run(*launch.run);
    plan.services.flush();
    KernelResult k = summarise(*launch.run, options.machine, launch.occupancy_limiter);
    k.stream = launch.spec->stream;
    result.kernels.push_back(std::move(k));
    if (plan.checker != nullptr) plan.checker->end_launch(*launch.run);
    if (interrupted(options)) {
      result.status = SimulationResult::Status::kInterrupted;
      result.reason = "interrupted";
      return;
    }
    const bool deadlock = outcome == FunctionalRunner::Outcome::kDeadlock;
    if (deadlock && plan.checker != nullptr) plan.checker->report_stuck_barriers();
    if (deadlock || outcome == FunctionalRunner::Outcome::kError) {
      result.status = SimulationResult::Status::kFailed;
      result.reason = runner.error();
      result.fault = runner.fault();
      return;
    }
  }
}

}  // namespace gpusim::comp
