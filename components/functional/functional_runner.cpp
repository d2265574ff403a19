#include "components/functional/functional_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "components/checker/checker.h"
#include "components/sm/simt/control_transfer.h"
#include "isa/ptx/opcodes.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::comp {

using isa::LaneMask;
using isa::MicroOp;
using isa::OpKind;

namespace {
constexpr size_t kRowBytes = 128;
constexpr uint8_t kMostHolds = 16;
bool only_compares(const MicroOp& op) {
  return op.kind == OpKind::kAtomic && static_cast<isa::AtomOp>(op.modifiers) == isa::AtomOp::kCas;
}
std::byte* aligned(size_t bytes) {
  return static_cast<std::byte*>(std::aligned_alloc(kRowBytes, (bytes / kRowBytes + 1) * kRowBytes));
}
}  // namespace

void FunctionalRunner::Free::operator()(std::byte* p) const { std::free(p); }

FunctionalRunner::Outcome FunctionalRunner::run(KernelLaunch& run, uint64_t operations) {
  operations_ = clock_skipped_ = clock_read_ = clock_polls_ = last_access_ = 0;
  bind_constant_memory(run, memory_);
  if (tracer_ != nullptr) tracer_->begin_kernel(run);
  next_ = 0;
  unbegun_turns_ = in_vain_ = 0;
  vain_turns_ = 0;
  holds_back_ = true;
  most_waiting_bytes_ = kWaitingBytes;
  rounds_ = idle_rounds_ = 0;
  waiting_.clear();
  run.clusters.clear();
  if (tracer_ != nullptr && run.cluster_blocks() > 1) {
    error_ = fmt::format("kernel '{}': what blocks of a cluster do in turns cannot be traced block by block",
                         core::demangled(run.image->name));
    return Outcome::kError;
  }
  return resume(run, operations);
}

FunctionalRunner::Outcome FunctionalRunner::resume(KernelLaunch& run, uint64_t operations) {
  const uint64_t together = std::max<uint64_t>(run.blocks_together, 1);
  error_.clear();
  deadlock_ = has_moved_ = false;
  pause_at_ = operations_ + operations;
  const uint64_t size = run.cluster_blocks();
  bool fresh = false;  // there is storage that no block needs which waits
  while (next_ < run.num_blocks || !waiting_.empty()) {
    // Those that wait have their turn when no other can begin.
    const bool may_begin = next_ < run.num_blocks && unbegun_turns_ == 0;
    const bool begins = may_begin && size == 1 && waiting_.size() < together && may_wait_more(run);
    if (begins) {
      if (!fresh) prepare(run);
      const uint64_t block = next_++;
      begin_block(run, block, run.has_clusters() ? &run.clusters.begin(1, run.threads_per_block) : nullptr);
    } else {
      if (may_begin && size > 1 && (waiting_.empty() || waiting_.size() + size <= together))
        begin_cluster(run);
      exchange(waiting_.front());
      if (unbegun_turns_ != 0)
        --unbegun_turns_;
      else
        release_stores();
    }
    bool moved = begins || unbegun_turns_ != 0;
    const Turn turn = continue_block(run, waiting_.size() > (begins ? 0 : 1), moved);
    if (turn == Turn::kError) {
      waiting_.clear();
      return deadlock_ ? Outcome::kDeadlock : Outcome::kError;
    }
    in_vain_ = moved || turn == Turn::kDone ? 0 : in_vain_ + 1;
    has_moved_ = has_moved_ || in_vain_ == 0;
    if (in_vain_ != 0 && run.image->has_foreign_stores) note_turn_in_vain();
    if (turn != Turn::kPaused) rounds_ = idle_rounds_ = 0;
    if (turn == Turn::kPaused) {
      // It goes on before others begin, so that no more blocks are under way than without pauses.
      if (begins)
        exchange(waiting_.emplace_front());
      else
        exchange(waiting_.front());
      ++unbegun_turns_;
      fresh = false;
    } else if (turn == Turn::kWaits) {
      if (in_vain_ > waiting_.size() && between_blocks_ && between_blocks_(true)) in_vain_ = 0;
      const bool all_wait = in_vain_ > waiting_.size();
      if (all_wait && waits_for_cluster())
        report_deadlock(run, block_);
      else if (all_wait)
        report_spin(run, block_);
      if (begins) {
        exchange(waiting_.emplace_back());
      } else {
        exchange(waiting_.front());
        waiting_.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
      }
      fresh = false;
      if (all_wait) {
        in_vain_ = 0;
        return Outcome::kDeadlock;
      }
    } else {
      fresh = true;
      if (tracer_ != nullptr) tracer_->end_block(block_);
      if (!begins) waiting_.pop_front();
    }
    if (between_blocks_) static_cast<void>(between_blocks_(false));
    if (interrupted_()) return Outcome::kInterrupted;
    if (operations_ >= pause_at_ && (next_ < run.num_blocks || !waiting_.empty())) return Outcome::kPaused;
  }
  return Outcome::kDone;
}

