#include "study/predict_time.h"

#include <fmt/format.h>

#include <vector>

#include "analysis/models/reuse_distance/model.h"
#include "components/simulation/simulation.h"
#include "study/warp_steps.h"

namespace gpusim::study {

double predicted_seconds(PreparedPoint point) {
  core::MachineConfig machine = point.options.machine;
  if (point.options.sms != 0) machine.gpu.sms = point.options.sms;
  point.options.functional = true;
  point.options.caches = comp::CacheState::kCold;
  point.options.max_cycles = kMostPredicted;
  point.options.launch.expects.clear();

  std::vector<analysis::WarpTrace> traces;
  std::vector<WarpSteps> steps;
  size_t bytes = 0;
  point.options.trace = [&](const comp::TracedStep& t) {
    // How many launches there are may be decided by the run.
    while (traces.size() <= t.launch) {
      steps.emplace_back(t.run->warps_per_block);
      traces.emplace_back(trace_header(*t.run, machine.gpu.name));
    }
    if (bytes > kMostTraceBytes || !steps[t.launch].take(t)) return;
    for (const analysis::WarpEncoder& w : steps[t.launch].warps()) bytes += w.bytes().size();
    traces[t.launch].append_block(steps[t.launch].warps());
    steps[t.launch].clear();
  };
  comp::Simulation simulation(std::move(point.options));
  const comp::SimulationResult result = simulation.run();
  if (result.status != comp::SimulationResult::Status::kComplete)
    throw core::InputError(result.reason.empty() ? "interrupted" : result.reason);
  if (bytes > kMostTraceBytes)
    throw core::InputError(fmt::format("its trace is longer than {} MiB", kMostTraceBytes >> 20));

  analysis::ReuseOptions options;
  options.only_sm = analysis::ReuseOptions::kOneOfEachKind;
  double cycles = 0;
  for (const analysis::WarpTrace& trace : traces)
    cycles += analysis::run_reuse(machine, trace, options).cycles;
  return cycles / (1000.0 * static_cast<double>(machine.clocks.core_khz));
}

}  // namespace gpusim::study
