// Control flow of the functional runner: barriers, .sync operations, exit, loops that wait.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "components/checker/checker.h"
#include "components/functional/functional_runner.h"

namespace gpusim::comp {

using isa::LaneMask;
using isa::MicroOp;

FunctionalRunner::Stop FunctionalRunner::step_barrier(KernelLaunch& run, uint64_t block, Warp& warp,
                                                      const MicroOp& op, LaneMask lanes) {
  if (op.modifiers >= static_cast<uint8_t>(isa::BarrierAction::kClusterArrive))
    return step_cluster_barrier(run, block, warp, op, lanes);
  const uint32_t pc = warp.stack.pc();
  uint32_t number = 0;
  const std::string error =
      control_.arrive(warp, warp.context.warp_in_block, op, lanes, independent_, number);
  if (!error.empty()) {
    error_ = fmt::format(
        "{}: {}", describe_location(run, pc, block, warp.context.warp_in_block, lanes.lowest()), error);
    return Stop::kError;
  }
  if (warp.at_barrier.any())
    warp.blocked = true;
  else if (warp.stack.done())
    run_other_lanes(run, warp);
  try_release(run, number);
  if (warp.blocked) return Stop::kBlocked;
  // Those that came first have their turn before the one that opened the barrier goes ahead.
  return warps_.size() > 1 ? Stop::kPaused : Stop::kNone;
}

FunctionalRunner::Stop FunctionalRunner::step_cluster_barrier(const KernelLaunch& run, uint64_t block,
                                                              Warp& warp, const MicroOp& op, LaneMask lanes) {
  const uint32_t pc = warp.stack.pc();
  const char* error = nullptr;
  switch (control_.at_cluster_barrier(warp, op, lanes, independent_, 0, error)) {
    case BlockControl::ClusterStep::kError:
      error_ = fmt::format(
          "{}: {}", describe_location(run, pc, block, warp.context.warp_in_block, lanes.lowest()), error);
      return Stop::kError;
    case BlockControl::ClusterStep::kGoesOn:
      return Stop::kNone;
    case BlockControl::ClusterStep::kOpened:
      release_cluster(run);  // other blocks see it when they have their turn
      return Stop::kNone;
    case BlockControl::ClusterStep::kWaits:
      break;
  }
  if (warp.at_barrier.any())
    warp.blocked = true;
  else if (warp.stack.done())
    run_other_lanes(run, warp);
  return warp.blocked ? Stop::kBlocked : Stop::kNone;
}

void FunctionalRunner::release_cluster(const KernelLaunch& run) {
  const uint64_t warps = warps_.size() == 64 ? ~uint64_t{0} : (uint64_t{1} << warps_.size()) - 1;
  control_.release_cluster(
      run.image->ops.data(), warps, [this](uint32_t w) -> Warp& { return warps_[w]; },
      [this](uint32_t w) {
        warps_[w].blocked = false;
        warps_[w].side_by_side = warps_[w].will_store_shared = true;
      });
}

bool FunctionalRunner::waits_for_cluster() const {
  return control_.cluster != nullptr &&
         std::ranges::any_of(control_.arrivals, [](const ClusterArrivals& a) { return a.pending.any(); }) &&
         std::ranges::any_of(warps_, [](const Warp& warp) {
           return warp.blocked && ((warp.at_barrier.any() && warp.barrier == kClusterBarrier) ||
                                   warp.groups.wait_at(kClusterBarrier));
         });
}

bool FunctionalRunner::holds_stores(const std::vector<Warp>& warps) {
  return std::ranges::any_of(warps, &Warp::held);
}

bool FunctionalRunner::may_wait_more(const KernelLaunch& run) {
  if (!run.image->has_foreign_stores || waiting_.empty()) return true;
  const uint64_t thread = isa::kRowBytes / isa::kWarpSize * run.image->num_rows + run.image->local_bytes;
  const uint64_t bytes = thread * isa::kWarpSize * run.warps_per_block + run.shared_bytes;
  if (waiting_.size() * bytes < most_waiting_bytes_) return true;
  if (in_vain_ < waiting_.size()) return false;
  most_waiting_bytes_ *= 2;  // they wait for others that have not begun
  return true;
}

void FunctionalRunner::note_turn_in_vain() {
  // So many, times the blocks that wait, show that blocks wait for each other in an order of their own: one
  // that is held back makes all the others wait. Blocks that meet have fewer.
  constexpr uint64_t kRounds = 4, kFewBlocks = 64;
  if (++vain_turns_ <= kRounds * std::max<uint64_t>(waiting_.size(), kFewBlocks) || !holds_back_) return;
  holds_back_ = false;
  most_waiting_bytes_ = 1;  // block after block again, as far as possible
}

void FunctionalRunner::release_stores() {
  for (Warp& warp : warps_) {
    warp.held = false;
    if (!holds_back_) warp.holds = 0;
  }
}

bool FunctionalRunner::lets_others_catch_up(Warp& warp, const MicroOp& op) {
  if (op.others_access && warp.holds != 0 && (op.kind == isa::OpKind::kStore) != warp.has_stored) {
    warp.has_stored = !warp.has_stored;
    --warp.holds;
    return warp.held = true;
  }
  // On a GPU the warps leave a barrier side by side, and each waits hundreds of cycles for its first global
  // load, behind which others have loaded too before it stores. What they read from shared memory right
  // behind the barrier, all have read before one of them writes there. Until these places all have their
  // turn, for programs that read behind a barrier what others write a little later.
  const bool writes = op.kind == isa::OpKind::kStore || op.kind == isa::OpKind::kAtomic;
  if (op.memory.space == isa::Space::kShared) return writes && std::exchange(warp.will_store_shared, false);
  if (op.memory.space != isa::Space::kGlobal) return false;
  if (!warp.side_by_side) return writes && std::exchange(warp.will_store, false);
  if (op.kind != isa::OpKind::kLoad) return false;
  warp.side_by_side = false;
  return warp.will_store = true;
}

FunctionalRunner::Stop FunctionalRunner::step_exit(KernelLaunch& run, Warp& warp, LaneMask lanes) {
  if (control_.exit(warp, lanes)) release_cluster(run);
  if (warp.stack.done() && !warp.groups.empty()) run_other_lanes(run, warp);
  if (lanes.any())
    control_.leave(warp, warp.context.warp_in_block, [&](uint32_t number) { try_release(run, number); });
  return warp.blocked ? Stop::kBlocked : Stop::kNone;
}

void FunctionalRunner::step_sync(KernelLaunch& run, Warp& warp, const MicroOp& op, LaneMask lanes) {
  control_.sync(warp, run.image->ops.data(), op, lanes);
  if (warp.stack.done()) run_other_lanes(run, warp);
}

void FunctionalRunner::run_other_lanes(const KernelLaunch& run, Warp& warp) {
  warp.blocked = !warp.groups.next(run.image->ops.data(), warp.context, warp.stack);
}

void FunctionalRunner::try_release(const KernelLaunch& run, uint32_t number) {
  control_.release(
      run.image->ops.data(), number, [this](uint32_t w) -> Warp& { return warps_[w]; },
      [](uint32_t, const MicroOp&) {},
      [this](uint32_t w) {
        warps_[w].blocked = false;
        warps_[w].side_by_side = warps_[w].will_store_shared = true;
      });
}

FunctionalRunner::Stop FunctionalRunner::look_at_loop(const KernelLaunch& run, Warp& warp, uint32_t first,
                                                      uint32_t last) {
  const BlockControl::Loop loop =
      BlockControl::look_at_loop(*run.image, warp, first, last, independent_, operations_);
  if (loop == BlockControl::Loop::kRepeats) return Stop::kSpins;
  ++warp.looks;
  if (may_wait_for_others(warp, run.image->ops[last])) return Stop::kMayWait;
  // Even a warp that changes may wait for another one of its block, above all for one that is held.
  constexpr uint32_t kLooks = 64, kLooksForHeld = 8;
  const bool may_wait = run.image->ops[last].may_wait;
  if (warp.looks != kLooks && !(may_wait && some_held_ && warp.looks >= kLooksForHeld)) return Stop::kNone;
  return may_wait ? Stop::kCircles : Stop::kPaused;
}

bool FunctionalRunner::may_wait_for_others(const Warp& warp, const MicroOp& branch) const {
  // Long against what it takes to go on with another block, whose registers are then in no cache.
  constexpr uint64_t kOperations = 4096;
  constexpr uint32_t kLooks = 8;
  return branch.may_wait && tracer_ == nullptr && warp.looks >= kLooks &&
         warp.quiet + operations_ - warp.quiet_from >= kOperations;
}

void FunctionalRunner::report_spin(const KernelLaunch& run, uint64_t block) {
  deadlock_ = true;
  for (const Warp& warp : warps_) {
    if (warp.done() || warp.blocked) continue;
    error_ = describe_spin(run, warp.stack.pc(), block, warp.context.warp_in_block, warp.stack);
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
    bool of_cluster = warp.barrier == kClusterBarrier;
    if (lanes.none()) {
      const DivergentGroups::Waiting group = warp.groups.longest_waiting();
      pc = group.pc;
      lanes = group.lanes;
      of_cluster = warp.groups.wait_at(kClusterBarrier);
      if (group.at_sync) where = "a .sync operation that other lanes of its member mask never reach";
    }
    if (of_cluster) where = "the barrier of its cluster, at which other threads never arrive";
    const LaneMask missing = BlockControl::alive(warp) & ~lanes;
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
