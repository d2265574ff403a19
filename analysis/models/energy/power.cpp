#include "analysis/models/energy/power.h"

#include <fmt/format.h>

#include "simcore/config/voltage_curve.h"
#include "simcore/record/recorder.h"

namespace gpusim::analysis::energy {

using core::PowerDomain;
using core::TermKind;

core::EnergyAmounts recorded_energy(const KernelRecord& kernel) {
  core::EnergyAmounts joules{};
  for (size_t i = 0; i < core::kNumEnergyTerms; ++i) {
    const auto at = kernel.counters.find(core::energy_terms()[i].counter);
    if (at != kernel.counters.end()) joules[i] = at->second;
  }
  if (core::total(joules) == 0)
    throw core::RecordError(
        fmt::format("kernel {} '{}' has no energy: its machine's configuration has no [energy]", kernel.index,
                    kernel.name));
  return joules;
}

double volts(const core::MachineConfig& machine, PowerDomain domain, int64_t khz) {
  switch (domain) {
    case PowerDomain::kCore:
      return core::VoltageCurve(machine.dvfs.core, machine.clocks.core_khz).at(khz);
    case PowerDomain::kInterconnect:
      return core::VoltageCurve(machine.dvfs.interconnect, machine.clocks.interconnect_khz).at(khz);
    case PowerDomain::kDram:
      return core::VoltageCurve(machine.dvfs.dram, machine.clocks.dram_khz).at(khz);
    case PowerDomain::kBoard:
      break;
  }
  return 1;
}

core::EnergyAmounts scaled_energy(const core::EnergyAmounts& joules, const core::MachineConfig& machine,
                                  const Operating& from, const Operating& to) {
  core::EnergyAmounts scaled{};
  const double time = to.seconds / from.seconds;
  std::array<double, 3> volt_ratio{}, clock_ratio{};
  for (size_t d = 0; d < volt_ratio.size(); ++d) {
    const auto domain = static_cast<PowerDomain>(d);
    volt_ratio[d] = volts(machine, domain, to.clocks[d]) / volts(machine, domain, from.clocks[d]);
    clock_ratio[d] = static_cast<double>(to.clocks[d]) / static_cast<double>(from.clocks[d]);
  }
  for (size_t i = 0; i < core::kNumEnergyTerms; ++i) {
    const core::TermInfo& term = core::energy_terms()[i];
    const auto d = static_cast<size_t>(term.domain);
    const bool clocked = term.domain != PowerDomain::kBoard;
    const double v = clocked ? volt_ratio[d] : 1, clock = clocked ? clock_ratio[d] : 1;
    switch (term.kind) {
      case TermKind::kEvents:
        scaled[i] = joules[i] * v * v;
        break;
      case TermKind::kActive:  // as long as the kernel does, with the clock
      case TermKind::kClock:
        scaled[i] = joules[i] * v * v * clock * time;
        break;
      case TermKind::kRefresh:
        scaled[i] = joules[i] * v * v * time;
        break;
      case TermKind::kStatic:
        scaled[i] = joules[i] * v * time;
        break;
    }
  }
  return scaled;
}

}  // namespace gpusim::analysis::energy
