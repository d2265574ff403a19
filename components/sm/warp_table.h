// State of an SM's warps as its schedulers read it, as bit sets (one bit per warp slot): whose operands are
// there, which pipe and gate each warp's next operation needs, and a small wheel of the issue slots in which
// waiting operands become ready. A scheduler's choice and the SM's next wake-up are a few word operations,
// whatever the number of warps.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <systemc>
#include <utility>
#include <vector>

#include "components/sm/stall_cause.h"
#include "components/sm/timing.h"
#include "simcore/config/limits.h"
#include "simcore/divisor.h"
#include "simcore/types.h"

namespace gpusim::comp {

using core::kMaxWarps;
static_assert(kMaxWarps <= 64, "a bit of a word each");
/// "Not before an event": the cycle of something whose time is not known (memory, barrier, fence).
inline constexpr uint64_t kUnknownCycle = ~0ull;

class WarpTable {
 public:
  /// kLoads: the load/store queue too, for loads, which a policy may hold back besides.
  enum Gate : uint8_t { kOpen, kLoadStoreQueue, kLoads, kConstantMisses, kTexturePath, kNumGates };

  /// `issue_cycles`: core cycles of an issue slot; the pipes are numbered as TimingTables says.
  explicit WarpTable(uint64_t issue_cycles = 2, size_t shared_pipes = 8, size_t own_pipes = 0)
      : issue_cycles_(issue_cycles), shared_pipes_(shared_pipes), own_pipes_(own_pipes) {
    for (size_t p = 0; p < kMaxPipes; ++p) {
      const bool shared = p < shared_pipes || own_pipes == 0;
      place_[p].scheduler = static_cast<uint8_t>(shared ? kMaxSchedulers : (p - shared_pipes) / own_pipes);
      place_[p].bit = static_cast<uint8_t>(shared ? p : kOwn + (p - shared_pipes) % own_pipes);
    }
  }

  /// Warp `w` waits for operands until core cycle `ready_at` (kUnknownCycle: until the next call), then for
  /// one of two pipes and a gate. `cause` is why it waits until then.
  void set_next(uint32_t w, uint64_t ready_at, StallCause cause, uint8_t pipe, uint8_t other_pipe, Gate gate,
                uint64_t now);
  /// Warp `w` waits for an event: it can neither issue nor become ready by itself.
  void set_blocked(uint32_t w) {
    ready_ &= ~bit(w);
    warps_[w].ready_at = kUnknownCycle;
  }
  void add(uint32_t w, uint64_t age) {
    resident_ |= bit(w);
    warps_[w].age = age;
  }
  void remove(uint32_t w) {
    resident_ &= ~bit(w);
    ready_ &= ~bit(w);
    warps_[w].ready_at = kUnknownCycle;
  }
  /// Makes ready whoever's operands are there at `now`.
  void promote(uint64_t now) {
    const uint64_t end = now / issue_cycles_ + 1;
    if (end <= next_slot_) return;
    uint64_t buckets = occupied_;
    if (end - next_slot_ < kSlots) {
      const uint64_t span = (uint64_t{1} << (end - next_slot_)) - 1;
      buckets &= std::rotl(span, static_cast<int>(next_slot_ % kSlots));
    }
    next_slot_ = end;
    promoted_ = now;
    if (buckets != 0) promote_buckets(buckets, now);
    if (!far_.empty()) promote_far(now);
  }
  /// The pipe is busy until `busy_until`. In front of it stands a latch that holds one operation for one
  /// issue slot, so that busy times need not be whole slots: the next operation may issue that much earlier
  /// and starts when the pipe is free.
  void take_pipe(uint32_t pipe, uint64_t busy_until) {
    const uint64_t slot = issue_cycles_.value();
    pipe_free_[pipe] = busy_until > slot ? busy_until - slot : 0;
    const Place place = place_[pipe];
    forget_free(place.scheduler);
    busy_[place.scheduler] |= uint64_t{1} << place.bit;
  }
  /// Which gates are closed: gate_bit()s.
  [[nodiscard]] static constexpr uint8_t gate_bit(Gate gate, bool closed) {
    return static_cast<uint8_t>(uint8_t{closed} << gate);
  }
  [[nodiscard]] uint8_t closed_gates() const { return closed_ & static_cast<uint8_t>(~kHeld); }
  void close_gates(uint8_t gates) { closed_ = gates | (closed_ & kHeld); }
  /// Warps whose loads wait, whatever the gates.
  [[nodiscard]] uint64_t held() const { return held_; }
  void hold(uint64_t warps) {
    held_ = warps;
    closed_ = static_cast<uint8_t>((closed_ & ~kHeld) | gate_bit(kOpen, warps != 0));
  }

