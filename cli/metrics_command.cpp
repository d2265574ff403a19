// `gpusim metrics`: profiler metrics of a recorded file.
#include <sstream>

#include "analysis/report/reports.h"
#include "cli/recorded_kernels.h"
#include "components/simulation/kernel_counters.h"

namespace gpusim::cli {

namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> names;
  std::stringstream in(list);
  for (std::string name; std::getline(in, name, ',');) names.push_back(name);
  if (list.ends_with(',')) names.emplace_back();
  return names;
}

}  // namespace

int metrics_command(const RecordingArguments& a) {
  const std::vector<std::string> names = split(a.metrics);
  if (a.describe) {
    fmt::print("{}", analysis::describe_metrics(names));
    return kGood;
  }
  if (a.counters) {
    fmt::print("{}", comp::describe_counters());
    return kGood;
  }
  return for_recorded_kernels(
      a, [&](const analysis::KernelRecord& kernel, const core::MachineConfig& machine) {
        const auto values = analysis::compute_metrics(kernel, machine, names);
        return a.json ? analysis::metrics_json(kernel, values) : analysis::metrics_text(kernel, values);
      });
}

}  // namespace gpusim::cli
