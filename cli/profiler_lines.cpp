#include "cli/profiler_lines.h"

#include <fmt/format.h>

#include "analysis/profile/metrics.h"
#include "analysis/recording/recording.h"

namespace gpusim::cli {

namespace {

/// Joined by commas, in lines of at most `width` characters, the second and later ones after `indent` spaces.
std::string wrapped(const std::vector<std::string>& values, size_t width, size_t indent) {
  std::string text;
  size_t column = indent;
  for (const std::string& value : values) {
    if (!text.empty()) {
      text += ',';
      // With the comma that may follow.
      const bool fits = column + 2 + value.size() + 1 <= width;
      text += fits ? " " : "\n" + std::string(indent, ' ');
      column = fits ? column + 2 : indent;
    }
    text += value;
    column += value.size();
  }
  return text;
}

}  // namespace

std::vector<std::string> profiler_lines(const std::string& file, size_t kernels, size_t width,
                                        size_t indent) {
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
    lines.push_back(wrapped(values, width, indent));
  }
  return lines;
}

}  // namespace gpusim::cli
