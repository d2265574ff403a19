#include "components/simulation/simulation_result.h"

#include <algorithm>

namespace gpusim::comp {

bool SimulationResult::expectations_met() const {
  return std::ranges::all_of(expects, &core::ExpectResult::pass);
}

void SimulationResult::add_up_kernels() {
  uint64_t counted_until = 0;
  double counted_until_s = 0;
  for (const KernelResult& k : kernels) {
    warp_instructions += k.total.warp_instructions;
    const uint64_t end = k.start + k.cycles;
    if (end > counted_until) cycles += end - std::max(k.start, counted_until);
    counted_until = std::max(counted_until, end);
    const double end_s = k.start_s + k.time_s;
    if (end_s > counted_until_s) time_s += end_s - std::max(k.start_s, counted_until_s);
    counted_until_s = std::max(counted_until_s, end_s);
  }
}

std::vector<TimelineItem> timeline(const SimulationResult& result) {
  std::vector<TimelineItem> items;
  for (const KernelResult& k : result.kernels)
    items.push_back({&k, nullptr, k.stream, k.start, k.start + k.cycles, k.start_s, k.start_s + k.time_s});
  for (const CopyResult& c : result.copies)
    if (c.end != 0) items.push_back({nullptr, &c, c.stream, c.start, c.end, c.start_s, c.start_s + c.time_s});
  std::ranges::stable_sort(items, {}, &TimelineItem::start);
  return items;
}

}  // namespace gpusim::comp
