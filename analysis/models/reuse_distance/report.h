// What the reuse-distance model predicts, as text and JSON.
#pragma once
#include <string>

#include "analysis/models/reuse_distance/model.h"

namespace gpusim::analysis {

[[nodiscard]] std::string reuse_text(const ReusePrediction& prediction, const WarpTraceHeader& trace,
                                     const core::MachineConfig& machine);
/// One object and a new line.
[[nodiscard]] std::string reuse_json(const ReusePrediction& prediction, const core::MachineConfig& machine);

}  // namespace gpusim::analysis
