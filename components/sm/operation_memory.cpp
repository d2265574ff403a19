// Loads, stores, atomics and fences: their values at issue, then the timing of the space that they access.
#include <algorithm>
#include <array>

#include "components/sm/operation_issue.h"
#include "isa/exec/wgmma.h"

namespace gpusim::comp {

using isa::OpClass;
using isa::OpKind;
using isa::Space;

namespace {

AsyncCopies::Kind kind_of(const isa::MicroOp& op) {
  return op.num_dst != 0 ? AsyncCopies::Kind::kBulk : AsyncCopies::Kind::kPlain;
}

}  // namespace

void OperationIssue::execute_memory(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes, uint64_t now) {
  isa::MemoryAccess& access = sm_.access;
  access.lanes = access.remote = LaneMask();
  access.fault = isa::FaultKind::kNone;
  if (lanes.any()) {
    op.mem(op, warp.context, lanes, access);
    warp.watch.access(op, warp.context);
  }
  if (access.fault != isa::FaultKind::kNone) {
    sm_.fault(w, warp.stack.pc(), access.fault_lane, describe_fault(op, access, *sm_.env.memory),
              access.fault);
    return;
  }
  const ClassTiming& timing = warp.timing_of(op.op_class);
  if (access.lanes.none()) {
    // A reduction whose warps run out of lanes takes its shared accesses' time in full (measured on a V100);
    // a table in constant memory that is read under predicates may not (constant.idle_loads).
    if (op.memory.space != Space::kConst || sm_.idle_constants) sm_.pipes.take(timing, now);
    mark_ready(w, op, now + sm_.issue_cycles, StallCause::kAluDependency);
    warp.stack.advance();
    return;
  }
  switch (access.space) {
    case Space::kShared:
      shared_timing(warp, w, op, now);
      break;
    case Space::kConst:
      constant_timing(warp, w, op, now);
      break;
    case Space::kParam:
      mark_ready(w, op, sm_.pipes.take(timing, now) + timing.latency, StallCause::kAluDependency);
      break;
    default:
      global_timing(warp, w, op, now);
      break;
  }
  warp.stack.advance();
}

void OperationIssue::shared_timing(Warp& warp, uint32_t w, const MicroOp& op, uint64_t now) {
  const ClassTiming& timing = warp.timing_of(op.op_class);
  isa::MemoryAccess& access = sm_.access;
  if (timing.queued) {
    access.lanes &= isa::wgmma_share(op, warp.context);
    if (access.lanes.none())  // the others of its warpgroup fetch all
      return mark_ready(w, op, now + timing.latency, StallCause::kSharedMemory);
  }
  const LaneMask remote = access.remote, all = access.lanes;
  if (remote.any()) access.lanes = all & ~remote;  // with which the SM's own memory has to do
  SharedOperationCost own;
  if (access.lanes.any()) own = shared_operation_cost(sm_.shared_rules, op, access);
  const SharedMemoryCost& cost = own.cost;
  const uint32_t replays = cost.replays();
  uint64_t extra = replays * sm_.shared_step_cycles;
  // Wide words take more than the class's interval even without conflicts.
  const uint64_t least = cost.least * sm_.shared_step_cycles;
  if (least > timing.interval[0]) extra += least - timing.interval[0];
  access.lanes = all;
  const uint64_t local = extra;
  uint64_t data = 0;
  if (remote.any()) data = remote_timing(warp, op, now, extra);
  const uint64_t start = sm_.pipes.take(timing, now, extra);
  const auto latency = [&](OpClass c) { return uint64_t{warp.timing_of(c).latency}; };
  const uint64_t takes = own.rounds == 0 ? timing.latency : own.rounds * round_of_sums(op, latency);
  if (own.rounds != 0) loop_ends_ = start + takes + local;
  // What goes on with an asynchronous copy need not wait for the bytes.
  const uint64_t ready = op.memory.asynchronous ? start : std::max(start + takes + local, data);
  mark_ready(w, op, ready, StallCause::kSharedMemory);
  if (sm_.barrier_awaits_stores && op.kind != OpKind::kLoad && !op.memory.asynchronous) {
    uint64_t& stored_at = sm_.block_of(warp).stored_at;
    stored_at = std::max(stored_at, ready);
  }
  SmStats& stats = *warp.kernel->stats;
  ++(op.kind == OpKind::kLoad ? stats.shared_loads : stats.shared_stores);
  stats.shared_replays += replays;
  stats.shared_steps += cost.steps;
  stats.inst_issued += replays;
  PcStats& at = warp.at();
  at.transactions += cost.steps;
  at.sum_rounds += own.rounds;
  at.replays += replays;
  at.requested_bytes += uint64_t{access.bytes} * access.lanes.count();
}

uint64_t OperationIssue::remote_timing(Warp& warp, const MicroOp& op, uint64_t start, uint64_t& extra) {
  // What a warp sends to another SM are the 32-byte sectors that it means there, each lane's of an atomic
  // operation; they leave one after another, and an SM takes them one after another.
  constexpr uint32_t kSector = 32;
  const isa::MemoryAccess& access = sm_.access;
  const auto& rules = sm_.env.machine->clusters;
  const uint64_t each = (kSector + rules.bytes_per_cycle - 1) / rules.bytes_per_cycle;
  const Cluster& cluster = *sm_.block_of(warp).control.cluster;
  uint64_t leaves = start, data = start;
  uint32_t packets = 0;
  for (LaneMask left = access.remote; left.any();) {
    const uint32_t rank = access.rank[left.lowest()];
    std::array<uint64_t, 2 * isa::kWarpSize> sectors;  // that differ, of this block
    uint32_t count = 0;
    LaneMask there;
    for (const uint32_t lane : core::Bits(left.bits())) {
      if (access.rank[lane] != rank) continue;
      there |= LaneMask(uint32_t{1} << lane);
      const uint64_t first = access.address[lane] / kSector;
      const uint64_t last = (access.address[lane] + access.bytes - 1) / kSector;
      for (uint64_t s = first; s <= last; ++s)
        if (op.kind == OpKind::kAtomic ||
            std::find(sectors.begin(), sectors.begin() + count, s) == sectors.begin() + count)
          sectors[count++] = s;
    }
    left &= ~there;
    packets += count;
    const uint32_t sm = cluster.places[rank].sm;
    if (sm == sm_.index) {  // on this SM: no way, and its own memory takes them
      leaves += count * sm_.shared_step_cycles;
      data = std::max(data, leaves + warp.timing_of(op.op_class).latency);
      continue;
    }
    uint64_t& port = (*sm_.env.shared_ports)[sm];
    leaves = std::max(leaves, port) + count * each;
    port = leaves;
    data = std::max(data, leaves - each + rules.latency);
  }
  const uint64_t interval = warp.timing_of(op.op_class).interval[0];
  if (leaves - start > interval) extra += leaves - start - interval;
  warp.remote_until = std::max(warp.remote_until, data);
  SmStats& stats = *warp.kernel->stats;
  ++stats.remote_shared;
  stats.remote_shared_packets += packets;
  return data;
}

void OperationIssue::constant_timing(Warp& warp, uint32_t w, const MicroOp& op, uint64_t now) {
  const ClassTiming& timing = warp.timing_of(op.op_class);
  uint32_t distinct = 1;
  const uint32_t record = sm_.lsu->submit_constant(op, w, warp.stack.pc(), sm_.access, distinct, now);
  // One address a step: further addresses of the warp are replays.
  const uint64_t extra = uint64_t{distinct - 1} * timing.interval[0];
  const uint64_t start = sm_.pipes.take(timing, now, extra);
  SmStats& stats = *warp.kernel->stats;
  ++stats.constant_loads;
  stats.inst_issued += distinct - 1;
  PcStats& at = warp.at();
  at.replays += distinct - 1;
  at.transactions += distinct;
  if (record == LoadStoreUnit::kHit) {
    ++stats.constant_hits;
    mark_ready(w, op, start + timing.latency + extra, StallCause::kConstantL1);
    return;
  }
  mark_pending(w, op, record);
}

void OperationIssue::place_local_access(const Warp& warp, uint32_t w) const {
  // Local memory is interleaved so that equal offsets of a warp's lanes are neighbours (CUDA C Programming
  // Guide, local memory): element k of lane l lies at (k * 32 + l) elements of the warp's region.
  const KernelLaunch& run = *warp.kernel->run;
  const uint64_t region = sm_.env.local_memory_base * (1 + run.slot) +
                          (uint64_t{sm_.index} * kMaxWarps + w) * run.image->local_bytes * isa::kWarpSize;
  for (const uint32_t lane : core::Bits(sm_.access.lanes.bits()))
    sm_.access.address[lane] =
        region + sm_.access.address[lane] * isa::kWarpSize + uint64_t{sm_.access.bytes} * lane;
}

void OperationIssue::global_timing(Warp& warp, uint32_t w, const MicroOp& op, uint64_t now) {
  const isa::MemoryAccess& access = sm_.access;
  const bool local = access.space == Space::kLocal;
  if (local) place_local_access(warp, w);
  const bool atomic = op.kind == OpKind::kAtomic;
  const uint32_t index = sm_.lsu->submit(op, w, warp.stack.pc(), access, atomic, now);
  const AccessRecord& r = sm_.lsu->record(index);
  if (op.memory.asynchronous) sm_.copies.begin(w, index, kind_of(op), access.arrival);
  sm_.pipes.take(warp.timing_of(op.op_class), now);
  PcStats& at = warp.at();
  SmStats& stats = *warp.kernel->stats;
  const uint64_t requested = uint64_t{access.bytes} * access.lanes.count();
  at.transactions += r.transactions;
  at.requested_bytes += requested;
  at.transferred_bytes += r.bytes;
  at.atomic_words += r.atomic_words;
  if (op.kind == OpKind::kStore) {
    ++(local ? stats.local_stores : stats.global_stores);
    stats.store_transactions += r.transactions;
    stats.store_bytes += r.bytes;
    stats.requested_store_bytes += requested;
    return;
  }
  if (op.op_class == OpClass::kTexture) {
    ++stats.texture_loads;
    stats.texture_transactions += r.transactions;
  } else {
    ++(atomic ? stats.atomics : local ? stats.local_loads : stats.global_loads);
    stats.load_transactions += r.transactions;
    stats.load_bytes += r.bytes;
    stats.requested_load_bytes += requested;
  }
  if (!r.is_store) mark_pending(w, op, index);
}

void OperationIssue::execute_fence(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes, uint64_t now) {
  const ClassTiming& timing = warp.timing_of(op.op_class);
  sm_.pipes.take(timing, now);
  warp.stack.advance();
  if (op.imm == isa::kCommitsMatrices) {
    warp.matrices.commit();
    return front_end_.prepare(w, now + sm_.issue_cycles, now);
  }
  if (op.imm == isa::kSleeps) return execute_sleep(warp, w, op, lanes, now);
  if (op.imm != 0) return execute_copy_group(warp, w, op, now);
  warp.fence_until = std::max(now + timing.latency, warp.remote_until);
  if (sm_.lsu->outstanding_stores(w) == 0)
    return front_end_.prepare(w, warp.fence_until, StallCause::kFence, now);
  warp.wait = WarpWait::kFence;
  sm_.table.set_blocked(w);
}

/// The lanes of a warp wake together, when the last of them would.
void OperationIssue::execute_sleep(const Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes,
                                   uint64_t now) {
  const auto* const duration = reinterpret_cast<const uint32_t*>(warp.context.row(op.src[0]));
  uint32_t ns = 0;
  for (int lane = 0; lane < isa::kWarpSize; ++lane)
    if (lanes.test(lane)) ns = std::max(ns, duration[lane]);
  const uint64_t cycles = sm_.domain.cycles_of_ns(std::min(ns, isa::kMostSleepNs));
  front_end_.prepare(w, now + std::max<uint64_t>(cycles, sm_.issue_cycles), StallCause::kFence, now);
}

/// cp.async.commit_group and that of bulk copies, or a wait for copies.
void OperationIssue::execute_copy_group(Warp& warp, uint32_t w, const MicroOp& op, uint64_t now) {
  const auto groups = static_cast<uint32_t>(op.imm);
  const bool commits = (op.imm & isa::kAsyncCommit) != 0, remote = op.imm == isa::kAsyncRemote;
  if (commits)
    sm_.copies.commit(w,
                      (groups & isa::kAsyncBulk) != 0 ? AsyncCopies::Kind::kBulk : AsyncCopies::Kind::kPlain);
  if (commits || remote || sm_.copies.are_done(w, groups)) {
    const uint64_t next = now + std::max<uint64_t>(sm_.issue_cycles, warp.timing_of(op.op_class).latency);
    front_end_.prepare(w, remote ? std::max(next, warp.remote_until) : next, now);
    return;
  }
  warp.load = groups;
  warp.wait = WarpWait::kCopies;
  sm_.table.set_blocked(w);
}

void OperationIssue::complete_access(uint32_t index, uint64_t now) {
  const AccessRecord& r = sm_.lsu->record(index);
  const uint32_t w = r.warp;
  Warp& warp = sm_.warps[w];
  emit_access(r, now);
  if (r.is_store) {
    if (r.op->memory.asynchronous) isa::complete_arrival(warp.context, sm_.copies.end(w, index));
    const bool copies_done = warp.wait == WarpWait::kCopies && sm_.copies.are_done(w, warp.load);
    if (copies_done) {
      slots_.settle(warp.scheduler, now);
      warp.wait = WarpWait::kNone;
      front_end_.prepare(w, now, now);
    } else if (warp.wait == WarpWait::kFence && sm_.lsu->outstanding_stores(w) == 0) {
      slots_.settle(warp.scheduler, now);
      warp.wait = WarpWait::kNone;
      front_end_.prepare(w, std::max(now, warp.fence_until), StallCause::kFence, now);
    }
    return;
  }
  const StallCause cause = cause_of(r.level);
  sm_.dependences.complete(w, *r.op, index, now, cause);
  if (warp.wait == WarpWait::kMemory && warp.load == index) {
    slots_.settle(warp.scheduler, now);
    slots_.book_access(w, index, cause);
    front_end_.prepare(w, now, now);
  }
  blocks_.load_ends(warp.block_slot, now);
}

inline void OperationIssue::emit_access(const AccessRecord& r, uint64_t now) {
  core::EventTable<core::MemoryEvent>* const table = blocks_.kernel(r.kernel).events->memory;
  if (table == nullptr) return;
  table->append({.issue = r.issued,
                 .complete = std::min(now, r.done_at.count()),
                 .address = r.first_address,
                 .block = sm_.block_of(sm_.warps[r.warp]).index,
                 .pc = r.pc,
                 .bytes = r.bytes,
                 .sm = sm_.index,
                 .warp = r.warp,
                 .transactions = r.transactions,
                 .level = r.level,
                 .kind = r.op->kind == OpKind::kAtomic  ? core::AccessKind::kAtomic
                         : r.op->kind == OpKind::kStore ? core::AccessKind::kStore
                                                        : core::AccessKind::kLoad});
}

}  // namespace gpusim::comp
