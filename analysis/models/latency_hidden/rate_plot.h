// Predicted and simulated rates of kernels, as a plot over a parameter of their runs or over the launches.
#pragma once
#include <span>
#include <string>

#include "analysis/report/plot.h"

namespace gpusim::analysis::latency_hidden {

/// A kernel of one run, all its launches together, or one launch.
struct RatePoint {
  std::string kernel;
  double x = 0;
  double flops = 0;
  double simulated = 0, predicted = 0;  ///< seconds
};

/// GFLOP/s, or microseconds if a point has no floating-point operations. `x_label` names the parameter.
[[nodiscard]] Plot rate_plot(std::span<const RatePoint> points, const std::string& x_label,
                             const std::string& title);

}  // namespace gpusim::analysis::latency_hidden
