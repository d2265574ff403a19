// Branches, calls, barriers, .sync operations and exits.
#include <algorithm>

#include "components/checker/checker.h"
#include "components/sm/operation_issue.h"
#include "components/sm/simt/control_transfer.h"
#include "isa/exec/wgmma.h"

namespace gpusim::comp {

using isa::OpClass;

bool OperationIssue::execute_branch(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes, uint64_t now) {
  sm_.pipes.take(warp.timing_of(op.op_class), now);
  const uint32_t pc = warp.stack.pc();
  const LaneMask active = warp.stack.mask();
  count_branch(warp, pc, active, lanes, warp.stack.branch(op, lanes), now);
  if (op.target > pc || lanes.none()) return true;
  const bool may_yield = op.may_wait && sm_.independent && !warp.lanes_are_together();
  return !warp.watch.lap(pc, may_yield) || look_at_loop(warp, w, op.target, pc, now);
}

bool OperationIssue::look_at_loop(Warp& warp, uint32_t w, uint32_t first, uint32_t last, uint64_t now) {
  const KernelLaunch& run = *warp.kernel->run;
  const SmEnvironment& env = sm_.env;
  const BlockControl::Loop loop =
      BlockControl::look_at_loop(*run.image, warp, first, last, sm_.independent, now);
  if (loop != BlockControl::Loop::kRepeats || !env.nobody_moves || !env.nobody_moves()) return true;
  if (env.checker != nullptr) env.checker->report_stuck_barriers();
  sm_.table.set_blocked(w);
  env.on_error({describe_spin(run, last, sm_.block_of(warp).index, warp.context.warp_in_block, warp.stack)});
  return false;
}

bool OperationIssue::execute_transfer(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes,
                                      uint64_t now) {
  sm_.pipes.take(warp.timing_of(op.op_class), now);
  const uint32_t pc = warp.stack.pc();
  const LaneMask active = warp.stack.mask();
  BlockChecks* const checks = sm_.block_of(warp).control.checks;
  if (checks != nullptr) checks->transfer(warp.context.warp_in_block, op, warp.context, lanes);
  const Transfer t = transfer_control(*warp.kernel->run->image, op, warp.context, lanes, warp.stack);
  if (t.fault_lane >= 0) {
    sm_.fault(w, pc, t.fault_lane, t.fault);
    return false;
  }
  count_branch(warp, pc, active, lanes, t.diverged, now);
  const uint32_t next = warp.stack.pc();
  const bool loops = op.kind == isa::OpKind::kBranchTable && next <= pc && lanes.any();
  const bool may_yield = op.may_wait && sm_.independent && !warp.lanes_are_together();
  return !loops || !warp.watch.lap(pc, may_yield) || look_at_loop(warp, w, next, pc, now);
}

void OperationIssue::count_branch(const Warp& warp, uint32_t pc, LaneMask active, LaneMask taken,
                                  bool diverged, uint64_t now) const {
  const ResidentKernel& kernel = *warp.kernel;
  ++kernel.stats->branches;
  kernel.stats->divergent_branches += diverged;
  kernel.at[pc].divergent += diverged;
  if (kernel.events->branch == nullptr) return;
  kernel.events->branch->append({.cycle = now,
                                 .pc = pc,
                                 .active = active.bits(),
                                 .taken = taken.bits(),
                                 .sm = sm_.index,
                                 .warp = warp.context.warp_slot});
}

bool OperationIssue::execute_sync(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes, uint64_t now) {
  sm_.block_of(warp).control.sync(warp, warp.kernel->ops, op, lanes);
  const ClassTiming& timing = warp.timing_of(op.op_class);
  mark_ready(w, op, sm_.pipes.take(timing, now) + timing.latency, StallCause::kAluDependency);
  return !warp.stack.done() || run_other_lanes(warp, w, now);
}

bool OperationIssue::run_other_lanes(Warp& warp, uint32_t w, uint64_t now) {
  if (warp.groups.next(warp.kernel->ops, warp.context, warp.stack)) return true;
  sm_.last_event = now;
  warp.wait = WarpWait::kBarrier;
  sm_.table.set_blocked(w);
  return false;
}

void OperationIssue::execute_barrier(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes,
                                     uint64_t now) {
  sm_.pipes.take(warp.timing_of(op.op_class), now);
  sm_.last_event = now;
  if (lanes.none()) {
    warp.stack.advance();
    front_end_.prepare(w, now + sm_.issue_cycles, now);
    return;
  }
  ++warp.kernel->stats->barriers;
  if (op.modifiers >= static_cast<uint8_t>(isa::BarrierAction::kClusterArrive))
    return execute_cluster_barrier(warp, w, op, lanes, now);
  ResidentBlock& block = sm_.block_of(warp);
  const uint32_t pc = warp.stack.pc();
  uint32_t number = 0;
  const std::string error = block.control.arrive(warp, w, op, lanes, sm_.independent, number);
  if (!error.empty()) {
    sm_.fault(w, pc, lanes.lowest(), error);
    return;
  }
  if (warp.at_barrier.any()) {
    warp.wait = WarpWait::kBarrier;
    sm_.table.set_blocked(w);
  } else if (!warp.stack.done() || run_other_lanes(warp, w, now)) {
    front_end_.prepare(w, now + sm_.issue_cycles, now);
  }
  try_release(block, number, now);
}

void OperationIssue::try_release(ResidentBlock& block, uint32_t number, uint64_t now) {
  const ClassTimings& timings = sm_.env.timing->of_scheduler[0];
  const uint64_t at = std::max(now, block.stored_at) + timings[OpClass::kBarrier].latency;
  const auto warp_at = [this, now](uint32_t w) -> Warp& {
    slots_.settle(sm_.warps[w].scheduler, now);
    return sm_.warps[w];
  };
  const auto ended = [this, at](uint32_t w, const MicroOp& op) {
    mark_ready(w, op, at, StallCause::kBarrier);
  };
  const auto goes_on = [this, at, now](uint32_t w) {
    const Warp& warp = sm_.warps[w];
    const bool waits =
        warp.op->kind == isa::OpKind::kBarrier && (warp.op->imm & isa::kBarrierAfterMatrices) != 0;
    const uint64_t done = waits ? warp.matrices.done_but(warp.op->imm >> isa::kMatrixGroupsShift) : 0;
    front_end_.prepare(w, std::max(at, done), StallCause::kBarrier, now);
  };
  if (block.control.release(block.kernel->ops, number, warp_at, ended, goes_on)) block.end_phase(now);
}

void OperationIssue::execute_cluster_barrier(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes,
                                             uint64_t now) {
  BlockControl& control = sm_.block_of(warp).control;
  const uint32_t pc = warp.stack.pc();
  const char* error = nullptr;
  // An arrival that releases comes when what the warp has stored elsewhere is there.
  const uint64_t time = op.imm == isa::kClusterRelaxed ? now : std::max(now, warp.remote_until);
  uint64_t from = now + sm_.issue_cycles;
  switch (control.at_cluster_barrier(warp, op, lanes, sm_.independent, time, error)) {
    case BlockControl::ClusterStep::kError:
      sm_.fault(w, pc, lanes.lowest(), error);
      return;
    case BlockControl::ClusterStep::kOpened:
      open_cluster(*control.cluster, now);
      break;
    case BlockControl::ClusterStep::kGoesOn:
      if (op.modifiers == static_cast<uint8_t>(isa::BarrierAction::kClusterWait))
        from = std::max(from, control.cluster->opened() + sm_.env.machine->clusters.barrier_latency);
      break;
    case BlockControl::ClusterStep::kWaits:
      if (warp.at_barrier.any()) {
        warp.wait = WarpWait::kBarrier;
        sm_.table.set_blocked(w);
        return;
      }
      if (warp.stack.done() && !run_other_lanes(warp, w, now)) return;
      break;
  }
  front_end_.prepare(w, from, StallCause::kBarrier, now);
}

void OperationIssue::open_cluster(const Cluster& cluster, uint64_t now) const {
  const uint64_t latency = sm_.env.machine->clusters.barrier_latency;
  sm_.env.cluster_opened(cluster, std::max(cluster.opened() + latency, now + 1));
}

void OperationIssue::release_cluster(ResidentBlock& block, uint64_t now) {
  sm_.last_event = now;
  block.control.release_cluster(
      block.kernel->ops, block.warps & sm_.table.resident(),
      [this, now](uint32_t w) -> Warp& {
        slots_.settle(sm_.warps[w].scheduler, now);
        return sm_.warps[w];
      },
      [this, now](uint32_t w) { front_end_.prepare(w, now, StallCause::kBarrier, now); });
}

void OperationIssue::execute_exit(Warp& warp, uint32_t w, LaneMask lanes, uint64_t now) {
  sm_.pipes.take(warp.timing_of(OpClass::kExit), now);
  sm_.last_event = now;
  ResidentBlock& block = sm_.block_of(warp);
  if (block.control.exit(warp, lanes, std::max(now, warp.remote_until)))
    open_cluster(*block.control.cluster, now);
  if (warp.stack.done() && warp.groups.empty())
    blocks_.end_warp(w, now);
  else if (!warp.stack.done() || run_other_lanes(warp, w, now))
    front_end_.prepare(w, now + sm_.issue_cycles, now);
  if (lanes.any()) block.control.leave(warp, w, [&](uint32_t number) { try_release(block, number, now); });
  blocks_.finish_if_done(warp.block_slot, now);
}

}  // namespace gpusim::comp
