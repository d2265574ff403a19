// Issue slots of an SM: which warp each scheduler takes in which slot, when a scheduler can next issue, what
// holds warps back, and the cause that every slot without an issue is booked to.
// A scheduler's slots that issued nothing are booked when its warps change next: until then their cause is
// the same.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "components/sm/sm_state.h"
#include "components/sm/warp_scheduler.h"

namespace gpusim::comp {

class IssueSlots {
 public:
  /// The schedulers are modules below the SM, and see its warps by `warps`.
  IssueSlots(SmState& sm, WarpTableIf& warps);

  /// A kernel comes at core cycle `start`; the first one opens the books.
  void open_kernel(uint64_t start);
  /// Closes the books of a kernel that ends at its `end`: what it has not used is nobody's.
  void close_kernel(ResidentKernel& kernel);
  /// Slots that had no candidate, of any kernel.
  [[nodiscard]] uint64_t idle() const { return idle_; }
  /// Slots in which a scheduler has issued, of any kernel.
  [[nodiscard]] uint64_t issued(uint32_t scheduler) const { return issued_[scheduler]; }

  /// Calls issue(w, now) for the warp that each scheduler takes at `now`, if one may be able to.
  template <class Issue>
  void issue(uint64_t now, Issue issue);
  /// At the later `cycle`, and only what `ahead(w)` allows; false if an operation has to wait for the time to
  /// come.
  template <class Ahead, class Issue>
  bool issue_ahead(uint64_t cycle, Ahead ahead, Issue issue);
  /// First slot's cycle in which some warp may issue, as far as known.
  [[nodiscard]] uint64_t next_issue() const { return next_issue_; }
  /// Finds next_issue() anew where warps have changed, for slots after `now`.
  void plan(uint64_t now);

  /// Before a warp of this scheduler changes: books its empty slots before `now`, which all have the cause
  /// that its candidate has until then.
  void settle(uint32_t scheduler, uint64_t now) {
    changed_ |= 1u << scheduler;
    const uint64_t end = sm_.slot_cycles.up(now);
    if (next_slot_[scheduler] < end && sm_.open_kernels != 0) book_empty(scheduler, end);
  }
  void settle_all(uint64_t now);
  /// What the load/store unit can take now opens and closes the gates of the warp table, and policies that
  /// watch the L1 hold warps back.
  void update_gates(uint64_t now);
  /// Some policy watches the L1: what that does concerns the schedulers at once.
  [[nodiscard]] bool watch_l1() const { return watch_l1_; }

  /// A new kernel has the SM for itself.
  void reset_policies();
  /// The warp starts: it belongs to the scheduler that it names.
  void started(uint32_t w) { schedulers_[sm_.warps[w].scheduler]->started(w); }
  /// The access that warp `w` waited for has been served: books the slots that it cost.
  void book_access(uint32_t w, uint32_t record, StallCause cause);

 private:
  /// Stretch of empty slots whose cause is known when the access is served (events only).
  struct OpenStall {
    uint32_t record;
    uint32_t scheduler;
    uint64_t from, to;
    uint32_t warp, pc;
  };
  /// Slots [from, to) of a scheduler; `width`: how many operations each could have issued.
  struct Stretch {
    uint32_t scheduler;
    uint64_t from, to;
    uint64_t width;
    [[nodiscard]] uint64_t slots() const { return from < to ? (to - from) * width : 0; }
  };
  [[nodiscard]] uint32_t after(uint32_t scheduler) const {
    return scheduler + 1 == sm_.scheduler_count ? 0 : scheduler + 1;
  }
  /// True if the warp's next operation takes a pipe that the schedulers use in turn.
  [[nodiscard]] bool is_turn(const ResidentWarp& warp) const {
    return warp.timing_of(warp.op->op_class).pipe[0] < pipes_in_turn_;
  }
  /// An operation before has taken the slot, so when this scheduler can issue has to be found again.
  bool is_taken(uint32_t scheduler, uint64_t slot) {
    const bool taken = next_slot_[scheduler] > slot;
    if (taken) changed_ |= 1u << scheduler;
    return taken;
  }
  template <class Issue>
  void take(uint32_t scheduler, uint32_t w, uint64_t now, Issue& issue);
  /// Of a scheduler that can issue two operations of a warp: the second one, if nothing holds it back.
  template <class Issue>
  void take_rest(uint32_t scheduler, uint32_t w, uint64_t now, Issue& issue);
  /// Books the slots of `scheduler` before `end`, which is its next one from now on.
  void book_empty(uint32_t scheduler, uint64_t end);
  /// Slots of one scheduler before the kernel's first block starts on any SM, and after its last one has
  /// ended.
  [[nodiscard]] uint64_t slots_before(const KernelLaunch& run) const;
  [[nodiscard]] uint64_t slots_after(const KernelLaunch& run) const;
  /// Books slots whose candidate is warp `w` (WarpScheduler::kNone: none) to what that warp waits for.
  void book_wait(int w, const Stretch& stretch);
  void book(uint32_t w, StallCause cause, const Stretch& stretch);
  void emit_stall(core::EventTable<core::StallEvent>& table, StallCause cause, const OpenStall& stall) const;
  /// Tells the policies what the L1 has done and asks them whose loads they hold back.
  void update_holds(uint64_t now);
  /// Schedulers that hold warps back look again when these may be fewer, not before `from`.
  void wake_for_holds(uint64_t from);

