#include "analysis/models/reuse_distance/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace gpusim::analysis {
namespace {

std::string group_name(std::span<const MissBars> launches, const MissBars& own) {
  const auto others = [&](auto same) { return std::ranges::count_if(launches, same) > 1; };
  std::string name = own.rate->kernel;
  if (others([&](const MissBars& m) { return m.file == own.file && m.rate->kernel == own.rate->kernel; }))
    name += fmt::format(" #{}", own.rate->launch);
  if (others([&](const MissBars& m) {
        return m.rate->kernel == own.rate->kernel && m.rate->launch == own.rate->launch;
      }))
    name += fmt::format(" ({})", std::filesystem::path(own.file).stem().string());
  return name;
}

}  // namespace

BarPlot miss_plot(std::span<const MissBars> launches, const std::string& title) {
  BarPlot plot;
  plot.title = title;
  plot.y_label = "misses (% of the lines asked for)";
  for (const MissBars& m : launches) {
    if (plot.parts.empty()) {
      for (const PredictionTerm& kind : m.rate->terms) plot.parts.push_back("predicted: " + kind.name);
      plot.parts.emplace_back("simulated, all kinds");
    }
    Bar predicted, simulated;
    for (const PredictionTerm& kind : m.rate->terms) predicted.parts.push_back(100 * kind.predicted);
    // Parts below zero hang down from it: the height of what stands above is more than the prediction.
    if (std::ranges::any_of(predicted.parts, [](double part) { return part < 0; }))
      predicted.label =
          fmt::format("net {:.1f}", std::accumulate(predicted.parts.begin(), predicted.parts.end(), 0.0));
    simulated.parts.assign(m.rate->terms.size(), 0);
    simulated.parts.push_back(100 * m.rate->simulated);
    plot.groups.push_back({group_name(launches, m), {std::move(predicted), std::move(simulated)}});
  }
  return plot;
}

}  // namespace gpusim::analysis
