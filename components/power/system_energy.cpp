#include "components/power/system_energy.h"

#include <algorithm>

namespace gpusim::comp {

std::optional<SystemEnergy> system_energy(const SimulationResult& result,
                                          const core::MachineConfig& machine) {
  if (result.status != SimulationResult::Status::kComplete || result.kernels.empty()) return std::nullopt;
  SystemEnergy sum;
  double busy = 0;
  for (const KernelResult& k : result.kernels) {
    const auto energy = std::ranges::find(k.counters, "energy", &core::Counter::name);
    if (energy == k.counters.end() || k.beside != 0) return std::nullopt;
    sum.kernels_j += energy->value;
    busy += k.time_s;
  }
  const std::vector<TimelineItem> items = timeline(result);
  const double first = std::ranges::min(items, {}, &TimelineItem::start_s).start_s;
  sum.elapsed_s = std::max(busy, std::ranges::max(items, {}, &TimelineItem::end_s).end_s - first);
  sum.idle_board_j = machine.host.gpu_idle_power_w * (sum.elapsed_s - busy);
  sum.host_j = machine.host.idle_power_w * sum.elapsed_s;
  return sum;
}

}  // namespace gpusim::comp
