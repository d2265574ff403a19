// Clocks and energy of the GPU while it runs: sets the clocks that launches ask for, and keeps the energy
// meter in step with every change of a clock and with the kernels that begin and end. No module of its own:
// the clock domains and the dispatcher's hooks call it.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "components/power/energy_counts.h"
#include "components/power/energy_meter.h"
#include "components/simulation/gpu.h"
#include "simcore/config/clock_points.h"
#include "simcore/config/machine_config.h"

namespace gpusim::comp {

class PowerModel {
 public:
  /// Of a GPU whose simulation has not begun.
  PowerModel(Gpu& gpu, const core::MachineConfig& machine);
  PowerModel(const PowerModel&) = delete;
  PowerModel& operator=(const PowerModel&) = delete;

  /// Clocks that the choice names, those of the run otherwise, from each domain's next edge on. True if the
  /// core clock changes. A core clock that the governor has set stays.
  bool set_clocks(const core::ClockChoice& choice);
  /// The governor's choice for the core.
  void set_core_clock(int64_t khz);
  [[nodiscard]] int64_t core_clock() const { return wanted_[0]; }

  /// The kernel begins at `t`, which lies at most a few cycles ahead.
  void begin_kernel(const KernelLaunch& run, core::Femtoseconds t);
  /// Its joules, and it is forgotten.
  EnergyAmounts end_kernel(const KernelLaunch& run, core::Femtoseconds t);
  /// Joules of a kernel that runs, until `t`.
  [[nodiscard]] EnergyAmounts reading(const KernelLaunch& run, core::Femtoseconds t) const;
  /// False if the machine says nothing of energy.
  [[nodiscard]] bool active() const { return meter_.active(); }
  /// Changes of a domain's clock since the start.
  [[nodiscard]] uint64_t changes(PowerDomain domain) const { return changes_[static_cast<size_t>(domain)]; }

 private:
  static constexpr size_t kClocks = 3;
  /// True if the domain's clock changes.
  bool want(size_t domain, int64_t khz);

  std::array<core::ClockDomain*, kClocks> domains_;
  /// The interconnect's clock beside that one of the core, if it follows it.
  [[nodiscard]] int64_t interconnect_beside(int64_t core_khz) const {
    return follows_ ? of_run_[1] * core_khz / of_run_[0] : of_run_[1];
  }

  /// The memory's clock beside that one of the core.
  [[nodiscard]] int64_t dram_beside(int64_t core_khz) const {
    return core::dram_clock_beside(dram_points_, core_khz, of_run_[2]);
  }

  std::array<int64_t, kClocks> of_run_, wanted_;
  bool follows_;                               ///< clocks.interconnect_follows
  std::vector<core::ClockPoint> dram_points_;  ///< clocks.dram_follows
  std::array<uint64_t, kClocks> changes_{};
  bool governed_;
  struct Open {
    const KernelLaunch* run = nullptr;
    EnergyMeter meter;
  };
  EnergyMeter meter_;  ///< of a kernel that would begin now
  std::vector<Open> open_;
  EnergyCounts counts_;
};

}  // namespace gpusim::comp
