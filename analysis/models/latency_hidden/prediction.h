// The latency-hidden factor of kernels that nobody has timed, as text and JSON: `gpusim predict`.
#pragma once
#include <string>

#include "analysis/models/latency_hidden/data_sheet.h"
#include "analysis/models/latency_hidden/functional.h"

namespace gpusim::analysis::latency_hidden {

/// A machine with its data sheet, and the SMs that kernels run on.
struct PredictedMachine {
  core::MachineConfig config;
  DataSheet sheet;
  std::string note;  ///< how the machine differs from the sheet's; empty if it does not
  uint64_t sms = 0;
};
/// `sheet`: a file; empty: the built-in one of the machine. `sms`: 0: all.
[[nodiscard]] PredictedMachine predicted_machine(const core::MachineConfig& config, const std::string& sheet,
                                                 uint64_t sms);

/// What `gpusim predict` says of one kernel.
struct PredictedKernel {
  std::string text, json;
  double cycles = 0;
};
[[nodiscard]] PredictedKernel predict_kernel(const PredictedMachine& machine, const FunctionalKernel& kernel);

}  // namespace gpusim::analysis::latency_hidden