  [[nodiscard]] uint64_t resident() const { return resident_; }
  [[nodiscard]] uint64_t accepts_from(uint32_t pipe) const { return pipe_free_[pipe]; }
  [[nodiscard]] uint64_t ready_at(uint32_t w) const { return warps_[w].ready_at; }
  [[nodiscard]] StallCause cause(uint32_t w) const { return warps_[w].cause; }
  void set_cause(uint32_t w, StallCause cause) { warps_[w].cause = cause; }
  [[nodiscard]] uint64_t age(uint32_t w) const { return warps_[w].age; }
  [[nodiscard]] bool throttled(uint32_t w) const { return (blocked_by_gates() & bit(w)) != 0; }
  /// Why warp `w`, whose operands are there, does not issue.
  [[nodiscard]] StallCause throttle(uint32_t w) const {
    if (!throttled(w)) return StallCause::kPipeBusy;
    return warps_[w].gate == kTexturePath ? StallCause::kTextureThrottle : StallCause::kMemoryThrottle;
  }

  /// Those of `warps`, which scheduler `scheduler` owns, that can issue at `now` (promote() has run).
  [[nodiscard]] uint64_t issuable(uint64_t warps, uint64_t now, uint32_t scheduler = 0) const {
    warps &= ready_;
    if (warps == 0) return 0;
    Pipes busy;
    for_each_busy(scheduler, now, [&](size_t p) { busy.add(on_pipe_[p]); });
    return warps & ~busy.all_of(two_pipes_) & ~blocked_by_gates();
  }
  /// Earliest issue slot's cycle, not before that of the slot `from`, in which one of `warps`, which
  /// scheduler `scheduler` owns, can issue unless an event comes first; kUnknownCycle: only after an event.
  [[nodiscard]] uint64_t next_issuable(uint64_t warps, uint64_t from, uint32_t scheduler = 0) const {
    const uint64_t able = warps & ~blocked_by_gates();
    const uint64_t earliest = next_of(able & ready_, from, scheduler);
    return earliest == from ? from : next_of_waiting(able, from, earliest, scheduler);
  }

 private:
  static constexpr uint32_t kSlots = 64;  ///< the wheel's reach, in issue slots
  static constexpr size_t kOwn = 32;      ///< bit of a scheduler's first own pipe
  static constexpr uint64_t bit(uint32_t w) { return uint64_t{1} << w; }
  static constexpr uint8_t kHeld = 1u << kOpen;  ///< in closed_: some warp is held
  [[nodiscard]] uint64_t blocked_by_gates() const {
    if (closed_ == 0) return 0;
    uint64_t warps = held_ & on_gate_[kLoads];
    for (uint32_t g = kLoadStoreQueue; g < kNumGates; ++g)
      if ((closed_ >> g & 1) != 0) warps |= on_gate_[g];
    return warps;
  }

