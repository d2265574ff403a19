#include "simcore/config/voltage_curve.h"

#include <algorithm>
#include <cmath>

#include "simcore/text/units.h"

namespace gpusim::core {

namespace {

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

std::optional<std::vector<VoltagePoint>> parse_voltage_points(std::string_view text) {
  std::vector<VoltagePoint> points;
  for (bool more = true; more;) {
    const size_t comma = text.find(',');
    const std::string_view item = trimmed(text.substr(0, comma));
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
    const size_t blank = item.find(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    const auto khz = parse_khz(item.substr(0, blank));
    const auto volts = parse_volts(trimmed(item.substr(blank)));
    if (!khz || !volts) return std::nullopt;
    points.push_back({*khz, *volts});
  }
  return points;
}

VoltageCurve::VoltageCurve(const MachineConfig::VoltageCurve& config, int64_t clock_khz)
    : max_khz_(config.max_khz == 0 ? clock_khz : config.max_khz),
      max_volts_(config.voltage),
      threshold_(config.threshold),
      exponent_(config.exponent),
      floor_(config.floor) {
  if (config.points.empty()) return;
  points_ = parse_voltage_points(config.points).value_or(std::vector<VoltagePoint>{});
  max_khz_ = points_.back().khz;
  max_volts_ = points_.back().volts;
}

double VoltageCurve::at(int64_t khz) const {
  if (khz >= max_khz_) return max_volts_;
  if (points_.empty())
    return std::max(floor_, from_formula(static_cast<double>(khz) / static_cast<double>(max_khz_)));
  const auto above = std::ranges::upper_bound(points_, khz, {}, &VoltagePoint::khz);
  if (above == points_.begin()) return points_.front().volts;
  const VoltagePoint& low = *(above - 1);
  const double share = static_cast<double>(khz - low.khz) / static_cast<double>(above->khz - low.khz);
  return low.volts + share * (above->volts - low.volts);
}

double VoltageCurve::from_formula(double share) const {
  const auto speed = [this](double v) { return std::pow(v - threshold_, exponent_) / v; };
  const double wanted = share * speed(max_volts_);
  // speed() grows with V above Vt; 100 halvings leave no bit of the interval.
  double low = threshold_, high = max_volts_;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (speed(middle) < wanted ? low : high) = middle;
  }
  return high;
}

std::vector<int64_t> governor_clocks(const MachineConfig& machine) {
  const VoltageCurve curve(machine.dvfs.core, machine.clocks.core_khz);
  const int64_t lowest = machine.dvfs.lowest_khz == 0 ? curve.max_khz() / 2 : machine.dvfs.lowest_khz;
  std::vector<int64_t> clocks;
  for (const VoltagePoint& p : curve.points())
    if (p.khz >= lowest) clocks.push_back(p.khz);
  if (!clocks.empty()) return clocks;
  if (lowest >= curve.max_khz()) return {curve.max_khz()};
  for (int64_t i = 0; i < machine.dvfs.steps; ++i)
    clocks.push_back(lowest + (curve.max_khz() - lowest) * i / (machine.dvfs.steps - 1));
  return clocks;
}

}  // namespace gpusim::core
