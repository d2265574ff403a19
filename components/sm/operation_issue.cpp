#include "components/sm/operation_issue.h"

#include <algorithm>
#include <array>

#include "components/sm/special_operands.h"

namespace gpusim::comp {

using isa::OpClass;
using isa::OpKind;

namespace {

/// What a warp executes next while it is in a subroutine. About half of those instructions are comparisons
/// and logic, the other half products and what ptxas makes of moves and sums so that they go to that pipe.
isa::MicroOp subroutine_instruction(OpClass op_class) {
  isa::MicroOp op;
  op.op_class = op_class;
  return op;
}
const std::array<isa::MicroOp, 2> kSubroutineInstructions = {subroutine_instruction(OpClass::kInt),
                                                             subroutine_instruction(OpClass::kFp32)};

}  // namespace

inline void OperationIssue::count_issue(Warp& warp, LaneMask active, LaneMask lanes) {
  const MicroOp& op = *warp.op;
  PcStats& at = warp.at();
  SmStats& stats = *warp.kernel->stats;
  ++at.executed;
  at.active_lanes += lanes.count();
  ++at.slots[StallCause::kIssued];
  ++stats.slots[StallCause::kIssued];
  const LaneMask counting = isa::counted(op, active, lanes);
  stats.warp_instructions += counting.any() ? op.ptx_count : 0;
  stats.thread_instructions += uint64_t{op.ptx_count} * counting.count();
  stats.flops += uint64_t{op.flops} * lanes.count();
  ++stats.inst_executed;
  ++warp.operations;
  ++stats.inst_issued;
}

inline void OperationIssue::emit_issue(const Warp& warp, uint32_t w, LaneMask lanes, uint64_t now) const {
  core::EventTable<core::IssueEvent>* const table = warp.kernel->events->issue;
  if (table == nullptr) return;
  table->append({.cycle = now,
                 .pc = warp.stack.pc(),
                 .lanes = lanes.bits(),
                 .sm = sm_.index,
                 .warp = w,
                 .scheduler = warp.scheduler});
}

void OperationIssue::issue(uint32_t w, uint64_t now) {
  Warp& warp = sm_.warps[w];
  if (warp.subroutine.instructions != 0) return continue_subroutine(warp, w, now);
  const MicroOp& op = *warp.op;
  const LaneMask active = warp.stack.mask();
  const LaneMask lanes = isa::guarded(op, warp.context, active);
  count_issue(warp, active, lanes);
  if (isa::lacks_lanes(op, lanes)) {
    sm_.fault(w, warp.stack.pc(), lanes.lowest(), describe_missing_lanes(lanes));
    return;
  }
  sm_.dependences.issued(w);
  emit_issue(warp, w, lanes, now);
  switch (op.kind) {
    case OpKind::kAlu:
      execute_alu(warp, w, op, lanes, now);
      if (op.has_subroutine) return;
      break;
    case OpKind::kSync:
      if (!execute_sync(warp, w, op, lanes, now)) return;
      break;
    case OpKind::kLoad:
    case OpKind::kStore:
      execute_memory(warp, w, op, lanes, now);
      break;
    case OpKind::kAtomic:
      loop_ends_ = 0;
      execute_memory(warp, w, op, lanes, now);
      if (loop_ends_ != 0) return front_end_.prepare(w, loop_ends_, StallCause::kSharedMemory, now);
      break;
    case OpKind::kBranch:
      if (!execute_branch(warp, w, op, lanes, now)) return;
      break;
    case OpKind::kBranchTable:
    case OpKind::kCall:
    case OpKind::kReturn:
      if (!execute_transfer(warp, w, op, lanes, now)) return;
      break;
    case OpKind::kBarrier:
      execute_barrier(warp, w, op, lanes, now);
      return;
    case OpKind::kExit:
      execute_exit(warp, w, lanes, now);
      return;
    case OpKind::kFence:
      execute_fence(warp, w, op, lanes, now);
      return;
    case OpKind::kTrap:
      if (lanes.any()) {
        sm_.fault(w, warp.stack.pc(), lanes.lowest(),
                  describe_trap(op, warp.context, lanes.lowest(), *sm_.env.memory), trap_kind(op));
        return;
      }
      [[fallthrough]];
    case OpKind::kNop:
      sm_.pipes.take(warp.timing_of(op.op_class), now);
      warp.stack.advance();
      break;
  }
  go_on(w, op, now);
}

inline void OperationIssue::go_on(uint32_t w, const MicroOp& op, uint64_t now) {
  const Warp& warp = sm_.warps[w];
  // With dual issue the next operation may follow in this slot.
  uint64_t next = sm_.issue_width == 1 ? sm_.issue_cycles : 0;
  if (isa::redirects(op.op_class)) next = warp.timing_of(op.op_class).latency;
  const uint64_t stall = sm_.dependences.stall_after(*warp.kernel->run, op);
  if (stall <= next)
    front_end_.prepare(w, now + next, now);
  else
    front_end_.prepare(w, now + stall, StallCause::kAluDependency, now);
}

void OperationIssue::mark_pending(uint32_t w, const MicroOp& op, uint32_t record) {
  const Warp& warp = sm_.warps[w];
  sm_.dependences.pending(w, *warp.kernel->run, op, record);
  blocks_.load_starts(warp.block_slot);
}

bool OperationIssue::read_shared_operand(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes,
                                         uint64_t& extra) {
  const MicroOp& load = warp.kernel->run->image->folded_loads[op.folded_load];
  load.mem(load, warp.context, lanes, sm_.access);
  if (sm_.access.fault != isa::FaultKind::kNone) {
    sm_.fault(w, warp.stack.pc(), sm_.access.fault_lane, describe_fault(load, sm_.access, *sm_.env.memory),
              sm_.access.fault);
    return false;
  }
  if (sm_.access.lanes.none()) return true;
  const SharedMemoryCost cost = shared_access_cost(sm_.shared_rules, sm_.access, load.kind);
  const uint32_t replays = cost.replays();
  extra = replays * sm_.shared_step_cycles;
  SmStats& stats = *warp.kernel->stats;
  ++stats.shared_loads;
  stats.shared_replays += replays;
  stats.shared_steps += cost.steps;
  stats.inst_issued += replays;
  PcStats& at = warp.at();
  at.transactions += cost.steps;
  at.replays += replays;
  return true;
}

void OperationIssue::execute_alu(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes, uint64_t now) {
  const ClassTiming& timing = warp.timing_of(op.op_class);
  const ResidentKernel& kernel = *warp.kernel;
  uint64_t extra = 0;
  if (op.folded_load != isa::kNoTarget && !read_shared_operand(warp, w, op, lanes, extra)) return;
  uint64_t fetch = 0;  // the operands are collected before the latency that the compiler knows begins
  if (!kernel.run->bank_delay.empty()) {
    fetch = kernel.run->bank_delay[warp.stack.pc()];
    kernel.stats->register_bank_cycles += fetch;
  }
  if (op.op_class == OpClass::kSpecial) {
    warp.context.clock = now;
    warp.context.globaltimer_ns = sm_.domain.engine().now_fs() / 1'000'000;
  }
  if (timing.ahead != 0) return queue_matrix_step(warp, w, op, lanes, now);
  SubroutineCall call;
  if (op.has_subroutine && lanes.any()) call = subroutine_call(op, warp.context, lanes);
  if (lanes.any()) op.exec(op, warp.context, lanes);
  const uint64_t start = sm_.pipes.take(timing, now, extra + fetch);
  const uint64_t ready = start + timing.latency + extra;
  mark_ready(w, op, ready, StallCause::kAluDependency);
  if (op.has_subroutine) return pass_branch(warp, w, call, ready, now);
  warp.stack.advance();
}

/// What follows stands behind the branch to the subroutine and the place where lanes meet again, so it does
/// not overlap the sequence.
void OperationIssue::pass_branch(Warp& warp, uint32_t w, const SubroutineCall& call, uint64_t ready,
                                 uint64_t now) {
  if (call.instructions != 0) {
    ++warp.kernel->stats->special_operands;
    warp.kernel->stats->subroutine_instructions += call.instructions;
    warp.subroutine = {call.instructions, call.cycles};
    wait_in_subroutine(warp, w, ready, now);
  } else {
    warp.stack.advance();
    front_end_.prepare(w, ready, StallCause::kAluDependency, now);
  }
}

void OperationIssue::continue_subroutine(Warp& warp, uint32_t w, uint64_t now) {
  ++warp.at().slots[StallCause::kIssued];
  ++warp.kernel->stats->slots[StallCause::kIssued];
  sm_.pipes.take(warp.timing_of(warp.op->op_class), now);
  const uint64_t next = now + std::max<uint64_t>(warp.subroutine.next(), sm_.issue_cycles);
  if (warp.subroutine.instructions != 0) return wait_in_subroutine(warp, w, next, now);
  warp.stack.advance();
  front_end_.prepare(w, next, StallCause::kAluDependency, now);
}

void OperationIssue::wait_in_subroutine(Warp& warp, uint32_t w, uint64_t until, uint64_t now) {
  warp.op = &kSubroutineInstructions[warp.subroutine.instructions % kSubroutineInstructions.size()];
  const ClassTiming& timing = warp.timing_of(warp.op->op_class);
  sm_.table.set_next(w, until, StallCause::kAluDependency, timing.pipe[0], timing.pipe[1], WarpTable::kOpen,
                     now);
}

/// A step of wgmma enters the queue of a tensor core, which waits for its operands there.
void OperationIssue::queue_matrix_step(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes,
                                       uint64_t now) {
  const ClassTiming& timing = warp.timing_of(op.op_class);
  const uint64_t ready = std::max(now, sm_.dependences.operands_at(w, op));
  if (lanes.any()) op.exec(op, warp.context, lanes);
  const uint64_t done = sm_.pipes.queue(timing, ready) + timing.latency;
  warp.matrices.queue(done);
  mark_ready(w, op, done, StallCause::kAluDependency);
  warp.stack.advance();
}

}  // namespace gpusim::comp
