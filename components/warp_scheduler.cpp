#include "components/warp_scheduler.h"

#include <bit>

namespace gpusim::comp {

WarpScheduler::WarpScheduler(const sc_core::sc_module_name& name, SchedulerPolicy policy, uint32_t index,
                             uint32_t count)
    : sc_module(name), sm("sm"), policy_(policy) {
  for (uint32_t w = index; w < kMaxWarps; w += count) owned_ |= uint64_t{1} << w;
}

int WarpScheduler::oldest(uint64_t warps) const {
  int best = kNone;
  for (; warps != 0; warps &= warps - 1) {
    const int w = std::countr_zero(warps);
    if (best == kNone || table().age(static_cast<uint32_t>(w)) < table().age(static_cast<uint32_t>(best)))
      best = w;
  }
  return best;
}

SchedulerPolicy scheduler_policy(const std::string& name) {
  return name == "gto" ? SchedulerPolicy::kGreedyThenOldest : SchedulerPolicy::kLooseRoundRobin;
}

}  // namespace gpusim::comp
