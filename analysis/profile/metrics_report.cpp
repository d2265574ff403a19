#include <fmt/format.h>

#include <algorithm>

#include "analysis/profile/utilization.h"
#include "analysis/report/reports.h"
#include "analysis/report/text.h"
#include "simcore/text/json_text.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::analysis {

std::string kernel_title(const KernelRecord& kernel) {
  return fmt::format(
      "kernel {} {}  grid {}  block {}{}\n", kernel.index, printable(core::demangled(kernel.name)),
      printable(kernel.grid), printable(kernel.block),
      kernel.finished ? "" : fmt::format("  (did not end: its first {} cycles)", kernel.cycles));
}

/// Rates in the unit in which people think of them; --json has them in bytes/s.
static std::string value_text(const MetricValue& v) {
  if (v.metric->unit == "1") return fmt::format("{:>14}", number_text(v.value));
  if (v.metric->unit == "bytes/s") return fmt::format("{:>14} GB/s", fmt::format("{:.4g}", v.value / 1e9));
  return fmt::format("{:>14} {}", number_text(v.value), v.metric->unit);
}

/// "   2.3 % of 898 GB/s (DRAM)": of what the machine can do at most.
static std::string peak_text(const MetricValue& v) {
  if (v.peak <= 0) return {};
  const bool bytes = v.metric->unit == "bytes/s";
  return fmt::format("{:>8.1f} % of {:.4g}{} ({})", 100 * v.value / v.peak, bytes ? v.peak / 1e9 : v.peak,
                     bytes ? " GB/s" : "", v.peak_of);
}

std::string metrics_text(const KernelRecord& kernel, std::span<const MetricValue> values) {
  size_t width = 0;
  for (const MetricValue& v : values) width = std::max(width, v.metric->name.size());
  std::string out = kernel_title(kernel);
  for (const MetricValue& v : values)
    if (v.available())
      out += fmt::format("  {:<{}}  {}{}\n", v.metric->name, width, value_text(v), peak_text(v));
  if (std::ranges::all_of(values, &MetricValue::available)) return out;
  out += "  no value:\n";
  for (const MetricValue& v : values)
    if (!v.available()) out += fmt::format("  {:<{}}  {}\n", v.metric->name, width, v.reason);
  return out;
}

std::string metrics_json(const KernelRecord& kernel, std::span<const MetricValue> values) {
  std::string metrics, unavailable;
  for (const MetricValue& v : values) {
    std::string& list = v.available() ? metrics : unavailable;
    if (!list.empty()) list += ", ";
    if (v.available())
      list += fmt::format("\"{}\": {{\"value\": {}, \"unit\": \"{}\", \"nsight\": {}{}}}", v.metric->name,
                          core::json_number(v.value), v.metric->unit,
                          v.metric->nsight.empty() ? "null" : fmt::format("\"{}\"", v.metric->nsight),
                          v.peak <= 0 ? ""
                                      : fmt::format(", \"peak\": {}, \"of_peak\": {}, \"peak_of\": \"{}\"",
                                                    core::json_number(v.peak),
                                                    core::json_number(v.value / v.peak), v.peak_of));
    else
      list += fmt::format("\"{}\": \"{}\"", v.metric->name, core::json_escaped(v.reason));
  }
  return fmt::format(
      "{{\"kernel\": {}, \"name\": \"{}\", \"demangled\": {}, \"finished\": {}, \"grid\": \"{}\", "
      "\"block\": \"{}\", \"metrics\": {{{}}}, \"unavailable\": {{{}}}, \"units\": [{}]}}",
      kernel.index, core::json_escaped(kernel.name), core::json_quoted(core::demangled(kernel.name)),
      kernel.finished, core::json_escaped(kernel.grid), core::json_escaped(kernel.block), metrics,
      unavailable, utilization_json(kernel));
}

}  // namespace gpusim::analysis
