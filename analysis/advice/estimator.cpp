#include "analysis/advice/estimator.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gpusim::analysis::advice {
namespace {

/// Sharpness of the p-norm: that of the latency-hidden model.
constexpr double kSharpness = 4;
constexpr int kBisections = 40;

double active(const Work& work, double felt) {
  const double path = work.rounds * work.chain_sum();
  return overlapped(work.fullest().second, felt * path, work.longest > 0 ? path / work.longest : 1);
}

}  // namespace

void Work::scale(std::string_view unit, double factor) {
  if (const auto at = units.find(unit); at != units.end()) at->second *= std::max(0.0, factor);
}

double Work::chain_sum() const { return std::accumulate(chain.begin(), chain.end(), 0.0); }

std::pair<std::string, double> Work::fullest() const {
  std::pair<std::string, double> most;
  for (const auto& [unit, busy] : units)
    if (busy > most.second) most = {unit, busy};
  return most;
}

double overlapped(double first, double second, double rounds) {
  const double most = std::max(first, second), least = std::min(first, second);
  if (most <= 0) return 0;
  const double both = most * std::pow(1 + std::pow(least / most, kSharpness), 1 / kSharpness);
  return std::max(both, most + least / std::max(1.0, rounds));
}

Estimator::Estimator(Work recorded, double cycles) : recorded_(std::move(recorded)) {
  const double wanted = std::max(1.0, cycles - recorded_.start);
  const double all = active(recorded_, 1);
  own_error_ = cycles <= 0 ? 0 : (recorded_.start + all - cycles) / cycles;
  if (all > wanted) {
    // Some of the waits overlap each other: a warp has several loads on their way.
    double least = 0, most = 1;
    for (int i = 0; i < kBisections; ++i)
      (active(recorded_, (least + most) / 2) > wanted ? most : least) = (least + most) / 2;
    felt_ = least;
  }
  const double estimated = active(recorded_, felt_);
  scale_ = estimated > 0 ? wanted / estimated : 1;
}

double Estimator::cycles(const Work& work) const { return work.start + scale_ * active(work, felt_); }

}  // namespace gpusim::analysis::advice
