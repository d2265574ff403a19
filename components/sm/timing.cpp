#include "components/sm/timing.h"

#include <fmt/format.h>

#include <algorithm>

namespace gpusim::comp {

namespace {

/// Marks what the tensor cores of a machine queue (ClassTiming::queued).
void queue_matrices(ClassTimings& timings, uint32_t ahead) {
  using isa::OpClass;
  for (const OpClass c : {OpClass::kWgmmaHalf, OpClass::kWgmmaInt8, OpClass::kWgmmaLoad})
    timings[c].queued = true;
  for (const OpClass c : {OpClass::kWgmmaHalf, OpClass::kWgmmaInt8}) timings[c].ahead = ahead;
}

/// The class as scheduler `scheduler` sees it; `problem` as for build_timing().
ClassTiming class_timing(const core::MachineConfig& machine, const std::string& name, size_t scheduler,
                         const TimingTables& tables, std::string& problem) {
  ClassTiming timing;
  const auto latency = machine.latency.find(name);
  if (latency == machine.latency.end()) {
    problem = fmt::format("[latency] has no '{}'", name);
    return timing;
  }
  timing.latency = static_cast<uint32_t>(latency->second);
  int found = 0;
  size_t shared = 0, own = tables.shared_pipes + scheduler * tables.own_pipes;
  for (const core::MachineConfig::Pipe& pipe : machine.pipes) {
    const size_t id = pipe.per_scheduler ? own++ : shared++;
    const auto interval = pipe.interval.find(name);
    if (interval == pipe.interval.end()) continue;
    timing.pipe[found] = static_cast<uint8_t>(id);
    timing.interval[found] = static_cast<uint32_t>(interval->second);
    if (++found == 2) break;
  }
  if (found == 0) problem = fmt::format("no pipe in [pipes.*] executes '{}'", name);
  if (found == 1) {
    timing.pipe[1] = timing.pipe[0];
    timing.interval[1] = timing.interval[0];
  }
  return timing;
}

}  // namespace

TimingTables build_timing(const core::MachineConfig& machine, std::string& problem) {
  TimingTables tables;
  const auto own =
      static_cast<size_t>(std::ranges::count(machine.pipes, true, &core::MachineConfig::Pipe::per_scheduler));
  tables.own_pipes = static_cast<uint8_t>(own);
  tables.shared_pipes = static_cast<uint8_t>(machine.pipes.size() - own);
  tables.of_scheduler.resize(machine.scheduler.count);
  for (size_t s = 0; s < tables.of_scheduler.size(); ++s) {
    for (size_t c = 0; c < kNumOpClasses; ++c) {
      const std::string name(isa::op_class_name(static_cast<isa::OpClass>(c)));
      tables.of_scheduler[s][c] = class_timing(machine, name, s, tables, problem);
      if (!problem.empty()) return tables;
    }
    if (const uint32_t ahead = machine.shared.tensor_queue; ahead != 0)
      queue_matrices(tables.of_scheduler[s], ahead);
  }
  return tables;
}

}  // namespace gpusim::comp
