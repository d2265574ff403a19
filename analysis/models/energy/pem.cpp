#include "analysis/models/energy/pem.h"

#include <cmath>
#include <numbers>

namespace gpusim::analysis::energy {
namespace {

/// Core cycles at the highest clock that are left for computing; its slope in M.
struct Slack {
  double cycles = 0, slope = 0;
};

Slack slack_of(const PrefixSum& sum, const Sensitivity& at, double blocks) {
  const Steps s = sum.steps(blocks), d = sum.slope(blocks);
  return {at.deadline_cycles - (s.memory + s.barriers) * at.access_cycles,
          -(d.memory + d.barriers) * at.access_cycles};
}

/// dE/dM; not a number where E is.
double slope_of_energy(const PrefixSum& sum, const Sensitivity& at, double blocks) {
  const Steps s = sum.steps(blocks), d = sum.slope(blocks);
  const Slack slack = slack_of(sum, at, blocks);
  if (slack.cycles <= 0) return NAN;
  const double c = s.computing, left = slack.cycles;
  const double computing = (3 * c * c * d.computing * left - 2 * c * c * c * slack.slope) / std::pow(left, 3);
  return computing + at.k * d.memory - at.idle * slack.slope;
}

}  // namespace

PemEnergy pem_energy(const Steps& steps, const PemMachine& machine, double seconds) {
  PemEnergy e;
  const double left = seconds * machine.core_hz - (steps.memory + steps.barriers) * machine.access_cycles;
  e.clock = left > 0 ? machine.core_hz * steps.computing / left : NAN;
  const double share = e.clock / machine.core_hz;
  e.computing = machine.cycle_energy * steps.computing * share * share;
  e.memory = machine.access_energy * steps.memory;
  e.idle = machine.idle_power * seconds;
  return e;
}

double tree_steps(double leaves) { return 2 * std::log2(leaves) + 1; }

Steps PrefixSum::steps(double blocks) const {
  const double tree = tree_steps(blocks);
  return {(2 * elements / blocks + tree) * add_cycles, 2 * elements / (transfer * blocks) + tree, tree};
}

Steps PrefixSum::slope(double blocks) const {
  const double tree = 2 / (blocks * std::numbers::ln2), loads = -2 * elements / (blocks * blocks);
  return {(loads + tree) * add_cycles, loads / transfer + tree, tree};
}

double prefix_sum_energy(const PrefixSum& sum, const Sensitivity& at, double blocks) {
  const Steps s = sum.steps(blocks);
  const Slack slack = slack_of(sum, at, blocks);
  // x' above the highest clock: not in time.
  if (slack.cycles <= 0 || s.computing > slack.cycles) return NAN;
  const double share = s.computing / slack.cycles;
  return s.computing * share * share + at.k * s.memory + at.idle * (at.deadline_cycles - slack.cycles);
}

double optimal_blocks(const PrefixSum& sum, const Sensitivity& at, double most) {
  const auto energy = [&](double m) { return prefix_sum_energy(sum, at, m); };
  const auto slope = [&](double m) { return slope_of_energy(sum, at, m); };
  double best = 0;
  const auto take = [&](double m) {
    if (!std::isnan(energy(m)) && (best == 0 || energy(m) < energy(best))) best = m;
  };
  const auto take_best_between = [&](double low, double high) {
    take(low), take(high);
    if (!(slope(low) < 0 && slope(high) > 0)) return;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (slope(middle) < 0 ? low : high) = middle;
    }
    take(low);
  };
  // Intervals of 1 %, each halved down to the root of the slope in it.
  constexpr double kStep = 1.01;
  double low = 1;
  while (low < most) {
    take_best_between(low, std::min(low * kStep, most));
    low *= kStep;
  }
  return best;
}

uint64_t best_of_all_blocks(const PrefixSum& sum, const Sensitivity& at, uint64_t most) {
  uint64_t best = 0;
  double least = INFINITY;
  for (uint64_t m = 1; m <= most; ++m) {
    const double e = prefix_sum_energy(sum, at, static_cast<double>(m));
    if (e < least) least = e, best = m;
  }
  return best;
}

}  // namespace gpusim::analysis::energy
