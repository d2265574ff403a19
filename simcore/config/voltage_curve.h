// Voltage that a clock domain needs for a frequency: a table with straight lines between its points, or
// f ~ (V - Vt)^g / V (alpha-power law of MOS transistors; g between 1 and 2), scaled so that the highest
// clock needs the highest voltage. Outside the curve the voltage stays at its end: never above the highest,
// never below the floor or the first point. Static power goes with V, dynamic energy with V^2.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simcore/config/machine_config.h"

namespace gpusim::core {

struct VoltagePoint {
  int64_t khz = 0;
  double volts = 0;
  friend bool operator==(const VoltagePoint&, const VoltagePoint&) = default;
};
/// "600MHz 0.9V, 1296MHz 1.1V" -> two points, at least one; nothing if it reads otherwise.
[[nodiscard]] std::optional<std::vector<VoltagePoint>> parse_voltage_points(std::string_view text);

class VoltageCurve {
 public:
  /// Of a validated configuration; `clock_khz`: the domain's clock in [clocks], the highest one if the
  /// curve names none.
  VoltageCurve(const MachineConfig::VoltageCurve& config, int64_t clock_khz);

  /// V at a clock > 0.
  [[nodiscard]] double at(int64_t khz) const;
  [[nodiscard]] int64_t max_khz() const { return max_khz_; }
  [[nodiscard]] double max_volts() const { return max_volts_; }
  [[nodiscard]] const std::vector<VoltagePoint>& points() const { return points_; }

 private:
  [[nodiscard]] double from_formula(double share) const;

  std::vector<VoltagePoint> points_;  ///< empty: the formula
  int64_t max_khz_;
  double max_volts_, threshold_, exponent_, floor_;
};

/// Clocks that the governor chooses among, ascending.
[[nodiscard]] std::vector<int64_t> governor_clocks(const MachineConfig& machine);

}  // namespace gpusim::core
