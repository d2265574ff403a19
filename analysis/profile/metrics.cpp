#include "analysis/profile/metrics.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/report/text.h"
#include "simcore/text/input_error.h"
#include "simcore/text/names.h"

namespace gpusim::analysis {
namespace {

std::vector<std::string_view> all_names() {
  std::vector<std::string_view> names;
  for (const Metric& metric : metric_table())
    if (names.empty() || names.back() != metric.name) names.push_back(metric.name);
  return names;
}

std::vector<std::string_view> chosen_names(std::span<const std::string> names) {
  std::vector<std::string_view> all = all_names();
  if (names.empty()) return all;
  for (const std::string& name : names)
    if (std::ranges::find(all, name) == all.end())
      throw core::InputError(fmt::format("gpusim: error: no metric is called '{}'\n  hint: {}", name,
                                         core::name_hint(name, all)));
  return {names.begin(), names.end()};
}

std::string capability(int times_ten) { return fmt::format("{}.{}", times_ten / 10, times_ten % 10); }

std::string range(const Metric& metric) {
  if (metric.from <= 10 && metric.to >= 99) return "all compute capabilities";
  if (metric.to >= 99) return fmt::format("compute capability {} and later", capability(metric.from));
  return fmt::format("compute capability {} to {}", capability(metric.from), capability(metric.to));
}

MetricValue value_of(std::string_view name, const Quantities& quantities) {
  const auto sm = static_cast<int>(quantities.machine().gpu.compute_capability);
  MetricValue result;
  std::string ranges;
  for (const Metric& metric : metric_table()) {
    if (metric.name != name) continue;
    result.metric = &metric;
    ranges += fmt::format("{}{}", ranges.empty() ? "" : ", ", range(metric));
    if (sm < metric.from || sm > metric.to) continue;
    try {
      result.value = metric.formula(quantities);
    } catch (const Unavailable& e) {
      result.reason = e.what();
    }
    return result;
  }
  result.reason = fmt::format("defined for {}; this machine has {}", ranges, capability(sm));
  return result;
}

}  // namespace

std::vector<MetricValue> compute_metrics(const KernelRecord& kernel, const core::MachineConfig& machine,
                                         std::span<const std::string> names) {
  const Quantities quantities(kernel, machine);
  std::vector<MetricValue> values;
  for (const std::string_view name : chosen_names(names)) values.push_back(value_of(name, quantities));
  return values;
}

std::string describe_metrics(std::span<const std::string> names) {
  std::string out;
  for (const std::string_view name : chosen_names(names)) {
    bool first = true;
    for (const Metric& metric : metric_table()) {
      if (metric.name != name) continue;
      if (first) {
        out += fmt::format("{}{}\n", name, metric.unit == "1" ? "" : fmt::format(" [{}]", metric.unit));
        if (!metric.nsight.empty()) out += fmt::format("    Nsight Compute: {}\n", metric.nsight);
      }
      first = false;
      out += indented(fmt::format("{}: {}", range(metric), metric.definition));
    }
  }
  return out;
}

}  // namespace gpusim::analysis
