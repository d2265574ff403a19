#include "analysis/profile/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analysis/report/text.h"
#include "simcore/config/peaks.h"
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

/// Throughputs and what carries them (core::machine_peaks). What threads ask for has no peak: lanes share
/// words.
struct PeakOf {
  std::string_view metric, peak;
};
constexpr PeakOf kPeaks[] = {{"gst_throughput", "interconnect from SMs"},
                             {"l2_read_throughput", "L2"},
                             {"l2_write_throughput", "interconnect from SMs"},
                             {"dram_read_throughput", "DRAM"},
                             {"dram_write_throughput", "DRAM"}};

void add_peak(MetricValue& v, std::string_view name, const KernelRecord& kernel,
              const core::MachineConfig& m) {
  if (name == "ipc" || name == "issued_ipc" || name == "ipc_elapsed") {
    v.peak = static_cast<double>(m.scheduler.count) * m.scheduler.issue_width /
             static_cast<double>(m.scheduler.issue_cycles);
    v.peak_of = "issue slots";
    return;
  }
  const auto* row = std::ranges::find(kPeaks, name, &PeakOf::metric);
  if (row != std::end(kPeaks))
    v.peak_of = row->peak;
  else if (name == "gld_throughput")
    v.peak_of = m.l1.bytes != 0 && m.l1.cache_global ? "L1" : "interconnect to SMs";
  // The machine's own clock is that of its peaks.
  if (v.peak_of == "L1" && !ran_at_own_clock(kernel, m)) v.peak_of.clear();
  for (const core::Peak& p : core::machine_peaks(m))
    if (p.name == v.peak_of) v.peak = p.value;
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
  for (const std::string_view name : chosen_names(names)) {
    values.push_back(value_of(name, quantities));
    if (values.back().available()) add_peak(values.back(), name, kernel, machine);
  }
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