void FunctionalRunner::begin_cluster(KernelLaunch& run) {
  const uint32_t size = run.cluster_blocks();
  Cluster& cluster = run.clusters.begin(size, run.threads_per_block);
  std::vector<Block> begun;
  begun.reserve(size);
  for (uint32_t rank = 0; rank < size; ++rank) {
    prepare(run);
    begin_block(run, run.block_in_order(next_++), &cluster);
    exchange(begun.emplace_back());
  }
  waiting_.insert(waiting_.begin(), std::make_move_iterator(begun.begin()),
                  std::make_move_iterator(begun.end()));
  unbegun_turns_ = size;
}

void FunctionalRunner::exchange(Block& block) {
  std::swap(block.number, block_);
  block.warps.swap(warps_);
  std::swap(block.control, control_);
  block.registers.swap(registers_);
  block.shared.swap(shared_);
  block.local.swap(local_);
  block.predicates.swap(predicates_);
}

void FunctionalRunner::prepare(KernelLaunch& run) {
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
    ctx.bank[1] = const_cast<std::byte*>(run.literal_rows());
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
    set_thread_indices(run, 0, w, ctx);  // of which only the block's changes from one to the next
  }
}

void FunctionalRunner::begin_block(KernelLaunch& run, uint64_t block, Cluster* cluster) {
  const isa::KernelImage& image = *run.image;
  block_ = block;
  if (run.shared_bytes != 0) std::memset(shared_.get(), 0, run.shared_bytes);
  if (image.num_rows != 0)
    std::memset(registers_.get(), 0, size_t{image.num_rows} * kRowBytes * run.warps_per_block);
  std::fill(predicates_.begin(), predicates_.end(), 0u);
  ++run.sm[0].blocks;
  run.sm[0].warps += run.warps_per_block;
  // What traces a kernel takes block after block.
  const bool holds = holds_back_ && image.has_foreign_stores && tracer_ == nullptr &&
                     run.cluster_blocks() == 1 && run.blocks_together > 1 &&
                     (next_ < run.num_blocks || !waiting_.empty());
  for (uint32_t w = 0; w < run.warps_per_block; ++w) {
    set_block_index(run, block, warps_[w].context);
    Warp& warp = warps_[w];
    warp.stack.reset(warp.context.existing);
    warp.groups.reset();
    warp.watch.reset();
    warp.blocked = warp.side_by_side = warp.will_store = warp.will_store_shared = warp.held = false;
    warp.has_stored = false;
    warp.holds = holds ? kMostHolds : 0;
    warp.at_barrier = LaneMask();
    warp.wait_pc = kNoWait;
    warp.quiet = 0;
  }
  control_.barriers.reset();
  control_.live_threads = run.threads_per_block;
  control_.forget_cluster();
  if (checker_ != nullptr) {
    control_.checks = checker_->begin_block(run, block);
    for (uint32_t w = 0; w < run.warps_per_block; ++w) warps_[w].context.observer = control_.checks->warp(w);
  }
  if (cluster == nullptr) return;
  control_.join_cluster(*cluster, run.rank_of(block), run.warps_per_block, shared_.get());
  for (Warp& warp : warps_) warp.context.cluster = &cluster->memory;
}

FunctionalRunner::Turn FunctionalRunner::continue_block(KernelLaunch& run, bool others_wait, bool& moved) {
  // Turns in which all warps did nothing but repeat an iteration of a loop, or may have waited in several
  // loops at once, until the block waits.
  constexpr uint32_t kIdleRounds = 2;
  // A loop with a barrier in it may wait for other blocks too, so that none has more turns than this in a
  // row. What traces a kernel takes block after block.
  constexpr uint32_t kMostRounds = 4096;
  const auto done = [](const Warp& warp) { return warp.done(); };
  while (!std::all_of(warps_.begin(), warps_.end(), done)) {
    bool moves = false, idle = true, circles = true;
    if (control_.cluster_has_opened()) release_cluster(run);
    some_held_ = holds_stores(warps_);
    if (!run_warps(run, block_, moves, idle, circles)) {
      if (deadlock_ || !error_.empty()) return Turn::kError;
      return Turn::kWaits;  // for other blocks
    }
    moved = moved || moves;
    // What goes round loops may try to take locks that warps have which are held, or blocks that wait.
    const bool others_may_end_it = tracer_ == nullptr && (others_wait || some_held_);
    idle_rounds_ = idle || (circles && others_may_end_it) ? idle_rounds_ + 1 : 0;
    if (idle_rounds_ >= kIdleRounds || (++rounds_ >= kMostRounds && tracer_ == nullptr)) return Turn::kWaits;
    if (moves && operations_ >= pause_at_ && !std::all_of(warps_.begin(), warps_.end(), done))
      return Turn::kPaused;
  }
  if (control_.cluster != nullptr && control_.cluster->end_block(control_.cluster_rank))
    run.clusters.end(*control_.cluster);
  if (checker_ != nullptr) checker_->end_block(control_.checks);
  return Turn::kDone;
}

