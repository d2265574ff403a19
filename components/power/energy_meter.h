// Turns counts of events and time into the joules of a kernel, at the voltages that the clock domains have.
// Plain class; no hardware of its own. It is read when the kernel ends and at the samples of the time series;
// an interval is closed, at the voltages that held in it, only when a clock changes. So what it shows does
// not depend on how often it is read.
#pragma once
#include <array>
#include <cstdint>

#include "components/power/energy_terms.h"
#include "simcore/config/machine_config.h"
#include "simcore/config/voltage_curve.h"
#include "simcore/types.h"

namespace gpusim::comp {

class EnergyMeter {
 public:
  /// The clocks are those of [clocks]; the kernel has not begun. `refreshes_per_interval`: of one DRAM
  /// channel, as its refresh policy has it.
  EnergyMeter(const core::MachineConfig& machine, uint64_t refreshes_per_interval);

  /// False if [energy] gives nothing: all readings are 0.
  [[nodiscard]] bool active() const { return active_; }
  /// The kernel begins at `t`; by now `events` have been counted.
  void start(core::Femtoseconds t, const EnergyAmounts& events);
  /// Joules from its start to `t`, when `events` have been counted.
  [[nodiscard]] EnergyAmounts reading(core::Femtoseconds t, const EnergyAmounts& events) const;

  /// From `t` on the domain has this clock, and the voltage that goes with it.
  void set_clock(PowerDomain domain, int64_t khz, core::Femtoseconds t, const EnergyAmounts& events);
  /// V now; 0 for the board.
  [[nodiscard]] double volts(PowerDomain domain) const { return state_[static_cast<size_t>(domain)].volts; }
  /// W of a GPU at its present clocks that does nothing while a kernel runs: static power, clocks, refresh.
  [[nodiscard]] double standing_power() const;

 private:
  struct State {
    int64_t khz = 0;
    double volts = 0;
    double share = 1;  ///< of the highest voltage
  };
  void close(core::Femtoseconds t, const EnergyAmounts& events);
  void set_state(PowerDomain domain, int64_t khz);
  /// W of a term that goes with time.
  [[nodiscard]] double power(size_t term) const;

  core::MachineConfig::Energy coefficients_;
  std::array<core::VoltageCurve, 3> curves_;
  double refreshes_per_s_;
  bool active_;
  bool started_ = false;
  std::array<State, kNumPowerDomains> state_;
  EnergyAmounts closed_{};  ///< joules of closed intervals
  EnergyAmounts events_{};  ///< at the start of the open one
  core::Femtoseconds since_ = 0;
};

}  // namespace gpusim::comp
