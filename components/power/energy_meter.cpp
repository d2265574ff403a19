#include "components/power/energy_meter.h"

#include <algorithm>

namespace gpusim::comp {

namespace {

constexpr double kPico = 1e-12, kFemto = 1e-15;

/// Of all channels.
double refresh_rate(const core::MachineConfig& m, uint64_t per_interval) {
  if (m.dram.refi_ns <= 0) return 0;
  return static_cast<double>(per_interval * m.l2.partitions * m.dram.channels) / (m.dram.refi_ns * 1e-9);
}

}  // namespace

EnergyMeter::EnergyMeter(const core::MachineConfig& machine, uint64_t refreshes_per_interval)
    : coefficients_(machine.energy),
      curves_{core::VoltageCurve(machine.dvfs.core, machine.clocks.core_khz),
              core::VoltageCurve(machine.dvfs.interconnect, machine.clocks.interconnect_khz),
              core::VoltageCurve(machine.dvfs.dram, machine.clocks.dram_khz)},
      refreshes_per_s_(refresh_rate(machine, refreshes_per_interval)),
      active_(machine.energy != core::MachineConfig::Energy{}) {
  set_state(PowerDomain::kCore, machine.clocks.core_khz);
  set_state(PowerDomain::kInterconnect, machine.clocks.interconnect_khz);
  set_state(PowerDomain::kDram, machine.clocks.dram_khz);
}

void EnergyMeter::set_state(PowerDomain domain, int64_t khz) {
  const auto d = static_cast<size_t>(domain);
  const double volts = curves_[d].at(khz);
  state_[d] = {khz, volts, volts / curves_[d].max_volts()};
}

double EnergyMeter::power(size_t term) const {
  const TermInfo& info = energy_terms()[term];
  const State& s = state_[static_cast<size_t>(info.domain)];
  const double coefficient = coefficients_.*info.coefficient;
  switch (info.kind) {
    case TermKind::kStatic:
      return coefficient * s.share;
    case TermKind::kClock:
      return coefficient * kPico * s.share * s.share * static_cast<double>(s.khz) * 1e3;
    case TermKind::kRefresh:
      return coefficient * kPico * s.share * s.share * refreshes_per_s_;
    case TermKind::kEvents:
    case TermKind::kActive:
      break;
  }
  return 0;
}

double EnergyMeter::standing_power() const {
  double watts = 0;
  for (size_t i = 0; i < kNumEnergyTerms; ++i) watts += power(i);
  return watts;
}

EnergyAmounts EnergyMeter::reading(core::Femtoseconds t, const EnergyAmounts& events) const {
  EnergyAmounts joules = closed_;
  const double seconds = started_ && t > since_ ? static_cast<double>(t - since_) * kFemto : 0;
  for (size_t i = 0; i < kNumEnergyTerms; ++i) {
    const TermInfo& info = energy_terms()[i];
    const double share = state_[static_cast<size_t>(info.domain)].share;
    if (info.kind == TermKind::kEvents || info.kind == TermKind::kActive)
      joules[i] += (events[i] - events_[i]) * (coefficients_.*info.coefficient * kPico) * share * share;
    else
      joules[i] += power(i) * seconds;
  }
  return joules;
}

void EnergyMeter::close(core::Femtoseconds t, const EnergyAmounts& events) {
  closed_ = reading(t, events);
  events_ = events;
  since_ = std::max(since_, t);
}

void EnergyMeter::set_clock(PowerDomain domain, int64_t khz, core::Femtoseconds t,
                            const EnergyAmounts& events) {
  close(t, events);
  set_state(domain, khz);
}

void EnergyMeter::start(core::Femtoseconds t, const EnergyAmounts& events) {
  started_ = true;
  since_ = t;
  events_ = events;
}

}  // namespace gpusim::comp
