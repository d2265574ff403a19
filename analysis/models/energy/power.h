// Energy of a recorded kernel at other clocks and another time: each term by the voltage of its domain, as
// the machine's [dvfs] curves give it (simcore/power/energy_terms.h says how terms scale).
#pragma once
#include <array>
#include <cstdint>

#include "analysis/recording/recording.h"
#include "simcore/power/energy_terms.h"

namespace gpusim::analysis::energy {

/// kHz of core, interconnect with L2, and DRAM.
using Clocks = std::array<int64_t, 3>;

/// J of each term. Throws core::RecordError if the machine has no [energy].
[[nodiscard]] core::EnergyAmounts recorded_energy(const KernelRecord& kernel);

/// A kernel's time and clocks.
struct Operating {
  Clocks clocks;
  double seconds = 0;
};

/// What `joules`, drawn at `from`, would be at `to`: the same events, other voltages, cycles and time.
[[nodiscard]] core::EnergyAmounts scaled_energy(const core::EnergyAmounts& joules,
                                                const core::MachineConfig& machine, const Operating& from,
                                                const Operating& to);

/// V of a domain at its clock.
[[nodiscard]] double volts(const core::MachineConfig& machine, core::PowerDomain domain, int64_t khz);

}  // namespace gpusim::analysis::energy
