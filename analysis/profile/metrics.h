// Profiler metrics as data: one row per metric and definition, with nvprof's name, the compute capabilities
// for which that definition holds, and a formula over recorded counts. Where definitions differ between
// generations a metric has several rows. A new metric, or generation, is a new row in metric_table.cpp.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/profile/quantities.h"

namespace gpusim::analysis {

struct Metric {
  std::string_view name;    ///< nvprof's
  std::string_view nsight;  ///< Nsight Compute's name of the quantity; empty: none
  std::string_view unit;    ///< "1": a plain number
  int from, to;             ///< compute capability x 10, both included
  std::string_view definition;
  double (*formula)(const Quantities&);
};

[[nodiscard]] std::span<const Metric> metric_table();

struct MetricValue {
  const Metric* metric = nullptr;  ///< the definition that holds for the machine, else any of that name
  double value = 0;
  std::string reason;   ///< why there is no value; empty if there is
  double peak = 0;      ///< what the machine can do at most, in the metric's unit; 0: the metric has none
  std::string peak_of;  ///< what does that: "DRAM", "L2", ...
  [[nodiscard]] bool available() const { return reason.empty(); }
};

/// Values of the named metrics (empty: all), in table order or as asked. Throws core::InputError for a name
/// that is not in the table.
[[nodiscard]] std::vector<MetricValue> compute_metrics(const KernelRecord& kernel,
                                                       const core::MachineConfig& machine,
                                                       std::span<const std::string> names = {});
/// Definitions of the named metrics (empty: all), as `gpusim metrics --describe` prints them.
[[nodiscard]] std::string describe_metrics(std::span<const std::string> names = {});

}  // namespace gpusim::analysis
