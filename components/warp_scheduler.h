// Warp scheduler: picks, in each issue slot, the warp to issue from those its SM holds. An sc_module bound to
// the SM by a port and ticked inside the SM's activation (zero-latency path). Policies: loose round-robin
// ("lrr"): the next ready warp after the last issued one; greedy-then-oldest ("gto"): the same warp while it
// can, then the oldest ready one. With several schedulers, scheduler s owns the warp slots w with w % count
// == s.
#pragma once
#include <bit>
#include <cstdint>
#include <string>
#include <systemc>

#include "components/warp_table.h"

namespace gpusim::comp {

enum class SchedulerPolicy : uint8_t { kLooseRoundRobin, kGreedyThenOldest };

class WarpScheduler : public sc_core::sc_module {
 public:
  WarpScheduler(const sc_core::sc_module_name& name, SchedulerPolicy policy, uint32_t index, uint32_t count);

  sc_core::sc_port<WarpTableIf> sm;

  static constexpr int kNone = -1;
  /// Warp slot to issue at cycle `now`, or kNone.
  [[nodiscard]] int pick(uint64_t now) const { return choose(table().issuable(now) & owned_); }
  /// The warp that the policy would pick next if nothing held it back; the oldest if the policy has no
  /// opinion; kNone if no warp is resident. Its wait is the cause of an empty slot.
  [[nodiscard]] int candidate() const { return choose(mine()); }
  /// First issue slot's cycle, not before `from`, in which some warp can issue unless an event comes first
  /// (kUnknownCycle: only after an event).
  [[nodiscard]] uint64_t next_issue(uint64_t from) const { return table().next_issuable(mine(), from); }
  void issued(uint32_t warp) { last_ = warp; }
  void reset() { last_ = kMaxWarps - 1; }

 private:
  [[nodiscard]] uint64_t mine() const { return table().resident() & owned_; }
  [[nodiscard]] const WarpTable& table() const {
    if (table_ == nullptr) table_ = &sm->warp_table();
    return *table_;
  }
  /// What the policy takes of a set of warps.
  [[nodiscard]] int choose(uint64_t warps) const {
    if (warps == 0) return kNone;
    if (policy_ == SchedulerPolicy::kLooseRoundRobin) return next_in_turn(warps);
    return (warps >> last_ & 1) != 0 ? static_cast<int>(last_) : oldest(warps);
  }
  [[nodiscard]] int oldest(uint64_t warps) const;
  /// The first one after the last issued, once around.
  [[nodiscard]] int next_in_turn(uint64_t warps) const {
    const uint32_t start = (last_ + 1) % kMaxWarps;
    const auto distance = static_cast<uint32_t>(std::countr_zero(std::rotr(warps, static_cast<int>(start))));
    return static_cast<int>((start + distance) % kMaxWarps);
  }

  SchedulerPolicy policy_;
  uint64_t owned_ = 0;
  uint32_t last_ = kMaxWarps - 1;
  mutable const WarpTable* table_ = nullptr;
};

/// Policy of a configuration name ("lrr", "gto").
[[nodiscard]] SchedulerPolicy scheduler_policy(const std::string& name);

}  // namespace gpusim::comp