  /// Warps that use one of some pipes, and those that use two of them.
  struct Pipes {
    uint64_t once = 0, twice = 0;
    void add(uint64_t warps) {
      twice |= once & warps;
      once |= warps;
    }
    /// Warps that have no other pipe than these; `two`: those that can take either of two.
    [[nodiscard]] uint64_t all_of(uint64_t two) const { return (once & ~two) | twice; }
  };
  /// Calls f for every pipe that `scheduler` can use and that takes no operation at `at`.
  template <typename F>
  void for_each_busy(uint32_t scheduler, uint64_t at, F f) const {
    for (uint64_t bits = busy_[scheduler] | busy_[kMaxSchedulers]; bits != 0; bits &= bits - 1)
      if (const size_t p = pipe_at(scheduler, std::countr_zero(bits)); pipe_free_[p] > at) f(p);
  }
  /// The pipe of a bit in busy_.
  [[nodiscard]] size_t pipe_at(size_t scheduler, int bit) const {
    const auto place = static_cast<size_t>(bit);
    return place < kOwn ? place : shared_pipes_ + scheduler * own_pipes_ + place - kOwn;
  }
  /// Takes out of busy_ what was free when promote() was called.
  void forget_free(size_t scheduler) {
    for (uint64_t bits = busy_[scheduler]; bits != 0; bits &= bits - 1)
      if (pipe_free_[pipe_at(scheduler, std::countr_zero(bits))] <= promoted_)
        busy_[scheduler] &= ~(bits & -bits);
  }

  void promote_buckets(uint64_t buckets, uint64_t now);
  void promote_far(uint64_t now);
  /// First cycle of a slot, not before that of the slot `from`, in which a pipe takes one of `warps`, whose
  /// operands are there.
  [[nodiscard]] uint64_t next_of(uint64_t warps, uint64_t from, uint32_t scheduler) const {
    uint64_t first = kUnknownCycle;
    if (warps == 0) return first;
    Pipes busy;
    for_each_busy(scheduler, from, [&](size_t p) {
      busy.add(on_pipe_[p]);
      if ((warps & on_pipe_[p]) != 0) first = std::min(first, pipe_free_[p]);
    });
    return (warps & ~busy.all_of(two_pipes_)) != 0 ? from : slot_cycle(first);
  }
  [[nodiscard]] uint64_t next_of_waiting(uint64_t warps, uint64_t from, uint64_t earliest,
                                         uint32_t scheduler) const;
  [[nodiscard]] uint64_t next_of_far(uint64_t warps, uint64_t from, uint32_t scheduler) const;
  [[nodiscard]] uint64_t slot_cycle(uint64_t cycle) const {
    return issue_cycles_.up(cycle) * issue_cycles_.value();
  }

  core::Divisor issue_cycles_;
  size_t shared_pipes_, own_pipes_;
  uint64_t resident_ = 0;
  uint64_t ready_ = 0;
  uint64_t two_pipes_ = 0;  ///< warps whose next operation can take either of two
  /// Where a pipe is in busy_: kMaxSchedulers for those that all schedulers share.
  struct Place {
    uint8_t scheduler, bit;
  };
  std::array<Place, kMaxPipes> place_{};
  /// The pipes that may be busy, by scheduler (its own from bit kOwn on) and, last, those of all.
  std::array<uint64_t, kMaxSchedulers + 1> busy_{};
  std::array<uint64_t, kMaxPipes> on_pipe_{};
  std::array<uint64_t, kMaxPipes> pipe_free_{};  ///< cycle from which the pipe's latch takes an operation
  std::array<uint64_t, kNumGates> on_gate_{};
  uint8_t closed_ = 0;
  uint64_t held_ = 0;
  uint64_t next_slot_ = 0;  ///< first issue slot not promoted yet
  uint64_t promoted_ = 0;   ///< the cycle for which promote() did the slot before it
  uint64_t occupied_ = 0;   ///< bit per wheel bucket
  std::array<uint64_t, kSlots> due_{};
  std::vector<std::pair<uint64_t, uint32_t>> far_;  ///< (slot, warp) beyond the wheel's reach, unordered, few
  struct PerWarp {
    uint64_t ready_at = 0, age = 0;
    uint8_t pipe = 0, other_pipe = 0;
    Gate gate = kOpen;
    StallCause cause{};
  };
  std::array<PerWarp, kMaxWarps> warps_{};
};

/// What an SM offers its schedulers.
class WarpTableIf : public virtual sc_core::sc_interface {
 public:
  [[nodiscard]] virtual const WarpTable& warp_table() const = 0;
};

}  // namespace gpusim::comp
