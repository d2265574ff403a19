// `gpusim metrics`: profiler metrics of a recorded file.
#include <CLI/CLI.hpp>
#include <memory>
#include <sstream>

#include "analysis/profile/utilization.h"
#include "analysis/report/reports.h"
#include "cli/recorded_kernels.h"
#include "components/simulation/kernel_counters.h"

namespace gpusim::cli {

namespace {

constexpr size_t kAllUnits = 100;

struct MetricsArguments : RecordingArguments {
  std::string metrics;
  bool counters = false;
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> names;
  std::stringstream in(list);
  for (std::string name; std::getline(in, name, ',');) names.push_back(name);
  if (list.ends_with(',')) names.emplace_back();
  return names;
}

int show_metrics(const MetricsArguments& a) {
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
        if (a.json) return analysis::metrics_json(kernel, values);
        // Of all there is to say, how full each unit was is a part.
        return analysis::metrics_text(kernel, values) +
               (names.empty() ? analysis::utilization_text(kernel, machine, kAllUnits) : "");
      });
}

}  // namespace

void add_metrics_command(CLI::App& program, int& code) {
  const auto a = std::make_shared<MetricsArguments>();
  CLI::App* metrics = add_recording_command(program, "metrics", "Profiler metrics of a recorded run", *a);
  metrics->add_option("--metrics", a->metrics, "Names, separated by commas (default: all)");
  metrics->add_flag("--describe", a->describe, "Print the definitions");
  metrics->add_flag("--counters", a->counters, "Print what the counters of a run mean (docs/counters.md)");
  metrics->callback([a, &code] { code = show_metrics(*a); });
}

}  // namespace gpusim::cli