  SmState& sm_;
  uint64_t next_issue_ = kUnknownCycle;
  uint32_t first_ = 0;          ///< the scheduler whose turn it is: after the one that took such a pipe last
  uint32_t pipes_in_turn_ = 0;  ///< pipes [0, pipes_in_turn_) that schedulers use in turn
  uint32_t changed_ = 0;        ///< schedulers (bits) that see something else than when wake_ was found
  bool watch_l1_ = false;
  /// Per scheduler: first slot neither used nor booked yet.
  std::array<uint64_t, kMaxSchedulers> next_slot_{};
  std::array<uint64_t, kMaxSchedulers> wake_{};  ///< of each: no warp of it can issue before, but for events
  std::array<uint64_t, kMaxSchedulers> hold_until_{};  ///< of each: when it has to be asked for holds again
  std::array<std::unique_ptr<WarpScheduler>, kMaxSchedulers> schedulers_;
  uint64_t idle_ = 0;
  std::array<uint64_t, kMaxSchedulers> issued_{};
  std::vector<OpenStall> open_stalls_;
};

template <class Issue>
inline void IssueSlots::take(uint32_t scheduler, uint32_t w, uint64_t now, Issue& issue) {
  settle(scheduler, now);
  const ResidentWarp& warp = sm_.warps[w];
  const uint64_t further = warp.op->further_slots;
  next_slot_[scheduler] = now / sm_.slot_cycles + 1 + further;
  issued_[scheduler] += 1 + further;
  if (further != 0) {
    warp.kernel->stats->slots[StallCause::kIssued] += further;
    warp.at().slots[StallCause::kIssued] += further;
  }
  schedulers_[scheduler]->issued(w);
  if (is_turn(warp)) first_ = after(scheduler);
  issue(w, now);
  if (sm_.issue_width != 1) take_rest(scheduler, w, now, issue);
}

template <class Issue>
void IssueSlots::take_rest(uint32_t scheduler, uint32_t w, uint64_t now, Issue& issue) {
  update_gates(now);
  if (schedulers_[scheduler]->can_issue(w, now)) {
    ++issued_[scheduler];
    issue(w, now);
  } else {
    const uint64_t slot = now / sm_.slot_cycles;
    const bool resident = (sm_.table.resident() >> w & 1) != 0;
    book_wait(resident ? static_cast<int>(w) : WarpScheduler::kNone, {scheduler, slot, slot + 1, 1});
  }
}

template <class Issue>
void IssueSlots::issue(uint64_t now, Issue issue) {
  if (now % sm_.slot_cycles != 0 || sm_.open_kernels == 0 || (changed_ == 0 && now < next_issue_)) return;
  sm_.table.promote(now);
  const uint64_t slot = now / sm_.slot_cycles;
  for (uint32_t i = 0, s = first_; i < sm_.scheduler_count; ++i, s = after(s)) {
    if (wake_[s] > now && (changed_ >> s & 1) == 0) continue;
    if (is_taken(s, slot)) continue;
    changed_ |= 1u << s;
    const int w = schedulers_[s]->pick(now);
    if (w == WarpScheduler::kNone) continue;
    take(s, static_cast<uint32_t>(w), now, issue);
    update_gates(now);
  }
}

template <class Ahead, class Issue>
bool IssueSlots::issue_ahead(uint64_t cycle, Ahead ahead, Issue issue) {
  sm_.table.promote(cycle);
  const uint64_t slot = cycle / sm_.slot_cycles;
  uint32_t rest = (1u << sm_.scheduler_count) - 1;  // schedulers whose turn has not come
  for (uint32_t s = first_; rest != 0; rest &= ~(1u << s), s = after(s)) {
    if (wake_[s] > cycle && (changed_ >> s & 1) == 0) continue;
    if (is_taken(s, slot)) continue;
    const int w = schedulers_[s]->pick(cycle);
    if (w != WarpScheduler::kNone && !ahead(static_cast<uint32_t>(w))) break;
    changed_ |= 1u << s;
    if (w != WarpScheduler::kNone) take(s, static_cast<uint32_t>(w), cycle, issue);
  }
  // The rest of the slot has to wait for the time to come, also where the others have changed something.
  for (const uint32_t later : core::Bits(changed_ & rest)) wake_[later] = cycle;
  changed_ &= ~rest;
  plan(cycle);
  return rest == 0;
}

}  // namespace gpusim::comp
