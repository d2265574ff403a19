// A recorded run as the energy model sees it: its kernels' times, clocks and energies, and what the whole
// system drew: the board while kernels run, the waiting host, and the idle board while only copies do.
#pragma once
#include <string>
#include <vector>

#include "analysis/models/energy/power.h"
#include "analysis/recording/recording.h"

namespace gpusim::analysis::energy {

struct KernelLaunch {
  KernelRecord kernel;
  uint64_t blocks = 0;
  double seconds = 0;
  core::EnergyAmounts joules{};
  [[nodiscard]] double energy() const { return core::total(joules); }
};

struct Run {
  const Recording* recording = nullptr;
  Clocks clocks{};
  bool has_memory_events = false;
  bool whole = false;  ///< all kernels of a recording of a run that ended
  std::vector<KernelLaunch> kernels;
  double elapsed = 0;  ///< s from the first kernel or copy to the end of the last
  [[nodiscard]] double kernel_seconds() const;
  [[nodiscard]] double kernel_energy() const;
};

/// Kernels that `selection` names, all if it is empty. Throws core::RecordError if kernels ran at the same
/// time or at several core clocks, or the machine has no [energy].
[[nodiscard]] Run read_run(const Recording& recording, const std::string& selection);

/// Same machine and SMs but for the core clock and what follows it, same kernels, grids and instructions: the
/// runs differ in their clocks only. `a` has the higher one.
[[nodiscard]] bool same_work(const Run& a, const Run& b);

/// What the model predicts: J of board and host for `elapsed` seconds, in some of which kernels draw
/// `kernel_energy`.
[[nodiscard]] double system_energy(const core::MachineConfig& machine, double kernel_energy,
                                   double kernel_seconds, double elapsed);

/// Equations 8 and 9: two tasks begin together, one on the host and one on the GPU; the side that ends first
/// is idle until the other ends.
struct IdleSide {
  double seconds = 0, joules = 0;
  bool host = false;  ///< the host is the one that waits
};
[[nodiscard]] IdleSide idle_beside(double host_seconds, double gpu_seconds,
                                   const core::MachineConfig& machine);

}  // namespace gpusim::analysis::energy