bool FunctionalRunner::run_warps(KernelLaunch& run, uint64_t block, bool& moved, bool& idle, bool& circles) {
  bool ran = false;
  for (Warp& warp : warps_) {
    if (warp.done() || warp.blocked || warp.held) continue;
    const uint64_t start = operations_;
    const Stop stop = run_warp(run, block, warp);
    if (stop == Stop::kError) return false;
    warp.quiet += operations_ - warp.quiet_from;
    const bool moves = stop != Stop::kSpins || warp.watch.unchanged_since() > start;
    moved = moved || moves;
    idle = idle && (!moves || stop == Stop::kMayWait);
    circles = circles && (stop == Stop::kSpins || stop == Stop::kMayWait || stop == Stop::kCircles);
    ran = true;
  }
  if (!ran && !holds_stores(warps_) && !waits_for_cluster()) report_deadlock(run, block);
  return ran;
}

bool FunctionalRunner::step_memory(KernelLaunch& run, uint64_t block, Warp& warp, const MicroOp& op,
                                   LaneMask lanes) {
  last_access_ = operations_;
  access_.lanes = access_.remote = LaneMask();
  access_.fault = isa::FaultKind::kNone;
  access_.changed_nothing = false;
  op.mem(op, warp.context, lanes, access_);
  warp.watch.access(op, warp.context);
  if (op.kind != OpKind::kLoad && !only_compares(op) && !access_.changed_nothing) {
    warp.quiet = 0;
    warp.quiet_from = operations_;
  }
  if (access_.fault == isa::FaultKind::kNone) {
    const uint32_t pc = warp.stack.pc();
    if (tracer_ != nullptr) tracer_->access(warp.context, op, pc, access_, run.pc[pc]);
    return true;
  }
  error_ = fmt::format(
      "{}: {}",
      describe_location(run, warp.stack.pc(), block, warp.context.warp_in_block, access_.fault_lane),
      describe_fault(op, access_, memory_));
  fault_ = access_.fault;
  return false;
}

FunctionalRunner::Stop FunctionalRunner::step_transfer(KernelLaunch& run, uint64_t block, Warp& warp,
                                                       const MicroOp& op, LaneMask lanes) {
  const uint32_t pc = warp.stack.pc();
  if (control_.checks != nullptr)
    control_.checks->transfer(warp.context.warp_in_block, op, warp.context, lanes);
  const Transfer t = transfer_control(*run.image, op, warp.context, lanes, warp.stack);
  ++run.sm[0].branches;
  run.sm[0].divergent_branches += t.diverged;
  const uint32_t next = warp.stack.pc();
  if (t.fault_lane < 0) {
    const bool loops = op.kind == OpKind::kBranchTable && next <= pc && lanes.any();
    return loops && warp.watch.lap(pc, may_yield(warp, op)) ? look_at_loop(run, warp, next, pc) : Stop::kNone;
  }
  error_ = fmt::format("{}: {}", describe_location(run, pc, block, warp.context.warp_in_block, t.fault_lane),
                       t.fault);
  return Stop::kError;
}

uint64_t FunctionalRunner::read_clock() {
  constexpr uint64_t kLoop = 64, kPolls = 16;
  const bool only_waits = operations_ - clock_read_ <= kLoop && last_access_ <= clock_read_;
  clock_polls_ = only_waits ? clock_polls_ + 1 : 0;
  clock_read_ = operations_;
  if (clock_polls_ > kPolls) clock_skipped_ += clock_polls_ * clock_polls_;
  return operations_ + clock_skipped_;
}

FunctionalRunner::Stop FunctionalRunner::look_at_phase(Warp& warp, uint32_t pc, const MicroOp& op,
                                                       LaneMask lanes, uint64_t operations) const {
  if ((warp.context.predicates[op.pred_dst[0]] & lanes.bits()) != 0) {
    warp.wait_pc = kNoWait;
    return Stop::kNone;
  }
  // A turn that was more than a few instructions of a loop around the test has moved.
  constexpr uint64_t kLoop = 64;
  const bool again = warp.wait_pc == pc && operations <= kLoop;
  warp.wait_pc = pc;
  return again ? Stop::kSpins : Stop::kPaused;
}

