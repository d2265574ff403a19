// Control flow of the functional runner: barriers, .sync operations, exit, loops that wait.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "components/checker/checker.h"
#include "components/functional/functional_runner.h"

namespace gpusim::comp {

using isa::LaneMask;
using isa::MicroOp;

FunctionalRunner::Stop FunctionalRunner::step_barrier(KernelLaunch& run, uint64_t block, Warp& warp,
                                                      const MicroOp& op, LaneMask lanes) {
  BarrierRequest request;
  const LaneMask alive = warp.alive();
  const std::string error = read_barrier_request(op, warp.context, lanes, alive, independent_, request);
  if (!error.empty()) {
    error_ = fmt::format(
        "{}: {}", describe_location(run, warp.stack.pc(), block, warp.context.warp_in_block, lanes.lowest()),
        error);
    return Stop::kError;
  }
  barriers_.arrive(request, warp.context.warp_in_block);
  if (checks_ != nullptr)
    checks_->arrive(warp.context.warp_in_block, op, request.number, request.threads, lanes, request.waits());
  if (!request.waits()) {
    warp.stack.advance();
  } else if (independent_ && lanes != alive) {
    warp.groups.wait_at_barrier(warp.stack, lanes, request.number);
    if (warp.stack.done()) run_other_lanes(run, warp);
  } else {
    warp.at_barrier = lanes;
    warp.barrier = request.number;
    warp.blocked = true;
  }
  try_release(run, request.number);
  return warp.blocked ? Stop::kBlocked : Stop::kNone;
}

FunctionalRunner::Stop FunctionalRunner::step_exit(KernelLaunch& run, Warp& warp, LaneMask lanes) {
  if (checks_ != nullptr) checks_->exit(warp.context.warp_in_block, lanes);
  warp.stack.exit(lanes);
  live_threads_ -= static_cast<uint32_t>(lanes.count());
  if (warp.stack.done() && !warp.groups.empty()) run_other_lanes(run, warp);
  if (lanes.any()) {
    barriers_.leave(warp.context.warp_in_block, warp.alive());
    for (uint32_t b = 0; b < isa::kNumBarriers; ++b) try_release(run, b);
  }
  return warp.blocked ? Stop::kBlocked : Stop::kNone;
}

void FunctionalRunner::step_sync(KernelLaunch& run, Warp& warp, const MicroOp& op, LaneMask lanes) {
  LaneMask together = lanes;
  if (checks_ != nullptr) checks_->come(warp.context.warp_in_block, op, warp.context, lanes);
  if (lanes.any() && (warp.stack.depth() != 0 || !warp.groups.empty()))
    together = warp.groups.meet(run.image->ops.data(), warp.context, lanes, warp.stack);
  else
    warp.stack.advance();
  if (op.exec != nullptr && together.any()) op.exec(op, warp.context, together);
  if (warp.stack.done()) run_other_lanes(run, warp);
}

void FunctionalRunner::run_other_lanes(const KernelLaunch& run, Warp& warp) {
  warp.blocked = !warp.groups.next(run.image->ops.data(), warp.context, warp.stack);
}

void FunctionalRunner::try_release(const KernelLaunch& run, uint32_t number) {
  if (!barriers_.complete(number, live_threads_)) return;
  const BlockBarriers::Opened opened = barriers_.open(number);
  if (checks_ != nullptr) checks_->open(number);
  for (uint64_t bits = opened.warps; bits != 0; bits &= bits - 1) {
    Warp& warp = warps_[static_cast<size_t>(std::countr_zero(bits))];
    const auto finish = [&](uint32_t pc, LaneMask lanes) {
      write_barrier_result(run.image->ops[pc], warp.context, lanes, opened);
    };
    if (warp.at_barrier.any() && warp.barrier == number) {
      finish(warp.stack.pc(), warp.at_barrier);
      warp.at_barrier = LaneMask();
      warp.stack.advance();
      warp.blocked = false;
    } else {
      warp.groups.release(number, finish);
      if (warp.stack.done()) run_other_lanes(run, warp);
    }
  }
}

FunctionalRunner::Stop FunctionalRunner::look_at_loop(const KernelLaunch& run, Warp& warp, uint32_t first,
                                                      uint32_t last) {
  const isa::KernelImage& image = *run.image;
  const bool same = warp.watch.unchanged(image, first, last, warp.context, warp.stack, operations_);
  const bool yields =
      independent_ && warp.watch.must_yield(image, first, last, warp.stack, warp.groups, same);
  if (yields) warp.groups.yield(image.ops.data(), warp.context, warp.stack);
  if (same && !yields) return Stop::kSpins;
  // Even a warp that changes may wait for another one of its block.
  constexpr uint32_t kLooks = 64;
  return ++warp.looks == kLooks ? Stop::kPaused : Stop::kNone;
}

void FunctionalRunner::report_spin(const KernelLaunch& run, uint64_t block) {
  deadlock_ = true;
  for (const Warp& warp : warps_) {
    if (warp.done() || warp.blocked) continue;
    error_ = describe_spin(run, warp.stack.pc(), block, warp.context.warp_in_block, warp.stack);
    if (run.num_blocks > 1) error_ += "; with --functional a block runs after the one before it has ended";
    if (warp.stack.waiting().lanes.any()) return;
  }
}

void FunctionalRunner::report_deadlock(const KernelLaunch& run, uint64_t block) {
  deadlock_ = true;
  std::vector<uint32_t> places;
  const auto report = [&](const Warp& warp, bool with_missing) {
    uint32_t pc = warp.stack.pc();
    LaneMask lanes = warp.at_barrier;
    const char* where = "a barrier that the block's other threads never reach";
    if (lanes.none()) {
      const DivergentGroups::Waiting group = warp.groups.longest_waiting();
      pc = group.pc;
      lanes = group.lanes;
      if (group.at_sync) where = "a .sync operation that other lanes of its member mask never reach";
    }
    const LaneMask missing = warp.alive() & ~lanes;
    if (missing.any() != with_missing || std::find(places.begin(), places.end(), pc) != places.end()) return;
    places.push_back(pc);
    error_ += fmt::format(
        "{}{} waits at {}{}", places.size() == 1 ? "deadlock: " : "; ",
        describe_location(run, pc, block, warp.context.warp_in_block, lanes.lowest()), where,
        missing.any() ? fmt::format(" (lanes {:#010x} of its warp diverged around it)", missing.bits()) : "");
  };
  // One warp for each place, one with lanes that are elsewhere if there is any.
  for (const bool with_missing : {true, false}) {
    for (const Warp& warp : warps_)
      if (!warp.done()) report(warp, with_missing);
  }
}

}  // namespace gpusim::comp
