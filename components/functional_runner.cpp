#include "components/functional_runner.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "components/control_transfer.h"

namespace gpusim::comp {

using isa::LaneMask;
using isa::MicroOp;
using isa::OpKind;

namespace {
constexpr size_t kRowBytes = 128;
std::byte* aligned(size_t bytes) {
  return static_cast<std::byte*>(std::aligned_alloc(kRowBytes, (bytes / kRowBytes + 1) * kRowBytes));
}
}  // namespace

void FunctionalRunner::Free::operator()(std::byte* p) const { std::free(p); }

FunctionalRunner::Outcome FunctionalRunner::run(KernelRun& run) {
  prepare(run);
  operations_ = 0;
  for (uint64_t block = 0; block < run.num_blocks; ++block) {
    if (!run_block(run, block)) return deadlock_ ? Outcome::kDeadlock : Outcome::kError;
    if (interrupted_()) return Outcome::kInterrupted;
  }
  return Outcome::kDone;
}

void FunctionalRunner::prepare(KernelRun& run) {
  const isa::KernelImage& image = *run.image;
  warps_.resize(run.warps_per_block);
  registers_.reset(aligned(size_t{image.num_rows} * kRowBytes * run.warps_per_block));
  shared_.reset(aligned(run.shared_bytes));
  local_.reset(aligned(size_t{image.local_bytes} * isa::kWarpSize * run.warps_per_block));
  predicates_.assign(size_t{image.num_predicates} * run.warps_per_block, 0);
  for (uint32_t w = 0; w < run.warps_per_block; ++w) {
    isa::WarpContext& ctx = warps_[w].context;
    ctx = isa::WarpContext{};
    ctx.bank[0] = registers_.get() + size_t{image.num_rows} * kRowBytes * w;
    ctx.bank[1] = const_cast<std::byte*>(image.literals.data());
    ctx.predicates = predicates_.data() + size_t{image.num_predicates} * w;
    ctx.num_sms = 1;
    ctx.warp_slot = w;
    ctx.global = &memory_;
    ctx.shared = shared_.get();
    ctx.shared_bytes = run.shared_bytes;
    ctx.local = local_.get() + size_t{image.local_bytes} * isa::kWarpSize * w;
    ctx.local_bytes = image.local_bytes;
    ctx.params = run.params.data();
    ctx.param_bytes = static_cast<uint32_t>(run.params.size());
  }
}

bool FunctionalRunner::run_block(KernelRun& run, uint64_t block) {
  const isa::KernelImage& image = *run.image;
  if (run.shared_bytes != 0) std::memset(shared_.get(), 0, run.shared_bytes);
  if (image.num_rows != 0)
    std::memset(registers_.get(), 0, size_t{image.num_rows} * kRowBytes * run.warps_per_block);
  std::fill(predicates_.begin(), predicates_.end(), 0u);
  ++run.sm[0].blocks;
  run.sm[0].warps += run.warps_per_block;
  for (uint32_t w = 0; w < run.warps_per_block; ++w) {
    set_thread_indices(run, block, w, warps_[w].context);
    warps_[w].stack.reset(warps_[w].context.existing);
    warps_[w].at_barrier = false;
  }
  if (checker_ == nullptr) return run_warps(run, block);
  checks_ = checker_->begin_block(run, block);
  for (uint32_t w = 0; w < run.warps_per_block; ++w) warps_[w].context.observer = checks_->warp(w);
  if (!run_warps(run, block)) return false;
  checker_->end_block(checks_);
  return true;
}

bool FunctionalRunner::run_warps(KernelRun& run, uint64_t block) {
  for (;;) {
    bool alive = false;
    for (Warp& warp : warps_) {
      if (warp.stack.done() || warp.at_barrier) continue;
      if (run_warp(run, block, warp) == Stop::kError) return false;
    }
    for (const Warp& warp : warps_) alive |= !warp.stack.done();
    if (!alive) return true;
    if (!release_barriers(run, block)) return false;
  }
}

bool FunctionalRunner::release_barriers(KernelRun& run, uint64_t block) {
  // Every live warp stands at a barrier now: each barrier opens if enough threads are there.
  uint32_t live = 0;
  for (const Warp& warp : warps_) live += static_cast<uint32_t>(warp.stack.alive().count());
  bool released = false;
  const Warp* stuck = nullptr;
  for (uint32_t id = 0; id < 16; ++id) {
    uint32_t arrived = 0, slots = 0, wanted = 0;
    for (const Warp& warp : warps_) {
      if (!warp.at_barrier || warp.barrier != id) continue;
      const auto lanes = static_cast<uint32_t>(warp.barrier_lanes.count());
      arrived += lanes;
      slots += warp.barrier_lanes == warp.stack.alive() ? isa::kWarpSize : lanes;
      if (warp.barrier_threads != 0) wanted = warp.barrier_threads;
      stuck = &warp;
    }
    if (arrived == 0 || (wanted != 0 ? slots < wanted : arrived < live)) continue;
    if (checks_ != nullptr) checks_->open(id);
    for (Warp& warp : warps_) {
      if (!warp.at_barrier || warp.barrier != id) continue;
      warp.at_barrier = false;
      warp.stack.advance();
      released = true;
    }
  }
  if (released) return true;
  deadlock_ = true;
  const LaneMask missing = stuck->stack.alive() & ~stuck->barrier_lanes;
  error_ = fmt::format(
      "deadlock: {} waits at a barrier that the block's other threads never reach{}",
      describe_location(run, stuck->stack.pc(), block, stuck->context.warp_in_block,
                        stuck->barrier_lanes.lowest()),
      missing.any() ? fmt::format(" (lanes {:#010x} of its warp diverged around it)", missing.bits()) : "");
  return false;
}

bool FunctionalRunner::step_memory(KernelRun& run, uint64_t block, Warp& warp, const MicroOp& op,
                                   LaneMask lanes) {
  access_.lanes = LaneMask();
  access_.fault = isa::FaultKind::kNone;
  op.mem(op, warp.context, lanes, access_);
  if (access_.fault == isa::FaultKind::kNone) return true;
  error_ = fmt::format(
      "{}: {}",
      describe_location(run, warp.stack.pc(), block, warp.context.warp_in_block, access_.fault_lane),
      describe_fault(op, access_, memory_));
  return false;
}

bool FunctionalRunner::step_transfer(KernelRun& run, uint64_t block, Warp& warp, const MicroOp& op,
                                     LaneMask lanes) {
  const uint32_t pc = warp.stack.pc();
  const Transfer t = transfer_control(*run.image, op, warp.context, lanes, warp.stack);
  ++run.sm[0].branches;
  run.sm[0].divergent_branches += t.diverged;
  if (t.fault_lane < 0) return true;
  error_ = fmt::format("{}: {}", describe_location(run, pc, block, warp.context.warp_in_block, t.fault_lane),
                       t.fault);
  return false;
}

FunctionalRunner::Stop FunctionalRunner::run_warp(KernelRun& run, uint64_t block, Warp& warp) {
  const MicroOp* ops = run.image->ops.data();
  SmStats& stats = run.sm[0];
  SimtStack& stack = warp.stack;
  while (!stack.done()) {
    const MicroOp& op = ops[stack.pc()];
    const LaneMask active = stack.mask();
    const LaneMask lanes = isa::guarded(op, warp.context, active);
    PcStats& at = run.pc[stack.pc()];
    ++at.executed;
    at.active_lanes += static_cast<uint64_t>(lanes.count());
    stats.warp_instructions += op.ptx_count;
    stats.thread_instructions += uint64_t{op.ptx_count} * static_cast<uint64_t>(active.count());
    stats.flops += uint64_t{op.flops} * static_cast<uint64_t>(lanes.count());
    ++stats.inst_executed;
    if ((++operations_ & 0xffff) == 0 && (operations_ > max_operations_ || interrupted_())) {
      error_ =
          fmt::format("{}: still running after {} warp operations (--max-cycles)",
                      describe_location(run, stack.pc(), block, warp.context.warp_in_block, active.lowest()),
                      operations_);
      return Stop::kError;
    }
    switch (op.kind) {
      case OpKind::kAlu:
        if (lanes.any()) {
          if (op.folded_load != isa::kNoTarget &&
              !step_memory(run, block, warp, run.image->folded_loads[op.folded_load], lanes))
            return Stop::kError;
          if (op.op_class == isa::OpClass::kSpecial) warp.context.clock = operations_;
          op.exec(op, warp.context, lanes);
        }
        stack.advance();
        break;
      case OpKind::kLoad:
      case OpKind::kStore:
      case OpKind::kAtomic:
        if (lanes.any() && !step_memory(run, block, warp, op, lanes)) return Stop::kError;
        stack.advance();
        break;
      case OpKind::kBranch:
        ++stats.branches;
        stats.divergent_branches += stack.branch(op, lanes);
        break;
      case OpKind::kBranchTable:
      case OpKind::kCall:
      case OpKind::kReturn:
        if (!step_transfer(run, block, warp, op, lanes)) return Stop::kError;
        break;
      case OpKind::kBarrier:
        if (lanes.none()) {
          stack.advance();
          break;
        }
        ++stats.barriers;
        warp.at_barrier = true;
        warp.barrier = static_cast<uint32_t>(op.imm % 16);
        warp.barrier_lanes = lanes;
        warp.barrier_threads = 0;
        if (op.num_src > 0) {
          const std::byte* row = warp.context.bank[static_cast<size_t>(op.src[0].bank)] + op.src[0].offset;
          warp.barrier_threads = reinterpret_cast<const uint32_t*>(row)[lanes.lowest()];
        }
        if (checks_ != nullptr)
          checks_->arrive(warp.context.warp_in_block, op, warp.barrier, warp.barrier_threads, lanes);
        return Stop::kBarrier;
      case OpKind::kExit:
        if (checks_ != nullptr) checks_->exit(warp.context.warp_in_block, lanes);
        stack.exit(lanes);
        break;
      case OpKind::kTrap:
        if (lanes.any()) {
          error_ = describe_location(run, stack.pc(), block, warp.context.warp_in_block, lanes.lowest()) +
                   ": trap";
          return Stop::kError;
        }
        stack.advance();
        break;
      case OpKind::kFence:
      case OpKind::kNop:
        stack.advance();
        break;
    }
  }
  return Stop::kDone;
}

}  // namespace gpusim::comp
