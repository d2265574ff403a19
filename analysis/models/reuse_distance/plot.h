// Miss rates by kind, predicted beside simulated, as bars.
#pragma once
#include <span>
#include <string>

#include "analysis/models/model.h"
#include "analysis/report/plot.h"

namespace gpusim::analysis {

/// A launch's miss rate, its terms the kinds.
struct MissBars {
  std::string file;  ///< of the recording
  const Prediction* rate;
};

/// A group of two bars for each launch: the predicted rate in its kinds, the simulated one. Groups have the
/// names of kernels, with the launch's number and the file's name where that does not tell them apart.
[[nodiscard]] BarPlot miss_plot(std::span<const MissBars> launches, const std::string& title);

}  // namespace gpusim::analysis