FunctionalRunner::Stop FunctionalRunner::run_warp(KernelLaunch& run, uint64_t block, Warp& warp) {
  const MicroOp* ops = run.image->ops.data();
  SmStats& stats = run.sm[0];
  SimtStack& stack = warp.stack;
  warp.looks = 0;
  const uint64_t start = warp.quiet_from = operations_;
  while (!stack.done()) {
    const MicroOp& op = ops[stack.pc()];
    const LaneMask active = stack.mask();
    const LaneMask lanes = isa::guarded(op, warp.context, active);
    if ((warp.side_by_side || warp.will_store || warp.will_store_shared ||
         (op.others_access && warp.holds != 0)) &&
        lanes.any() && lets_others_catch_up(warp, op) && (warps_.size() > 1 || warp.held))
      return Stop::kPaused;
    if (counts_) {
      PcStats& at = run.pc[stack.pc()];
      ++at.executed;
      at.active_lanes += static_cast<uint64_t>(lanes.count());
      const LaneMask counting = isa::counted(op, active, lanes);
      stats.warp_instructions += counting.any() ? op.ptx_count : 0;
      stats.thread_instructions += uint64_t{op.ptx_count} * static_cast<uint64_t>(counting.count());
      stats.flops += uint64_t{op.flops} * static_cast<uint64_t>(lanes.count());
      ++stats.inst_executed;
    }
    if ((++operations_ & 0xffff) == 0 && (operations_ > max_operations_ || interrupted_())) {
      error_ =
          fmt::format("{}: still running after {} warp operations (--max-cycles)",
                      describe_location(run, stack.pc(), block, warp.context.warp_in_block, active.lowest()),
                      operations_);
      return Stop::kError;
    }
    if (isa::lacks_lanes(op, lanes)) {
      error_ = fmt::format(
          "{}: {}", describe_location(run, stack.pc(), block, warp.context.warp_in_block, lanes.lowest()),
          describe_missing_lanes(lanes));
      return Stop::kError;
    }
    if (tracer_ != nullptr) tracer_->operation(warp.context.warp_in_block, op, lanes);
    switch (op.kind) {
      case OpKind::kAlu:
        if (lanes.any()) {
          if (op.folded_load != isa::kNoTarget &&
              !step_memory(run, block, warp, run.image->folded_loads[op.folded_load], lanes))
            return Stop::kError;
          if (op.op_class == isa::OpClass::kSpecial)
            warp.context.clock = warp.context.globaltimer_ns = read_clock();
          op.exec(op, warp.context, lanes);
        }
        stack.advance();
        break;
      case OpKind::kLoad:
      case OpKind::kStore:
      case OpKind::kAtomic:
        if (lanes.any() && !step_memory(run, block, warp, op, lanes)) return Stop::kError;
        stack.advance();
        if (op.pred_dst[0] != isa::kNoPredicate && !op.memory.asynchronous && lanes.any()) {
          const Stop stop =
              look_at_phase(warp, static_cast<uint32_t>(&op - ops), op, lanes, operations_ - start);
          if (stop != Stop::kNone) return stop;
        }
        break;
      case OpKind::kBranch:
        ++stats.branches;
        {
          const uint32_t pc = stack.pc();
          stats.divergent_branches += stack.branch(op, lanes);
          if (op.target > pc || lanes.none() || !warp.watch.lap(pc, may_yield(warp, op))) break;
          const Stop stop = look_at_loop(run, warp, op.target, pc);
          if (stop != Stop::kNone) return stop;
        }
        break;
      case OpKind::kBranchTable:
      case OpKind::kCall:
      case OpKind::kReturn:
        if (const Stop stop = step_transfer(run, block, warp, op, lanes); stop != Stop::kNone) return stop;
        break;
      case OpKind::kBarrier:
        if (lanes.none()) {
          stack.advance();
          break;
        }
        ++stats.barriers;
        if (const Stop stop = step_barrier(run, block, warp, op, lanes); stop != Stop::kNone) return stop;
        break;
      case OpKind::kSync:
        step_sync(run, warp, op, lanes);
        if (warp.blocked) return Stop::kBlocked;
        break;
      case OpKind::kExit:
        if (const Stop stop = step_exit(run, warp, lanes); stop != Stop::kNone) return stop;
        break;
      case OpKind::kTrap:
        if (lanes.any()) {
          error_ = describe_location(run, stack.pc(), block, warp.context.warp_in_block, lanes.lowest()) +
                   ": " + describe_trap(op, warp.context, lanes.lowest(), memory_);
          fault_ = trap_kind(op);
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
