// Time, kernel energy and system power of a run at other core clocks, from one run at the highest:
// `extended`, which is judged, and the method as printed.
#pragma once
#include <cstdint>
#include <vector>

#include "analysis/models/energy/clock_parts.h"
#include "analysis/models/energy/pem.h"
#include "analysis/models/energy/run.h"
#include "analysis/models/energy/task_graph.h"

namespace gpusim::analysis::energy {

struct KernelForecast {
  double seconds = 0;
  core::EnergyAmounts joules{};
  Beyond beyond;
  ClockParts::Bounds bounds;
};

struct Forecast {
  int64_t core_khz = 0;
  std::vector<KernelForecast> kernels;
  double kernel_energy = 0, kernel_seconds = 0, elapsed = 0, system_energy = 0;
  [[nodiscard]] double system_power() const { return elapsed == 0 ? 0 : system_energy / elapsed; }
};

/// What one run says of those at other core clocks.
class Dvfs {
 public:
  /// `base` must outlive it and have memory events.
  explicit Dvfs(const Run& base);
  [[nodiscard]] const std::vector<ClockParts>& parts() const { return parts_; }
  /// With the other domains' clocks as the machine has them beside this one of the core.
  [[nodiscard]] Forecast at(int64_t core_khz) const { return at(clocks_at(core_khz)); }
  [[nodiscard]] Forecast at(const Clocks& clocks) const;

 private:
  /// Clocks of the domains beside this one of the core, as the machine has them.
  [[nodiscard]] Clocks clocks_at(int64_t core_khz) const;
  [[nodiscard]] Beyond beyond_at(const KernelRecord& kernel, const Clocks& clocks) const;

  const Run& base_;
  std::vector<ClockParts> parts_;
};

/// The paper's method on one kernel of the run at the highest clock.
struct PemKernel {
  CriticalPath path;
  Steps steps;
  PemMachine machine;
};
/// E_d, E_m and M_c are those of this run: its core energy by the cycles that its path computes, the energy
/// of memory and interconnect by the path's accesses, the path's waits by its accesses and barriers.
[[nodiscard]] PemKernel pem_kernel(const Run& base, size_t kernel);

}  // namespace gpusim::analysis::energy
