#include "components/warp_scheduler.h"

#include <bit>

namespace gpusim::comp {

WarpScheduler::WarpScheduler(const sc_core::sc_module_name& name, SchedulerPolicy policy, uint32_t index,
                             uint32_t count)
    : sc_module(name), sm("sm"), policy_(policy) {
  for (uint32_t w = index; w < kMaxWarps; w += count) owned_ |= uint64_t{1} << w;
}

const WarpTable& WarpScheduler::table() const {
  if (table_ == nullptr) table_ = &sm->warp_table();
  return *table_;
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

int WarpScheduler::next_in_turn(uint64_t warps) const {
  if (warps == 0) return kNone;
  // Rotate so that the slot after the last issued one comes first.
  const uint32_t start = (last_ + 1) % kMaxWarps;
  const auto distance = static_cast<uint32_t>(std::countr_zero(std::rotr(warps, static_cast<int>(start))));
  return static_cast<int>((start + distance) % kMaxWarps);
}

int WarpScheduler::pick(uint64_t now) const {
  const uint64_t able = table().issuable(now) & owned_;
  if (policy_ == SchedulerPolicy::kLooseRoundRobin) return next_in_turn(able);
  return (able >> last_ & 1) != 0 ? static_cast<int>(last_) : oldest(able);
}

int WarpScheduler::candidate() const {
  const uint64_t all = mine();
  if (policy_ == SchedulerPolicy::kLooseRoundRobin) return next_in_turn(all);
  return (all >> last_ & 1) != 0 ? static_cast<int>(last_) : oldest(all);
}

uint64_t WarpScheduler::next_ready() const { return table().next_issuable(mine()); }

SchedulerPolicy scheduler_policy(const std::string& name) {
  return name == "gto" ? SchedulerPolicy::kGreedyThenOldest : SchedulerPolicy::kLooseRoundRobin;
}

}  // namespace gpusim::comp
