#include <optional>

#include "components/dram/device_memory_adapter.h"
#include "components/functional/functional_runner.h"
#include "components/simulation/kernel_summary.h"
#include "components/simulation/run_plan.h"
#include "components/simulation/run_steps.h"

namespace gpusim::comp {

namespace {

class FunctionalRun {
 public:
  FunctionalRun(const RunPlan& plan, SimulationResult& result)
      : plan_(plan),
        options_(plan.options),
        result_(result),
        memory_(plan.contents.memory(), plan.contents.textures(), &plan.services),
        runner_(
            memory_, options_.max_cycles, options_.machine.gpu.compute_capability >= 70,
            [this] { return interrupted(options_); }, plan.checker),
        steps_(options_, plan.contents, plan.checker) {
    if (options_.trace) runner_.set_tracer(&tracer_.emplace(options_.machine, options_.trace));
  }

  void run() {
    try {
      for (core::StepWalker& at = steps_.walker(); !at.done(); at.advance())
        if (!carry_out(at)) return;
    } catch (const core::InputError& error) {
      if (in_launch_) throw;  // of who looks on, such as a trace that cannot be written
      result_.status = SimulationResult::Status::kFailed;
      result_.reason = reason_of(error);
    }
  }

 private:
  /// False: the run is over.
  bool carry_out(const core::StepWalker& at) {
    if (at.kind() == core::StepWalker::Kind::kLaunch) return launch(at.launch());
    if (at.kind() == core::StepWalker::Kind::kCopy || at.kind() == core::StepWalker::Kind::kMemset)
      if (const RunSteps::Transfer t = steps_.transfer(); t.move) t.move();
    return !stopped();
  }

  bool launch(const core::LaunchSpec& spec) {
    plan_.launches.forget_ended();
    for (uint32_t i = 0; i < spec.repeat; ++i)
      if (!launch_once(plan_.launches.take(spec, false))) return false;
    return true;
  }

  bool launch_once(PreparedLaunch& launch) {
    in_launch_ = true;
    const FunctionalRunner::Outcome outcome = runner_.run(*launch.run);
    in_launch_ = false;
    plan_.services.flush();
    KernelResult k = summarise(*launch.run, options_.machine, launch.occupancy_limiter);
    k.stream = launch.spec->stream;
    result_.kernels.push_back(std::move(k));
    if (plan_.checker != nullptr) plan_.checker->end_launch(*launch.run);
    plan_.launches.ended(*launch.run);
    if (stopped()) return false;
    const bool deadlock = outcome == FunctionalRunner::Outcome::kDeadlock;
    if (deadlock && plan_.checker != nullptr) plan_.checker->report_stuck_barriers();
    if (!deadlock && outcome != FunctionalRunner::Outcome::kError) return true;
    result_.status = SimulationResult::Status::kFailed;
    result_.reason = runner_.error();
    result_.fault = runner_.fault();
    return false;
  }

  [[nodiscard]] bool stopped() {
    if (!interrupted(options_)) return false;
    result_.status = SimulationResult::Status::kInterrupted;
    result_.reason = "interrupted";
    return true;
  }

  const RunPlan& plan_;
  const SimulationOptions& options_;
  SimulationResult& result_;
  const DeviceMemoryAdapter memory_;
  FunctionalRunner runner_;
  std::optional<WarpTracer> tracer_;
  RunSteps steps_;
  bool in_launch_ = false;
};

}  // namespace

void run_functional(const RunPlan& plan, SimulationResult& result) { FunctionalRun(plan, result).run(); }

}  // namespace gpusim::comp
