#include "components/sm/simt/divergent_groups.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace gpusim::comp {

using isa::LaneMask;
using isa::MicroOp;

namespace {

bool has_result(const MicroOp& op) { return op.num_dst != 0 || op.pred_dst[0] != isa::kNoPredicate; }

/// bar.warp.sync has no result: lanes may meet at different ones (PTX ISA, "bar.warp.sync").
bool same_meeting(const MicroOp* ops, uint32_t a, uint32_t b) {
  return a == b || (!has_result(ops[a]) && !has_result(ops[b]));
}

/// Those of `lanes` whose member mask names nobody who is absent.
LaneMask complete(const MicroOp& op, const isa::WarpContext& context, LaneMask lanes, LaneMask absent) {
  const isa::RowRef& ref = op.src[op.num_src - 1u];
  const auto* const members = reinterpret_cast<const uint32_t*>(context.row(ref));
  uint32_t complete = 0;
  for (uint32_t bits = lanes.bits(); bits != 0; bits &= bits - 1) {
    if ((members[std::countr_zero(bits)] & absent.bits()) == 0) complete |= bits & -bits;
  }
  return LaneMask(complete);
}

}  // namespace

LaneMask DivergentGroups::apart() const {
  LaneMask lanes;
  for (const Group& g : groups_) lanes |= g.stack.alive();
  return lanes;
}

void DivergentGroups::yield(const MicroOp* ops, const isa::WarpContext& context, SimtStack& current) {
  groups_.push_back({current.split(current.mask()), State::kReady, 0});
  if (current.done()) (void)next(ops, context, current);  // at least the group that yields can run
}

void DivergentGroups::wait(SimtStack& current, LaneMask lanes, State state, uint32_t barrier) {
  const LaneMask others = current.mask() & ~lanes;
  groups_.push_back({current.split(lanes), state, barrier});
  if (others.any()) current.advance();
}

void DivergentGroups::wait_at_barrier(SimtStack& current, LaneMask lanes, uint32_t number) {
  wait(current, lanes, State::kAtBarrier, number);
}

LaneMask DivergentGroups::waiting_like(const MicroOp* ops, uint32_t pc) const {
  LaneMask lanes;
  for (const Group& g : groups_)
    if (g.state == State::kAtSync && same_meeting(ops, pc, g.stack.pc())) lanes |= g.stack.mask();
  return lanes;
}

LaneMask DivergentGroups::meet(const MicroOp* ops, const isa::WarpContext& context, LaneMask lanes,
                               SimtStack& current) {
  if (std::exchange(released_, false)) {
    current.advance();
    return lanes;
  }
  const uint32_t pc = current.pc();
  const LaneMask absent = (current.alive() | apart()) & ~(lanes | waiting_like(ops, pc));
  LaneMask together = complete(ops[pc], context, lanes, absent);
  const LaneMask stay = lanes & ~together;
  if (stay.any())
    wait(current, stay, State::kAtSync, 0);
  else
    current.advance();
  for (size_t i = 0; i < groups_.size(); ++i) {
    SimtStack& waiting = groups_[i].stack;
    if (groups_[i].state != State::kAtSync || !same_meeting(ops, pc, waiting.pc())) continue;
    const LaneMask met = complete(ops[waiting.pc()], context, waiting.mask(), absent);
    if (met.none()) continue;
    together |= met;
    SimtStack stack = waiting.split(met);
    stack.advance();
    const bool joins = !current.done() && current.merge(stack);
    if (!joins) groups_.push_back({std::move(stack), State::kReady, 0});
  }
  std::erase_if(groups_, [](const Group& g) { return g.stack.done(); });
  return together;
}

bool DivergentGroups::can_run(const MicroOp* ops, const isa::WarpContext& context, const Group& group) const {
  if (group.state != State::kAtSync) return group.state != State::kAtBarrier;
  const uint32_t pc = group.stack.pc();
  const LaneMask absent = apart() & ~waiting_like(ops, pc);
  return complete(ops[pc], context, group.stack.mask(), absent).any();
}

bool DivergentGroups::release_apart(const MicroOp* ops, const isa::WarpContext& context) {
  LaneMask absent;
  for (const Group& g : groups_)
    absent |= g.state == State::kAtSync ? g.stack.alive() & ~g.stack.mask() : g.stack.alive();
  bool any = false;
  for (Group& g : groups_) {
    if (g.state != State::kAtSync || ops[g.stack.pc()].whole_warp) continue;
    const LaneMask lanes = g.stack.mask();
    if ((lanes & ~complete(ops[g.stack.pc()], context, lanes, absent)).any()) continue;
    g.state = State::kReleased;
    any = true;
  }
  return any;
}

bool DivergentGroups::next(const MicroOp* ops, const isa::WarpContext& context, SimtStack& current) {
  const auto runnable = [&] {
    return std::find_if(groups_.begin(), groups_.end(),
                        [&](const Group& g) { return can_run(ops, context, g); });
  };
  auto first = runnable();
  if (first == groups_.end() && release_apart(ops, context)) first = runnable();
  if (first == groups_.end()) return false;
  const bool ready = first->state == State::kReady;
  released_ = first->state == State::kReleased;
  current = std::move(first->stack);
  groups_.erase(first);
  if (ready)
    std::erase_if(groups_,
                  [&](const Group& g) { return g.state == State::kReady && current.merge(g.stack); });
  return true;
}

DivergentGroups::Waiting DivergentGroups::longest_waiting() const {
  for (const Group& g : groups_)
    if (g.state != State::kReady) return {g.stack.pc(), g.stack.mask(), g.state == State::kAtSync};
  return {};
}

}  // namespace gpusim::comp
