#include "cli/profiler_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/profile/metrics.h"
#include "analysis/recording/recording.h"

namespace gpusim::cli {

std::vector<std::string> profiler_lines(const std::string& file, size_t kernels) {
  static const std::vector<std::string> names = {
      "gld_efficiency",    "gst_efficiency",       "branch_efficiency",       "warp_execution_efficiency",
      "shared_efficiency", "inst_replay_overhead", "stall_memory_dependency", "stall_exec_dependency"};
  const analysis::Recording recording(file);
  std::vector<std::string> lines;
  lines.reserve(kernels);
  for (size_t i = 0; i < kernels; ++i) {
    std::vector<std::string> values;
    for (const analysis::MetricValue& v :
         analysis::compute_metrics(recording.kernel(i), recording.machine(), names))
      if (v.available())
        values.push_back(
            fmt::format("{} {:.4g}{}", v.metric->name, v.value, v.metric->unit == "%" ? " %" : ""));
    lines.push_back(fmt::format("{}", fmt::join(values, ", ")));
  }
  return lines;
}

}  // namespace gpusim::cli
