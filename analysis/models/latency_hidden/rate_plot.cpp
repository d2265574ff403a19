#include "analysis/models/latency_hidden/rate_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace gpusim::analysis::latency_hidden {
namespace {

constexpr size_t kMostTicks = 12;
constexpr double kWide = 8;  ///< from such a ratio on an axis is logarithmic

bool is_wide(const std::set<double>& values) {
  return !values.empty() && *values.begin() > 0 && *values.rbegin() >= kWide * *values.begin();
}

}  // namespace

Plot rate_plot(std::span<const RatePoint> points, const std::string& x_label, const std::string& title) {
  const bool rates = std::ranges::all_of(points, [](const RatePoint& p) { return p.flops > 0; });
  const auto value = [rates](const RatePoint& p, double seconds) {
    return rates ? p.flops / seconds * 1e-9 : seconds * 1e6;
  };
  Plot plot;
  plot.title = title;
  plot.x_label = x_label;
  plot.y_label = rates ? "GFLOP/s" : "time (us)";
  std::set<double> xs, times;
  std::vector<std::string> kernels;
  for (const RatePoint& p : points) {
    xs.insert(p.x);
    times.insert({p.simulated, p.predicted});
    if (std::ranges::find(kernels, p.kernel) == kernels.end()) kernels.push_back(p.kernel);
  }
  plot.log_x = is_wide(xs);
  plot.log_y = !rates && is_wide(times);
  plot.y_from_zero = !plot.log_y;
  if (xs.size() <= kMostTicks) plot.x_ticks.assign(xs.begin(), xs.end());
  for (size_t k = 0; k < kernels.size(); ++k) {
    Series simulated, predicted;
    simulated.title = kernels[k] + ", simulated";
    predicted.title = kernels[k] + ", predicted";
    simulated.look = predicted.look = static_cast<int>(k);
    predicted.dashed = true;
    for (const RatePoint& p : points) {
      if (p.kernel != kernels[k]) continue;
      simulated.points.emplace_back(p.x, value(p, p.simulated));
      predicted.points.emplace_back(p.x, value(p, p.predicted));
    }
    std::ranges::sort(simulated.points);
    std::ranges::sort(predicted.points);
    plot.series.push_back(std::move(simulated));
    plot.series.push_back(std::move(predicted));
  }
  return plot;
}

}  // namespace gpusim::analysis::latency_hidden
