#include "components/warp_scheduler.h"

#include <bit>

namespace gpusim::comp {

WarpScheduler::WarpScheduler(const sc_core::sc_module_name& name, SchedulerPolicy policy, uint32_t index, uint32_t count)
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
    if (best == kNone || table().age[w] < table().age[best]) best = w;
  }
  return best;
}

int WarpScheduler::pick(uint64_t now) const {
  const WarpTable& t = table();
  const uint64_t all = mine();
  if (policy_ == SchedulerPolicy::kLooseRoundRobin) {
    // Rotate so that the slot after the last issued one is looked at first.
    const uint32_t start = (last_ + 1) % kMaxWarps;
    for (uint64_t bits = std::rotr(all, static_cast<int>(start)); bits != 0; bits &= bits - 1) {
      const uint32_t w = (static_cast<uint32_t>(std::countr_zero(bits)) + start) % kMaxWarps;
      if (t.earliest(w) <= now) return static_cast<int>(w);
    }
    return kNone;
  }
  if ((all >> last_ & 1) != 0 && t.earliest(last_) <= now) return static_cast<int>(last_);
  uint64_t ready = 0;
  for (uint64_t bits = all; bits != 0; bits &= bits - 1) {
    const auto w = static_cast<uint32_t>(std::countr_zero(bits));
    if (t.earliest(w) <= now) ready |= uint64_t{1} << w;
  }
  return oldest(ready);
}

int WarpScheduler::candidate() const {
  const uint64_t all = mine();
  if (all == 0) return kNone;
  if (policy_ == SchedulerPolicy::kLooseRoundRobin) {
    const uint32_t start = (last_ + 1) % kMaxWarps;
    return static_cast<int>((static_cast<uint32_t>(std::countr_zero(std::rotr(all, static_cast<int>(start)))) + start) %
                            kMaxWarps);
  }
  if ((all >> last_ & 1) != 0) return static_cast<int>(last_);
  return oldest(all);
}

uint64_t WarpScheduler::next_ready() const {
  const WarpTable& t = table();
  uint64_t first = kUnknownCycle;
  for (uint64_t bits = mine(); bits != 0; bits &= bits - 1) {
    const uint64_t c = t.earliest(static_cast<uint32_t>(std::countr_zero(bits)));
    first = c < first ? c : first;
  }
  return first;
}

SchedulerPolicy scheduler_policy(const std::string& name) {
  return name == "gto" ? SchedulerPolicy::kGreedyThenOldest : SchedulerPolicy::kLooseRoundRobin;
}

}  // namespace gpusim::comp
