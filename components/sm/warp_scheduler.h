// Warp scheduler: picks, in each issue slot, the warp to issue from those its SM holds, by the policy that
// the configuration names (components/sm/policies). An sc_module bound to the SM by a port and ticked inside
// the SM's activation (zero-latency path). With several schedulers, each owns the warp
// slots that core::MachineConfig::Scheduler::of_slot() deals to it.
#pragma once
#include <bit>
#include <cstdint>
#include <memory>
#include <systemc>

#include "components/sm/policies/issue_policy.h"

namespace gpusim::comp {

class WarpScheduler : public sc_core::sc_module {
 public:
  WarpScheduler(const sc_core::sc_module_name& name, const core::MachineConfig::Scheduler& config,
                uint32_t index);

  sc_core::sc_port<WarpTableIf> sm;

  static constexpr int kNone = -1;
  /// Warp slot to issue at cycle `now`, or kNone.
  [[nodiscard]] int pick(uint64_t now) const { return choose(table().issuable(owned_, now, index_)); }
  /// True if warp `w`, one of this scheduler's, can issue at `now`.
  [[nodiscard]] bool can_issue(uint32_t w, uint64_t now) const {
    return table().issuable(uint64_t{1} << w, now, index_) != 0;
  }
  /// The warp that the policy would pick next if nothing held it back; the oldest if the policy has no
  /// opinion; kNone if no warp is resident. Its wait is the cause of an empty slot.
  [[nodiscard]] int candidate() const { return choose(mine()); }
  /// First issue slot's cycle, not before `from`, in which some warp can issue unless an event comes first
  /// (kUnknownCycle: only after an event).
  [[nodiscard]] uint64_t next_issue(uint64_t from) const {
    return table().next_issuable(mine(), from, index_);
  }
  void issued(uint32_t warp) { policy_->issued(warp); }
  void reset() { policy_->reset(); }
  void started(uint32_t warp) { policy_->started(warp); }
  [[nodiscard]] bool watches_l1() const { return policy_->watches_l1(); }
  void line_missed(uint32_t warp, uint64_t line, uint64_t now) { policy_->line_missed(warp, line, now); }
  void line_evicted(uint32_t warp, uint64_t line) { policy_->line_evicted(warp, line); }
  [[nodiscard]] IssuePolicy::Hold held_back(uint64_t now) { return policy_->held_back(mine(), table(), now); }

 private:
  [[nodiscard]] uint64_t mine() const { return table().resident() & owned_; }
  [[nodiscard]] const WarpTable& table() const {
    if (table_ == nullptr) table_ = &sm->warp_table();
    return *table_;
  }
  /// What the policy takes of a set of warps.
  [[nodiscard]] int choose(uint64_t warps) const {
    if (warps == 0) return kNone;
    if (std::has_single_bit(warps)) return std::countr_zero(warps);
    return static_cast<int>(policy_->choose(warps, table()));
  }

  std::unique_ptr<IssuePolicy> policy_;
  uint32_t index_;
  uint64_t owned_ = 0;
  mutable const WarpTable* table_ = nullptr;
};

}  // namespace gpusim::comp
