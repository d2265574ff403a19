#include "analysis/advice/estimator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

namespace gpusim::analysis::advice {
namespace {

/// Sharpness of the p-norm: that of the latency-hidden model.
constexpr double kSharpness = 4;
constexpr int kBisections = 40;
constexpr std::array<std::string_view, 4> kWays{"lsu_port", "request_", "reply_", "l2_"};
constexpr std::array<std::string_view, 1> kDram{"dram_"};

double fullest_of(const Work& work, std::span<const std::string_view> kinds) {
  double most = 0;
  for (const auto& unit : work.units) {
    const auto is_named = [&](std::string_view kind) { return unit.first.starts_with(kind); };
    if (std::ranges::any_of(kinds, is_named)) most = std::max(most, unit.second);
  }
  return most;
}

double active(const Work& work, double felt) {
  const double path = work.rounds * work.chain_sum();
  return overlapped(work.fullest().second, felt * path, work.longest > 0 ? path / work.longest : 1) +
         work.tail;
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

double Work::fullest_of_ways() const { return fullest_of(*this, kWays); }
double Work::fullest_of_dram() const { return fullest_of(*this, kDram); }

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
  // Some of the waits overlap each other: a warp has several loads on their way. Where the units alone take
  // longer than the kernel did, it is not the waits that are too long: a change may leave little but these.
  if (all > wanted && active(recorded_, 0) <= wanted) {
    double least = 0, most = 1;
    for (int i = 0; i < kBisections; ++i)
      (active(recorded_, (least + most) / 2) > wanted ? most : least) = (least + most) / 2;
    felt_ = least;
  }
  const double estimated = active(recorded_, felt_);
  if (recorded_.fullest_of_ways() + recorded_.fullest_of_dram() > 0)
    queues_ = recorded_.memory_share * std::max(0.0, wanted - estimated);
  scale_ = estimated > 0 ? (wanted - queues_) / estimated : 1;
}

double Estimator::cycles(const Work& work) const {
  const double ways = recorded_.fullest_of_ways(), dram = recorded_.fullest_of_dram();
  // Queues in front of DRAM are as long as it has work, and those in front of the interconnect as that has.
  const double behind_dram = ways <= 0 ? 1 : dram <= 0 ? 0 : recorded_.behind_dram;
  double left = 0;
  if (dram > 0) left += behind_dram * std::min(1.0, work.fullest_of_dram() / dram);
  if (ways > 0) left += (1 - behind_dram) * std::min(1.0, work.fullest_of_ways() / ways);
  // What comes in bursts queues behind itself, however busy a unit is on average: as in a queue with bulk
  // arrivals, the wait grows with the burst as well as with the traffic.
  const double burst = std::min(1.0, work.burst / recorded_.burst);
  return std::max(work.least, work.start + scale_ * active(work, felt_) + queues_ * burst * left);
}

}  // namespace gpusim::analysis::advice
