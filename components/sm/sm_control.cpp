// Control flow of one warp operation of an SM: branches, calls, barriers, .sync operations, exit and fences.
#include <algorithm>
#include <bit>

#include "components/checker/checker.h"
#include "components/sm/simt/control_transfer.h"
#include "components/sm/sm.h"

namespace gpusim::comp {

using isa::LaneMask;
using isa::MicroOp;
using isa::OpClass;

bool Sm::execute_branch(Warp& warp, const MicroOp& op, LaneMask lanes, uint64_t now) {
  take_pipe(timing_of(warp, op.op_class), now, 0);
  const uint32_t pc = warp.stack.pc();
  const LaneMask active = warp.stack.mask();
  count_branch(warp, pc, active, lanes, warp.stack.branch(op, lanes), now);
  return op.target > pc || lanes.none() || !warp.watch.lap(pc) || look_at_loop(warp, op.target, pc, now);
}

bool Sm::look_at_loop(Warp& warp, uint32_t first, uint32_t last, uint64_t now) {
  const BlockControl::Loop loop =
      BlockControl::look_at_loop(*run_->image, warp, first, last, independent_, now);
  if (loop != BlockControl::Loop::kRepeats || !env_.nobody_moves || !env_.nobody_moves()) return true;
  const uint64_t block = blocks_[warp.block_slot].index;
  if (env_.checker != nullptr) env_.checker->report_stuck_barriers();
  table_.set_blocked(static_cast<uint32_t>(&warp - warps_.data()));
  env_.on_error(describe_spin(*run_, last, block, warp.context.warp_in_block, warp.stack));
  return false;
}

bool Sm::all_wait(uint64_t& since, uint64_t& until) const {
  since = std::max(since, last_event_);
  for (uint64_t bits = table_.resident(); bits != 0; bits &= bits - 1) {
    const Warp& warp = warps_[static_cast<size_t>(std::countr_zero(bits))];
    if (warp.wait == WarpWait::kBarrier) continue;
    since = std::max(since, warp.watch.unchanged_since());
    until = std::min(until, warp.watch.unchanged_until());
  }
  return since < until;
}

bool Sm::execute_transfer(Warp& warp, const MicroOp& op, LaneMask lanes, uint64_t now) {
  take_pipe(timing_of(warp, op.op_class), now, 0);
  const uint32_t pc = warp.stack.pc();
  const LaneMask active = warp.stack.mask();
  BlockChecks* const checks = blocks_[warp.block_slot].control.checks;
  if (checks != nullptr) checks->transfer(warp.context.warp_in_block, op, warp.context, lanes);
  const Transfer t = transfer_control(*run_->image, op, warp.context, lanes, warp.stack);
  if (t.fault_lane >= 0) {
    fault(warp, pc, t.fault_lane, t.fault);
    return false;
  }
  count_branch(warp, pc, active, lanes, t.diverged, now);
  const uint32_t next = warp.stack.pc();
  const bool loops = op.kind == isa::OpKind::kBranchTable && next <= pc && lanes.any();
  return !loops || !warp.watch.lap(pc) || look_at_loop(warp, next, pc, now);
}

void Sm::count_branch(const Warp& warp, uint32_t pc, LaneMask active, LaneMask taken, bool diverged,
                      uint64_t now) {
  ++stats_->branches;
  stats_->divergent_branches += diverged;
  run_->pc[pc].divergent += diverged;
  if (events_->branch != nullptr) {
    core::BranchEvent e{};
    e.cycle = now;
    e.pc = pc;
    e.active = active.bits();
    e.taken = taken.bits();
    e.sm = static_cast<uint16_t>(index_);
    e.warp = static_cast<uint16_t>(warp.context.warp_slot);
    events_->branch->append(&e);
  }
}

bool Sm::execute_sync(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes, uint64_t now) {
  blocks_[warp.block_slot].control.sync(warp, run_->image->ops.data(), op, lanes);
  const ClassTiming& timing = timing_of(warp, op.op_class);
  mark_ready(w, op, take_pipe(timing, now, 0) + timing.latency, StallCause::kAluDependency);
  return !warp.stack.done() || run_other_lanes(warp, w, now);
}

bool Sm::run_other_lanes(Warp& warp, uint32_t w, uint64_t now) {
  if (warp.groups.next(run_->image->ops.data(), warp.context, warp.stack)) return true;
  last_event_ = now;
  warp.wait = WarpWait::kBarrier;
  table_.set_blocked(w);
  return false;
}

void Sm::execute_barrier(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes, uint64_t now) {
  take_pipe(timing_of(warp, op.op_class), now, 0);
  last_event_ = now;
  if (lanes.none()) {
    warp.stack.advance();
    prepare_next(w, now + issue_cycles_, now);
    return;
  }
  ++stats_->barriers;
  Block& block = blocks_[warp.block_slot];
  const uint32_t pc = warp.stack.pc();
  uint32_t number = 0;
  const std::string error = block.control.arrive(warp, w, op, lanes, independent_, number);
  if (!error.empty()) {
    fault(warp, pc, lanes.lowest(), error);
    return;
  }
  if (warp.at_barrier.any()) {
    warp.wait = WarpWait::kBarrier;
    table_.set_blocked(w);
  } else if (!warp.stack.done() || run_other_lanes(warp, w, now)) {
    prepare_next(w, now + issue_cycles_, now);
  }
  try_release(block, number, now);
}

void Sm::try_release(Block& block, uint32_t number, uint64_t now) {
  const uint64_t at = now + (*env_.timing).of_scheduler[0][static_cast<size_t>(OpClass::kBarrier)].latency;
  const auto warp_at = [this, now](uint32_t w) -> Warp& {
    settle(warps_[w].scheduler, now);
    return warps_[w];
  };
  const auto ended = [this, at](uint32_t w, const MicroOp& op) {
    mark_ready(w, op, at, StallCause::kBarrier);
  };
  const auto goes_on = [this, at, now](uint32_t w) {
    prepare_next(w, at, now);
    if (warps_[w].wait == WarpWait::kNone && table_.cause(w) == StallCause::kBlockStart)
      table_.set_cause(w, StallCause::kBarrier);
  };
  if (block.control.release(run_->image->ops.data(), number, warp_at, ended, goes_on)) end_phase(block, now);
}

void Sm::execute_exit(Warp& warp, uint32_t w, LaneMask lanes, uint64_t now) {
  take_pipe(timing_of(warp, OpClass::kExit), now, 0);
  last_event_ = now;
  Block& block = blocks_[warp.block_slot];
  block.control.exit(warp, lanes);
  if (warp.stack.done() && warp.groups.empty()) {
    remove_warp(w, now);
    --block.live_warps;
    if (block.loads_in_flight != 0) lsu_->await_all(w);
  } else if (!warp.stack.done() || run_other_lanes(warp, w, now)) {
    prepare_next(w, now + issue_cycles_, now);
  }
  if (lanes.any()) block.control.leave(warp, w, [&](uint32_t number) { try_release(block, number, now); });
  if (block.live_warps != 0) return;
  if (block.loads_in_flight == 0)
    finish_block(warp.block_slot, now);
  else
    ++ending_blocks_;
}

void Sm::execute_fence(Warp& warp, uint32_t w, const MicroOp& op, uint64_t now) {
  const ClassTiming& timing = timing_of(warp, op.op_class);
  take_pipe(timing, now, 0);
  warp.stack.advance();
  if (lsu_->outstanding_stores(w) == 0) {
    prepare_next(w, now + timing.latency, now);
    return;
  }
  warp.wait = WarpWait::kFence;
  table_.set_blocked(w);
}

}  // namespace gpusim::comp
