#include "components/sm/warp_tracer.h"

#include <algorithm>

#include "isa/exec/wgmma.h"
#include "simcore/text/input_error.h"

namespace gpusim::comp {

namespace {

uint64_t positive(int64_t value) { return static_cast<uint64_t>(std::max<int64_t>(value, 0)); }

}  // namespace

WarpTracer::WarpTracer(const core::MachineConfig& m, TraceStep step)
    : step_(std::move(step)),
      shared_(shared_memory_rules(m)),
      issue_cycles_(positive(m.scheduler.issue_cycles)),
      issue_width_(positive(m.scheduler.issue_width)),
      schedulers_(positive(m.scheduler.count)),
      texture_cycles_(positive(m.texture.l1_latency)),
      shared_cycles_(positive(m.shared.cycles_per_access)) {
  std::string problem;
  tables_ = build_timing(m, problem);
  if (!problem.empty()) throw core::InputError("gpusim: error: " + problem);
}

void WarpTracer::begin_kernel(const KernelLaunch& run) {
  run_ = &run;
  block_ = 0;
  warps_.assign(run.warps_per_block, Warp());
  const size_t pipes = tables_.shared_pipes + tables_.own_pipes;
  for (Warp& warp : warps_) {
    warp.taken.assign(pipes, 0);
    warp.free_from.assign(pipes, 0);
    warp.ready.assign(run.image->num_rows + run.image->num_predicates, 0);
  }
}

void WarpTracer::step(uint32_t w, uint64_t at, TracedStep s) {
  Warp& warp = warps_[w];
  s.launch = run_->id;
  s.run = run_;
  s.block = block_;
  s.warp = w;
  s.cycles = at - warp.last;
  s.own = warp.slots;
  for (size_t pipe = tables_.shared_pipes; pipe < warp.taken.size(); ++pipe)
    s.own = std::max(s.own, warp.taken[pipe]);
  s.work = s.own / schedulers_;
  for (size_t pipe = 0; pipe < tables_.shared_pipes; ++pipe) s.work = std::max(s.work, warp.taken[pipe]);
  std::ranges::fill(warp.taken, 0);
  warp.slots = 0;
  warp.last = at;
  step_(s);
}

uint64_t WarpTracer::wait_for_operands(uint32_t w, const isa::MicroOp& op) {
  Warp& warp = warps_[w];
  uint64_t at = warp.next;
  const auto each = [&op](auto&& f) {
    for (uint32_t i = 0; i < op.num_sb_reads; ++i) f(op.sb_reads[i]);
    for (uint32_t i = 0; i < op.num_sb_writes; ++i) f(op.sb_writes[i]);
  };
  each([&](uint16_t id) {
    if ((warp.ready[id] & kPending) == 0) at = std::max(at, warp.ready[id]);
  });
  each([&](uint16_t id) {
    if ((warp.ready[id] & kPending) == 0) return;
    const auto load = static_cast<uint32_t>(warp.ready[id]);
    warp.ready[id] = 0;
    if (warp.arrived[load]) return;
    warp.arrived[load] = true;
    TracedStep s;
    s.kind = TracedStep::Kind::kWait;
    s.load = load;
    step(w, at, s);
  });
  return at;
}

void WarpTracer::operation(uint32_t w, const isa::MicroOp& op, isa::LaneMask lanes) {
  Warp& warp = warps_[w];
  ++warp.operations;
  uint64_t at = wait_for_operands(w, op);
  const ClassTiming& timing = tables_.of_scheduler[0][op.op_class];
  const int choice = warp.taken[timing.pipe[0]] <= warp.taken[timing.pipe[1]] ? 0 : 1;
  const uint8_t pipe = timing.pipe[choice];
  at = std::max(at, warp.free_from[pipe]);
  warp.issued = at;
  warp.free_from[pipe] = at + timing.interval[choice];
  warp.taken[pipe] += uint64_t{timing.interval[choice]} * TracedStep::kWorkUnits;
  warp.slots += issue_cycles_ * TracedStep::kWorkUnits / issue_width_;
  warp.next = at + (isa::redirects(op.op_class) ? timing.latency
                    : issue_width_ > 1          ? issue_cycles_ / issue_width_
                                                : issue_cycles_);
  uint64_t ready = at + timing.latency;
  if (op.op_class == isa::OpClass::kTexture) ready += texture_cycles_;
  for (uint32_t i = 0; i < op.num_sb_writes; ++i) warp.ready[op.sb_writes[i]] = ready;
  if (lanes.none()) return;
  TracedStep s;
  if (op.kind == isa::OpKind::kBarrier &&
      static_cast<isa::BarrierAction>(op.modifiers) != isa::BarrierAction::kArrive)
    s.kind = TracedStep::Kind::kBarrier;
  else if (op.kind == isa::OpKind::kFence)
    s.kind = TracedStep::Kind::kFence;
  else
    return;
  step(w, at, s);
  warp.next = at + timing.latency;
}

void WarpTracer::delay(Warp& warp, const isa::MicroOp& op, uint64_t cycles) {
  const ClassTiming& timing = tables_.of_scheduler[0][op.op_class];
  warp.taken[timing.pipe[0]] += cycles * TracedStep::kWorkUnits;
  warp.free_from[timing.pipe[0]] += cycles;
  for (uint32_t i = 0; i < op.num_sb_writes; ++i) warp.ready[op.sb_writes[i]] += cycles;
}

void WarpTracer::pass_rounds(Warp& warp, const isa::MicroOp& op, uint32_t rounds, uint64_t delayed) {
  const auto latency = [&](isa::OpClass c) { return uint64_t{tables_.of_scheduler[0][c].latency}; };
  const uint64_t ends = warp.issued + delayed + rounds * round_of_sums(op, latency);
  for (uint32_t i = 0; i < op.num_sb_writes; ++i) warp.ready[op.sb_writes[i]] = ends;
  warp.next = std::max(warp.next, ends);
}

void WarpTracer::shared_access(const isa::WarpContext& context, const isa::MicroOp& op,
                               const isa::MemoryAccess& access, PcStats& at) {
  isa::MemoryAccess own = access;
  if (tables_.of_scheduler[0][op.op_class].queued) own.lanes &= isa::wgmma_share(op, context);
  if (own.lanes.none()) return;
  Warp& warp = warps_[context.warp_in_block];
  const auto [cost, rounds] = shared_operation_cost(shared_, op, own);
  at.transactions += cost.steps;
  at.replays += cost.replays();
  at.sum_rounds += rounds;
  const uint64_t delayed = cost.steps > 1 ? (cost.steps - 1) * shared_cycles_ : 0;
  if (delayed != 0) delay(warp, op, delayed);
  if (rounds != 0) pass_rounds(warp, op, rounds, delayed);
}

void WarpTracer::access(const isa::WarpContext& context, const isa::MicroOp& op, uint32_t pc,
                        const isa::MemoryAccess& access, PcStats& at) {
  if (access.lanes.none() || op.op_class == isa::OpClass::kTexture) return;
  if (access.space == isa::Space::kShared) return shared_access(context, op, access, at);
  const uint32_t w = context.warp_in_block;
  Warp& warp = warps_[w];
  if (access.space != isa::Space::kGlobal && access.space != isa::Space::kLocal) return;
  TracedStep s;
  s.kind = TracedStep::Kind::kAccess;
  s.op = &op;
  s.pc = pc;
  s.access = &access;
  step(w, warp.issued, s);
  if (op.kind == isa::OpKind::kStore || op.num_sb_writes == 0) return;
  for (uint32_t i = 0; i < op.num_sb_writes; ++i) warp.ready[op.sb_writes[i]] = kPending | warp.loads;
  ++warp.loads;
  warp.arrived.push_back(false);
}

void WarpTracer::end_block(uint64_t block) {
  for (uint32_t w = 0; w < warps_.size(); ++w) {
    Warp& warp = warps_[w];
    TracedStep end;
    end.operations = warp.operations;
    step(w, warp.next, end);
    warp.next = warp.issued = warp.last = warp.operations = 0;
    warp.loads = 0;
    warp.arrived.clear();
    std::ranges::fill(warp.free_from, 0);
    std::ranges::fill(warp.ready, 0);
  }
  block_ = block + 1;
}

}  // namespace gpusim::comp
