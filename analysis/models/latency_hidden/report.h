// `gpusim analyze RUN.h5 --model latency-hidden`: the latency-hidden factor model
// (docs/models/latency_hidden.md).
#pragma once
#include "analysis/models/model.h"

namespace gpusim::analysis::latency_hidden {

/// Options: `variant` (extended, paper), `aggregate` of the paper's variant (last, sum, mean), `parameters`
/// (a data sheet; default: the built-in one of the machine), `plot` (an SVG of predicted and simulated
/// rates), `x` (the parameter of the runs that it is drawn over; default: number of the launch).
[[nodiscard]] ModelReport run_model(std::span<const Recording> recordings, const ModelOptions& options);

}  // namespace gpusim::analysis::latency_hidden
