// One warp operation of an SM: values at issue, then the timing of its class.
#include <fmt/format.h>

#include <algorithm>

#include "components/sm/sm.h"

namespace gpusim::comp {

using isa::LaneMask;
using isa::MicroOp;
using isa::OpClass;
using isa::OpKind;
using isa::Space;

bool Sm::fetched(uint32_t w, uint64_t earliest, uint64_t now) {
  Warp& warp = warps_[w];
  const uint64_t code = run_->code_address;
  const uint64_t address = code + fetch_->bytes(warp.stack.pc());
  if (fetch_->has(w, address)) return true;
  const bool hit = fetch_->look_up(w, address, code + fetch_->bytes(run_->image->ops.size()), now);
  ++(hit ? stats_->instruction_hits : stats_->instruction_misses);
  if (hit) return true;
  warp.wait = WarpWait::kFetch;
  warp.fetch_from = earliest;
  table_.set_blocked(w);
  return false;
}

void Sm::fetch_rows(const Warp& warp, const MicroOp& op) {
  // Identifiers of predicates lie behind those of registers: what is fetched for them does no harm.
  constexpr size_t kRowBytes = 128, kLine = 64;
  const auto fetch = [&](uint32_t id) {
    const std::byte* const row = warp.context.bank[0] + size_t{id} * kRowBytes;
    __builtin_prefetch(row);
    __builtin_prefetch(row + kLine);
  };
  for (uint32_t i = 0; i < op.num_sb_reads; ++i) fetch(op.sb_reads[i]);
  for (uint32_t i = 0; i < op.num_sb_writes; ++i) fetch(op.sb_writes[i]);
}

void Sm::prepare_next(uint32_t w, uint64_t earliest, uint64_t now) {
  if (fetch_ != nullptr && !fetched(w, earliest, now)) return;
  Warp& warp = warps_[w];
  const MicroOp& op = run_->image->ops[warp.stack.pc()];
  warp.op = &op;
  const ClassTiming& timing = timing_of(warp, op.op_class);
  WarpTable::Gate gate = WarpTable::kOpen;
  if (op.kind == OpKind::kLoad || op.kind == OpKind::kStore || op.kind == OpKind::kAtomic) {
    const Space space = op.memory.space;
    if (lsu_->reads_texture_cache(op))
      gate = WarpTable::kTexturePath;
    else if (space == Space::kGlobal || space == Space::kLocal || space == Space::kGeneric)
      gate = op.kind == OpKind::kLoad ? WarpTable::kLoads : WarpTable::kLoadStoreQueue;
    else if (space == Space::kConst)
      gate = WarpTable::kConstantMisses;
  }
  fetch_rows(warp, op);
  Scoreboard::Wait wait = scoreboard_.wait_of(w, op);
  if (barriers_ != nullptr) wait_for_barriers(w, wait);
  warp.wait = wait.pending ? WarpWait::kMemory : WarpWait::kNone;
  warp.load = wait.load;
  if (wait.pending) lsu_->await(wait.load);
  const uint64_t ready_at = wait.pending ? kUnknownCycle : std::max(wait.cycle, earliest);
  table_.set_next(w, ready_at, wait.cycle >= earliest ? wait.cause : StallCause::kBlockStart, timing.pipe[0],
                  timing.pipe[1], gate, now);
}

void Sm::wait_for_barriers(uint32_t w, Scoreboard::Wait& wait) {
  Warp& warp = warps_[w];
  warp.barrier_waits |= code_of(*warp.op).waits;
  if (wait.pending) {
    // A result of another block of code. When it has come, the rest of its barrier is looked at.
    if (const uint32_t b = barriers_->barrier_of(w, wait.load); b != DependencyBarriers::kMost)
      warp.barrier_waits |= static_cast<uint8_t>(1u << b);
    return;
  }
  if (warp.barrier_waits == 0) return;
  const DependencyBarriers::Wait barrier = barriers_->wait_of(w, warp.barrier_waits);
  if (barrier.pending)
    wait = {true, barrier.load, kUnknownCycle, StallCause::kDram};
  else if (barrier.cycle > wait.cycle)
    wait = {false, 0, barrier.cycle, barrier.cause};
}

void Sm::issue(uint32_t w, uint64_t now) {
  Warp& warp = warps_[w];
  const MicroOp& op = *warp.op;
  const uint32_t pc = warp.stack.pc();
  const LaneMask active = warp.stack.mask();
  const LaneMask lanes = isa::guarded(op, warp.context, active);
  PcStats& at = run_->pc[pc];
  ++at.executed;
  at.active_lanes += static_cast<uint64_t>(lanes.count());
  ++at.slots[static_cast<size_t>(StallCause::kIssued)];
  ++stats_->slots[static_cast<size_t>(StallCause::kIssued)];
  stats_->warp_instructions += op.ptx_count;
  stats_->thread_instructions += uint64_t{op.ptx_count} * static_cast<uint64_t>(active.count());
  stats_->flops += uint64_t{op.flops} * static_cast<uint64_t>(lanes.count());
  ++stats_->inst_executed;
  ++warp.operations;
  ++stats_->inst_issued;
  if (isa::lacks_lanes(op, lanes)) {
    fault(warp, pc, lanes.lowest(), describe_missing_lanes(lanes));
    return;
  }
  warp.barrier_waits = 0;
  if (events_->issue != nullptr) {
    core::IssueEvent e{};
    e.cycle = now;
    e.pc = pc;
    e.lanes = lanes.bits();
    e.sm = static_cast<uint16_t>(index_);
    e.warp = static_cast<uint16_t>(w);
    events_->issue->append(&e);
  }
  switch (op.kind) {
    case OpKind::kAlu:
      execute_alu(warp, w, op, lanes, now);
      break;
    case OpKind::kSync:
      if (!execute_sync(warp, w, op, lanes, now)) return;
      break;
    case OpKind::kLoad:
    case OpKind::kStore:
    case OpKind::kAtomic:
      execute_memory(warp, w, op, lanes, now);
      break;
    case OpKind::kBranch:
      if (!execute_branch(warp, op, lanes, now)) return;
      break;
    case OpKind::kBranchTable:
    case OpKind::kCall:
    case OpKind::kReturn:
      if (!execute_transfer(warp, op, lanes, now)) return;
      break;
    case OpKind::kBarrier:
      execute_barrier(warp, w, op, lanes, now);
      return;
    case OpKind::kExit:
      execute_exit(warp, w, lanes, now);
      return;
    case OpKind::kFence:
      execute_fence(warp, w, op, now);
      return;
    case OpKind::kTrap:
      if (lanes.any()) {
        fault(warp, pc, lanes.lowest(), describe_trap(op, warp.context, lanes.lowest(), *env_.memory));
        return;
      }
      [[fallthrough]];
    case OpKind::kNop:
      take_pipe(timing_of(warp, op.op_class), now, 0);
      warp.stack.advance();
      break;
  }
  const bool resolve = op.op_class == OpClass::kBranch;
  // With dual issue the next operation may follow in this slot.
  uint64_t next = issue_width_ == 1 ? issue_cycles_ : 0;
  if (resolve) next = timing_of(warp, op.op_class).latency;
  const uint64_t stall = barriers_ == nullptr ? 0 : code_of(op).stall;
  prepare_next(w, now + std::max(next, stall), now);
  if (stall > next && warp.wait == WarpWait::kNone && table_.cause(w) == StallCause::kBlockStart)
    table_.set_cause(w, StallCause::kAluDependency);
}

uint64_t Sm::take_pipe(const ClassTiming& timing, uint64_t now, uint64_t extra) {
  const int choice = table_.accepts_from(timing.pipe[0]) <= now ? 0 : 1;
  const uint32_t pipe = timing.pipe[choice];
  const uint64_t start = std::max(now, pipe_busy_until_[pipe]);
  pipe_busy_until_[pipe] = start + timing.interval[choice] + extra;
  table_.take_pipe(pipe, pipe_busy_until_[pipe]);
  return start;
}

void Sm::mark_ready(uint32_t w, const MicroOp& op, uint64_t cycle, StallCause cause) {
  for (uint32_t i = 0; i < op.num_sb_writes; ++i) scoreboard_.set_ready_at(w, op.sb_writes[i], cycle, cause);
  if (barriers_ == nullptr) return;
  if (const uint8_t b = code_of(op).sets; b != ControlCode::kNoBarrier)
    barriers_->set_until(w, b, cycle, cause);
}

void Sm::mark_pending(uint32_t w, const MicroOp& op, uint32_t record) {
  for (uint32_t i = 0; i < op.num_sb_writes; ++i) scoreboard_.set_pending(w, op.sb_writes[i], record);
  ++blocks_[warps_[w].block_slot].loads_in_flight;
  if (barriers_ == nullptr) return;
  if (const uint8_t b = code_of(op).sets; b != ControlCode::kNoBarrier) barriers_->set_by_load(w, b, record);
}

void Sm::execute_alu(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes, uint64_t now) {
  const ClassTiming& timing = timing_of(warp, op.op_class);
  uint64_t extra = 0;
  if (op.folded_load != isa::kNoTarget) {
    const MicroOp& load = run_->image->folded_loads[op.folded_load];
    load.mem(load, warp.context, lanes, access_);
    if (access_.fault != isa::FaultKind::kNone) {
      fault(warp, warp.stack.pc(), access_.fault_lane, describe_fault(load, access_, *env_.memory));
      return;
    }
    if (access_.lanes.any()) {
      const SharedMemoryCost cost = shared_access_cost(shared_rules_, access_);
      const uint32_t replays = cost.replays();
      extra = uint64_t{replays} * static_cast<uint64_t>(env_.machine->shared.cycles_per_access);
      ++stats_->shared_loads;
      stats_->shared_replays += replays;
      stats_->shared_steps += cost.steps;
      stats_->inst_issued += replays;
      PcStats& at = run_->pc[warp.stack.pc()];
      at.transactions += cost.steps;
      at.replays += replays;
    }
  }
  if (!run_->bank_delay.empty()) {
    const uint64_t delay = run_->bank_delay[warp.stack.pc()];
    stats_->register_bank_cycles += delay;
    extra += delay;
  }
  if (op.op_class == OpClass::kSpecial) {
    warp.context.clock = now;
    warp.context.globaltimer_ns = domain().engine().now_fs() / 1'000'000;
  }
  if (lanes.any()) op.exec(op, warp.context, lanes);
  const uint64_t start = take_pipe(timing, now, extra);
  mark_ready(w, op, start + timing.latency + extra, StallCause::kAluDependency);
  warp.stack.advance();
}

void Sm::execute_memory(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes, uint64_t now) {
  const uint32_t pc = warp.stack.pc();
  access_.lanes = LaneMask();
  access_.fault = isa::FaultKind::kNone;
  if (lanes.any()) op.mem(op, warp.context, lanes, access_);
  if (access_.fault != isa::FaultKind::kNone) {
    fault(warp, pc, access_.fault_lane, describe_fault(op, access_, *env_.memory));
    return;
  }
  const ClassTiming& timing = timing_of(warp, op.op_class);
  if (access_.lanes.none()) {
    take_pipe(timing, now, 0);
    mark_ready(w, op, now + issue_cycles_, StallCause::kAluDependency);
    warp.stack.advance();
    return;
  }
  switch (access_.space) {
    case Space::kShared:
      shared_timing(w, op, now);
      break;
    case Space::kConst:
      constant_timing(w, op, now);
      break;
    case Space::kParam:
      mark_ready(w, op, take_pipe(timing, now, 0) + timing.latency, StallCause::kAluDependency);
      break;
    default:
      global_timing(w, op, now);
      break;
  }
  warp.stack.advance();
}

void Sm::shared_timing(uint32_t w, const MicroOp& op, uint64_t now) {
  const ClassTiming& timing = timing_of(warps_[w], op.op_class);
  const auto step_cycles = static_cast<uint64_t>(env_.machine->shared.cycles_per_access);
  SharedMemoryCost cost = shared_access_cost(shared_rules_, access_);
  if (op.kind == OpKind::kAtomic) cost.steps *= shared_atomic_rounds(access_);
  const uint32_t replays = cost.replays();
  uint64_t extra = replays * step_cycles;
  // Wide words take more than the class's interval even without conflicts.
  if (cost.least * step_cycles > timing.interval[0]) extra += cost.least * step_cycles - timing.interval[0];
  const uint64_t start = take_pipe(timing, now, extra);
  mark_ready(w, op, start + timing.latency + extra, StallCause::kSharedMemory);
  (op.kind == OpKind::kLoad ? stats_->shared_loads : stats_->shared_stores) += 1;
  stats_->shared_replays += replays;
  stats_->shared_steps += cost.steps;
  stats_->inst_issued += replays;
  PcStats& at = run_->pc[warps_[w].stack.pc()];
  at.transactions += cost.steps;
  at.replays += replays;
  at.requested_bytes += uint64_t{access_.bytes} * static_cast<uint64_t>(access_.lanes.count());
}

void Sm::constant_timing(uint32_t w, const MicroOp& op, uint64_t now) {
  const ClassTiming& timing = timing_of(warps_[w], op.op_class);
  uint32_t distinct = 1;
  const uint32_t record = lsu_->submit_constant(op, w, warps_[w].stack.pc(), access_, distinct, now);
  // One address a step: further addresses of the warp are replays.
  const uint64_t extra = uint64_t{distinct - 1} * timing.interval[0];
  const uint64_t start = take_pipe(timing, now, extra);
  ++stats_->constant_loads;
  stats_->inst_issued += distinct - 1;
  PcStats& at = run_->pc[warps_[w].stack.pc()];
  at.replays += distinct - 1;
  at.transactions += distinct;
  if (record == LoadStoreUnit::kHit) {
    ++stats_->constant_hits;
    mark_ready(w, op, start + timing.latency + extra, StallCause::kConstantL1);
    return;
  }
  mark_pending(w, op, record);
}

void Sm::global_timing(uint32_t w, const MicroOp& op, uint64_t now) {
  const uint32_t lanes = static_cast<uint32_t>(access_.lanes.count());
  const bool local = access_.space == Space::kLocal;
  if (local) {
    // Local memory is interleaved so that equal offsets of a warp's lanes are neighbours (CUDA C Programming
    // Guide, local memory): element k of lane l lies at (k * 32 + l) elements of the warp's region.
    const uint64_t region = env_.local_memory_base * (1 + run_->slot) +
                            (uint64_t{index_} * kMaxWarps + w) * run_->image->local_bytes * isa::kWarpSize;
    for (uint32_t bits = access_.lanes.bits(); bits != 0; bits &= bits - 1) {
      const int lane = std::countr_zero(bits);
      access_.address[lane] = region + access_.address[lane] * isa::kWarpSize +
                              uint64_t{access_.bytes} * static_cast<uint32_t>(lane);
    }
  }
  const bool atomic = op.kind == OpKind::kAtomic;
  const uint32_t pc = warps_[w].stack.pc();
  const uint32_t index = lsu_->submit(op, w, pc, access_, atomic, now);
  const AccessRecord& r = lsu_->record(index);
  take_pipe(timing_of(warps_[w], op.op_class), now, 0);
  PcStats& at = run_->pc[pc];
  const uint64_t requested = uint64_t{access_.bytes} * lanes;
  at.transactions += r.transactions;
  at.requested_bytes += requested;
  at.transferred_bytes += r.bytes;
  if (op.kind == OpKind::kStore) {
    (local ? stats_->local_stores : stats_->global_stores) += 1;
    stats_->store_transactions += r.transactions;
    stats_->store_bytes += r.bytes;
    stats_->requested_store_bytes += requested;
    return;
  }
  if (op.op_class == OpClass::kTexture) {
    ++stats_->texture_loads;
    stats_->texture_transactions += r.transactions;
  } else {
    (atomic ? stats_->atomics : local ? stats_->local_loads : stats_->global_loads) += 1;
    stats_->load_transactions += r.transactions;
    stats_->load_bytes += r.bytes;
    stats_->requested_load_bytes += requested;
  }
  if (r.is_store) return;
  mark_pending(w, op, index);
}

void Sm::fault(const Warp& warp, uint32_t pc, int lane, const std::string& what) {
  const Block& block = blocks_[warp.block_slot];
  table_.set_blocked(static_cast<uint32_t>(&warp - warps_.data()));
  env_.on_error(fmt::format(
      "{}: {}", describe_location(*run_, pc, block.index, warp.context.warp_in_block, lane), what));
}

}  // namespace gpusim::comp
