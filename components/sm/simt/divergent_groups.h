// Independent thread scheduling (compute capability 7 and later): lanes of a warp that stand at a barrier, at
// a .sync operation or in a loop that waits for memory leave the warp to its other lanes. Each group of lanes
// keeps a SIMT stack of its own; the warp runs one group at a time, and groups that come to the same place
// join again. As long as nobody has to wait, lanes that diverge join at the immediate post-dominator as on
// older machines. The CUDA C++ Programming Guide promises progress and leaves the schedule open; the schedule
// here is a function of the program alone, of no time. Plain class.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "components/sm/simt/simt_stack.h"
#include "isa/exec/executor.h"

namespace gpusim::comp {

class DivergentGroups {
 public:
  void reset() {
    groups_.clear();
    released_ = false;
  }
  /// True if all lanes of the warp are in its current stack.
  [[nodiscard]] bool empty() const { return groups_.empty(); }
  /// Live lanes that are not in the current stack.
  [[nodiscard]] isa::LaneMask apart() const;

  /// The lanes on top of `current` let the others of the warp go on: those below them on the stack, else the
  /// group that has waited longest.
  void yield(const isa::MicroOp* ops, const isa::WarpContext& context, SimtStack& current);

  /// `lanes` of those on top of `current` wait at barrier `number`; the rest of the top (its guard was false)
  /// goes on behind it, then the lanes below, then another group. `current` is done() if none can run.
  void wait_at_barrier(SimtStack& current, isa::LaneMask lanes, uint32_t number);
  /// Calls fn(pc, lanes) for each group that waits there, which then may go on.
  template <class Fn>
  void release(uint32_t number, Fn fn) {
    for (Group& g : groups_) {
      if (g.state != State::kAtBarrier || g.barrier != number) continue;
      fn(g.stack.pc(), g.stack.mask());
      g.stack.advance();
      g.state = State::kReady;
    }
  }

  /// `lanes` on top of `current` have come to a kSync operation. Returns the lanes that execute it now, all
  /// together; the others wait. `current` has moved on: behind the operation or to lanes below; done() if
  /// none can run.
  [[nodiscard]] isa::LaneMask meet(const isa::MicroOp* ops, const isa::WarpContext& context,
                                   isa::LaneMask lanes, SimtStack& current);

  /// `current` is done(): takes a group that can run, and all that stand at its place. False if none can.
  /// Lanes whose members all wait at .sync operations, but at different ones, go on each by themselves: PTX
  /// leaves open what they find, hardware counts who has come and not where, and programs with member masks
  /// that are too large rest on it.
  bool next(const isa::MicroOp* ops, const isa::WarpContext& context, SimtStack& current);

  /// True if next() would find a group.
  [[nodiscard]] bool any_can_run(const isa::MicroOp* ops, const isa::WarpContext& context) const {
    return std::any_of(groups_.begin(), groups_.end(),
                       [&](const Group& g) { return can_run(ops, context, g); });
  }

  /// Some group waits at barrier `number`.
  [[nodiscard]] bool wait_at(uint32_t number) const {
    return std::any_of(groups_.begin(), groups_.end(),
                       [&](const Group& g) { return g.state == State::kAtBarrier && g.barrier == number; });
  }
  /// For messages: the group that has waited longest; `lanes` is empty if there is none.
  struct Waiting {
    uint32_t pc = isa::kNoTarget;
    isa::LaneMask lanes;
    bool at_sync = false;
  };
  [[nodiscard]] Waiting longest_waiting() const;

 private:
  enum class State : uint8_t { kReady, kAtBarrier, kAtSync, kReleased };
  struct Group {
    SimtStack stack;
    State state = State::kReady;
    uint32_t barrier = 0;
  };
  /// Takes `lanes` out of `current`, whose other lanes on top go on behind the operation.
  void wait(SimtStack& current, isa::LaneMask lanes, State state, uint32_t barrier);
  /// Lanes that wait at the .sync operation `pc` or one that goes with it.
  [[nodiscard]] isa::LaneMask waiting_like(const isa::MicroOp* ops, uint32_t pc) const;
  [[nodiscard]] bool can_run(const isa::MicroOp* ops, const isa::WarpContext& context,
                             const Group& group) const;
  /// Groups that wait for lanes at other .sync operations need not wait any longer. False if there are none.
  bool release_apart(const isa::MicroOp* ops, const isa::WarpContext& context);

  std::vector<Group> groups_;
  bool released_ = false;  ///< the current lanes meet nobody at the .sync operation at which they stand
};

}  // namespace gpusim::comp
