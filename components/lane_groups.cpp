#include "components/lane_groups.h"

#include <algorithm>
#include <bit>

namespace gpusim::comp {

using isa::LaneMask;
using isa::MicroOp;
using isa::OpKind;

namespace {

/// bar.warp.sync has no result: lanes may meet at different ones (PTX ISA, "bar.warp.sync").
bool has_result(const MicroOp& op) { return op.num_dst != 0 || op.pred_dst[0] != isa::kNoPredicate; }
bool same_meeting(const MicroOp* ops, uint32_t a, uint32_t b) {
  return a == b || (!has_result(ops[a]) && !has_result(ops[b]));
}

/// Lanes that the member masks of `lanes` name.
LaneMask members(const MicroOp& op, const isa::WarpContext& context, LaneMask lanes) {
  const isa::RowRef& ref = op.src[op.num_src - 1u];
  const auto* const masks =
      reinterpret_cast<const uint32_t*>(context.bank[static_cast<size_t>(ref.bank)] + ref.offset);
  uint32_t named = 0;
  for (uint32_t bits = lanes.bits(); bits != 0; bits &= bits - 1) named |= masks[std::countr_zero(bits)];
  return LaneMask(named);
}

}  // namespace

LaneMask LaneGroups::apart() const {
  LaneMask lanes;
  for (const Group& g : groups_) lanes |= g.stack.alive();
  return lanes;
}

void LaneGroups::yield(const MicroOp* ops, const isa::WarpContext& context, SimtStack& current) {
  groups_.push_back({current.split(current.mask()), State::kReady, 0});
  if (current.done()) (void)next(ops, context, current);  // at least the group that yields can run
}

void LaneGroups::wait(SimtStack& current, LaneMask lanes, State state, uint32_t barrier) {
  const LaneMask others = current.mask() & ~lanes;
  groups_.push_back({current.split(lanes), state, barrier});
  if (others.any()) current.advance();
}

void LaneGroups::wait_at_barrier(SimtStack& current, LaneMask lanes, uint32_t number) {
  wait(current, lanes, State::kAtBarrier, number);
}

LaneGroups::Meeting LaneGroups::meet(const MicroOp* ops, const isa::WarpContext& context, LaneMask lanes,
                                     SimtStack& current) {
  const uint32_t pc = current.pc();
  const LaneMask alive = current.alive() | apart();
  LaneMask there = lanes;
  for (const Group& g : groups_)
    if (g.state == State::kAtSync && same_meeting(ops, pc, g.stack.pc())) there |= g.stack.mask();
  const auto complete = [&](const MicroOp& op, LaneMask of) {
    LaneMask go;
    for (uint32_t bits = of.bits(); bits != 0; bits &= bits - 1) {
      const LaneMask lane(bits & -bits);
      if ((members(op, context, lane) & alive & ~there).none()) go |= lane;
    }
    return go;
  };
  const LaneMask go = complete(ops[pc], lanes);
  LaneMask together = go;
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].state != State::kAtSync || !same_meeting(ops, pc, groups_[i].stack.pc())) continue;
    const LaneMask met = complete(ops[groups_[i].stack.pc()], groups_[i].stack.mask());
    if (met.none()) continue;
    together |= met;
    SimtStack stack = groups_[i].stack.split(met);
    stack.advance();
    if (groups_[i].stack.done())
      groups_[i] = {std::move(stack), State::kReady, 0};
    else
      groups_.push_back({std::move(stack), State::kReady, 0});
  }
  const LaneMask stay = lanes & ~go;
  if (stay.none()) return {together, true};
  wait(current, stay, State::kAtSync, 0);
  return {together, false};
}

bool LaneGroups::all_there(const MicroOp* ops, const isa::WarpContext& context, const Group& group) const {
  const uint32_t pc = group.stack.pc();
  LaneMask there;
  for (const Group& g : groups_)
    if (g.state == State::kAtSync && same_meeting(ops, pc, g.stack.pc())) there |= g.stack.mask();
  const LaneMask alive = apart();
  for (uint32_t bits = group.stack.mask().bits(); bits != 0; bits &= bits - 1)
    if ((members(ops[pc], context, LaneMask(bits & -bits)) & alive & ~there).none()) return true;
  return false;
}

bool LaneGroups::next(const MicroOp* ops, const isa::WarpContext& context, SimtStack& current) {
  const auto first = std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) {
    return g.state == State::kReady || (g.state == State::kAtSync && all_there(ops, context, g));
  });
  if (first == groups_.end()) return false;
  const bool ready = first->state == State::kReady;
  current = std::move(first->stack);
  groups_.erase(first);
  if (ready)
    std::erase_if(groups_,
                  [&](const Group& g) { return g.state == State::kReady && current.merge(g.stack); });
  return true;
}

LaneGroups::Waiting LaneGroups::longest_waiting() const {
  for (const Group& g : groups_)
    if (g.state != State::kReady) return {g.stack.pc(), g.stack.mask(), g.state == State::kAtSync};
  return {};
}

}  // namespace gpusim::comp
