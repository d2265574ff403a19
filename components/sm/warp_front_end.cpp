#include "components/sm/warp_front_end.h"

#include <algorithm>

namespace gpusim::comp {

namespace {

/// Asks the host's caches for the registers of the warp's next operation: those of all SMs are more than its
/// second level holds.
void fetch_rows(const ResidentWarp& warp, const isa::MicroOp& op) {
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

}  // namespace

bool WarpFrontEnd::fetched(uint32_t w, uint64_t earliest, uint64_t now) {
  ResidentWarp& warp = sm_.warps[w];
  const KernelLaunch& run = *warp.kernel->run;
  InstructionFetch& fetch = *sm_.fetch;
  const uint64_t address = run.code_address + fetch.bytes(warp.stack.pc());
  if (fetch.has(w, address)) return true;
  const bool hit = fetch.look_up(w, address, run.code_address + fetch.bytes(run.image->ops.size()), now);
  SmStats& stats = *warp.kernel->stats;
  ++(hit ? stats.instruction_hits : stats.instruction_misses);
  if (hit) return true;
  warp.wait = WarpWait::kFetch;
  warp.fetch_from = earliest;
  sm_.table.set_blocked(w);
  return false;
}

inline WarpTable::Gate WarpFrontEnd::gate_of(const isa::MicroOp& op) const {
  using isa::OpKind, isa::Space;
  if (op.kind != OpKind::kLoad && op.kind != OpKind::kStore && op.kind != OpKind::kAtomic)
    return WarpTable::kOpen;
  // What cp.async writes is in shared memory, but it waits for global memory.
  const bool copies = op.memory.asynchronous && op.kind == OpKind::kLoad;
  const Space space = copies ? Space::kGlobal : op.memory.space;
  if (sm_.lsu->reads_texture_cache(op)) return WarpTable::kTexturePath;
  if (space == Space::kGlobal || space == Space::kLocal || space == Space::kGeneric)
    return op.kind == OpKind::kLoad ? WarpTable::kLoads : WarpTable::kLoadStoreQueue;
  return space == Space::kConst ? WarpTable::kConstantMisses : WarpTable::kOpen;
}

void WarpFrontEnd::prepare(uint32_t w, uint64_t earliest, uint64_t now) {
  if (sm_.fetch != nullptr && !fetched(w, earliest, now)) return;
  ResidentWarp& warp = sm_.warps[w];
  const ResidentKernel& kernel = *warp.kernel;
  const isa::MicroOp& op = kernel.ops[warp.stack.pc()];
  warp.op = &op;
  const ClassTiming& timing = warp.timing_of(op.op_class);
  const WarpTable::Gate gate = gate_of(op);
  fetch_rows(warp, op);
  const Scoreboard::Wait wait = sm_.dependences.wait_of(w, *kernel.run, op, timing.queued);
  warp.wait = wait.pending ? WarpWait::kMemory : WarpWait::kNone;
  warp.load = wait.load;
  if (wait.pending) sm_.lsu->await(wait.load);
  const uint64_t cycle = wait.cycle - std::min<uint64_t>(timing.ahead, wait.cycle);
  const uint64_t ready_at = wait.pending ? kUnknownCycle : std::max(cycle, earliest);
  sm_.table.set_next(w, ready_at, cycle >= earliest ? wait.cause : StallCause::kBlockStart, timing.pipe[0],
                     timing.pipe[1], gate, now);
}

}  // namespace gpusim::comp
