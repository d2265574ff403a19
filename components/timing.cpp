#include "components/timing.h"

#include <fmt/format.h>

namespace gpusim::comp {

TimingTables build_timing(const core::MachineConfig& machine, std::string& problem) {
  TimingTables tables;
  if (machine.pipes.size() > kMaxPipes) {
    problem = fmt::format("{} pipes configured, at most {} are modelled", machine.pipes.size(), kMaxPipes);
    return tables;
  }
  for (const auto& pipe : machine.pipes) tables.pipe_names.push_back(pipe.name);
  for (size_t c = 0; c < kNumOpClasses; ++c) {
    const std::string name(isa::op_class_name(static_cast<isa::OpClass>(c)));
    ClassTiming& timing = tables.of_class[c];
    const auto latency = machine.latency.find(name);
    if (latency == machine.latency.end()) {
      problem = fmt::format("[latency] has no '{}'", name);
      return tables;
    }
    timing.latency = static_cast<uint32_t>(latency->second);
    int found = 0;
    for (size_t p = 0; p < machine.pipes.size() && found < 2; ++p) {
      const auto interval = machine.pipes[p].interval.find(name);
      if (interval == machine.pipes[p].interval.end()) continue;
      timing.pipe[found] = static_cast<uint8_t>(p);
      timing.interval[found] = static_cast<uint16_t>(interval->second);
      ++found;
    }
    if (found == 0) {
      problem = fmt::format("no pipe in [pipes.*] executes '{}'", name);
      return tables;
    }
    if (found == 1) {
      timing.pipe[1] = timing.pipe[0];
      timing.interval[1] = timing.interval[0];
    }
  }
  return tables;
}

}  // namespace gpusim::comp
