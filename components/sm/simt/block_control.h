// What barriers, .sync operations, exits and loops do to the warps of one thread block. The SM and the
// functional runner both execute them here, and add what is theirs: when a warp goes on, or that it is its
// turn.
//
// `Warp` is the caller's, with members `stack` (SimtStack), `groups` (DivergentGroups), `watch`
// (SpinDetector), `context` (isa::WarpContext), `at_barrier` (lanes of the stack's top that wait at a
// barrier) and `barrier` (its number).
#pragma once
#include <bit>
#include <cstdint>
#include <string>

#include "components/checker/block_checks.h"
#include "components/functional/spin_detector.h"
#include "components/sm/simt/block_barriers.h"
#include "components/sm/simt/cluster.h"
#include "components/sm/simt/divergent_groups.h"
#include "components/sm/simt/simt_stack.h"
#include "simcore/bits.h"

namespace gpusim::comp {

class BlockControl {
 public:
  BlockBarriers barriers;
  uint32_t live_threads = 0;
  BlockChecks* checks = nullptr;  ///< of a run with --check
  Cluster* cluster = nullptr;     ///< of a kernel that has any
  uint32_t cluster_rank = 0;
  std::vector<ClusterArrivals> arrivals;  ///< at its barrier, by warp

  /// The block is the one with this rank of `of`, and has its shared memory at `shared`.
  void join_cluster(Cluster& of, uint32_t rank, uint32_t warps, std::byte* shared) {
    cluster = &of;
    cluster_rank = rank;
    arrivals.assign(warps, ClusterArrivals{});
    seen_phases_ = of.phases();
    of.begin_block(rank, shared);
    of.checks[rank] = checks;
    if (checks != nullptr) checks->join_cluster(cluster);
  }
  void forget_cluster() { cluster = nullptr; }

  enum class ClusterStep : uint8_t {
    kGoesOn,
    kWaits,   ///< until release_cluster()
    kOpened,  ///< has arrived as the last one: all blocks of the cluster are to be released
    kError
  };
  /// `lanes` (at least one) of the warp execute barrier.cluster.arrive or .wait at `time`. `error`: of
  /// kError.
  template <class Warp>
  [[nodiscard]] ClusterStep at_cluster_barrier(Warp& warp, const isa::MicroOp& op, isa::LaneMask lanes,
                                               bool independent, uint64_t time, const char*& error) {
    see_phases();
    const uint32_t w = warp.context.warp_in_block;
    ClusterArrivals& mine = arrivals[w];
    mine.update(*cluster);
    if (op.modifiers == static_cast<uint8_t>(isa::BarrierAction::kClusterArrive)) {
      if ((lanes & (mine.pending | mine.open)).any()) {
        error = "a thread arrives at the barrier of its cluster again before it has waited there";
        return ClusterStep::kError;
      }
      mine.pending |= lanes;
      if (checks != nullptr) checks->arrive_at_cluster(w);
      warp.stack.advance();
      return cluster->arrive(static_cast<uint32_t>(lanes.count()), time) ? ClusterStep::kOpened
                                                                         : ClusterStep::kGoesOn;
    }
    if ((lanes & ~(mine.pending | mine.open)).any()) {
      error = "a thread waits at the barrier of its cluster without having arrived there";
      return ClusterStep::kError;
    }
    if ((lanes & mine.pending).none()) {
      pass_cluster_barrier(w, lanes);
      warp.stack.advance();
      return ClusterStep::kGoesOn;
    }
    if (independent && lanes != alive(warp)) {
      warp.groups.wait_at_barrier(warp.stack, lanes, kClusterBarrier);
    } else {
      warp.at_barrier = lanes;
      warp.barrier = kClusterBarrier;
    }
    return ClusterStep::kWaits;
  }
  /// A phase of the cluster's barrier is over: lets the block's warps go on that wait for it, as release()
  /// does.
  template <class WarpAt, class GoesOn>
  void release_cluster(const isa::MicroOp* ops, uint64_t warps, WarpAt warp_at, GoesOn goes_on) {
    see_phases();
    for (const uint32_t w : core::Bits(warps)) {
      auto& warp = warp_at(w);
      const uint32_t number = warp.context.warp_in_block;
      ClusterArrivals& mine = arrivals[number];
      mine.update(*cluster);
      if (mine.open.none()) continue;
      if (warp.at_barrier.any() && warp.barrier == kClusterBarrier) {
        if ((warp.at_barrier & mine.pending).any()) continue;
        pass_cluster_barrier(number, warp.at_barrier);
        warp.at_barrier = isa::LaneMask();
        warp.stack.advance();
        goes_on(w);
      } else {
        warp.groups.release(kClusterBarrier, [&](uint32_t /*pc*/, isa::LaneMask lanes) {
          pass_cluster_barrier(number, lanes);
        });
        if (warp.stack.done() && warp.groups.next(ops, warp.context, warp.stack)) goes_on(w);
      }
    }
  }
  /// Phases have ended that release_cluster() was not called for.
  [[nodiscard]] bool cluster_has_opened() const {
    return cluster != nullptr && seen_phases_ != cluster->phases();
  }

  template <class Warp>
  [[nodiscard]] static isa::LaneMask alive(const Warp& warp) {
    return warp.stack.alive() | warp.groups.apart();
  }

  /// `lanes` (at least one) of the warp, the block's `w`th, execute a barrier: they wait at it (at_barrier,
  /// or a group of the warp's lanes), or have gone on. `number`: of the barrier, which may be complete now.
  /// Returns an error text, or "".
  template <class Warp>
  [[nodiscard]] std::string arrive(Warp& warp, uint32_t w, const isa::MicroOp& op, isa::LaneMask lanes,
                                   bool independent, uint32_t& number) {
    BarrierRequest request;
    const isa::LaneMask all = alive(warp);
    std::string error = read_barrier_request(op, warp.context, lanes, all, independent, request);
    if (!error.empty()) return error;
    number = request.number;
    barriers.arrive(request, w);
    if (checks != nullptr)
      checks->arrive(warp.context.warp_in_block, op, number, request.threads, lanes, request.waits());
    if (!request.waits()) {
      warp.stack.advance();
    } else if (independent && lanes != all) {
      warp.groups.wait_at_barrier(warp.stack, lanes, number);
    } else {
      warp.at_barrier = lanes;
      warp.barrier = number;
    }
    return error;
  }

  /// If the barrier is complete, opens it and returns true. For each warp that waited: `warp_at(w)` gives it;
  /// its operation at `pc` has ended with `ended(w, op)`; it can go on with `goes_on(w)`, unless other lanes
  /// of it wait elsewhere.
  template <class WarpAt, class Ended, class GoesOn>
  bool release(const isa::MicroOp* ops, uint32_t number, WarpAt warp_at, Ended ended, GoesOn goes_on) {
    if (!barriers.complete(number, live_threads)) return false;
    const BlockBarriers::Opened opened = barriers.open(number);
    if (checks != nullptr) checks->open(number);
    for (const uint32_t w : core::Bits(opened.warps)) {
      auto& warp = warp_at(w);
      const auto finish = [&](uint32_t pc, isa::LaneMask lanes) {
        write_barrier_result(ops[pc], warp.context, lanes, opened);
        ended(w, ops[pc]);
      };
      if (warp.at_barrier.any() && warp.barrier == number) {
        finish(warp.stack.pc(), warp.at_barrier);
        warp.at_barrier = isa::LaneMask();
        warp.stack.advance();
        goes_on(w);
      } else {
        warp.groups.release(number, finish);
        if (warp.stack.done() && warp.groups.next(ops, warp.context, warp.stack)) goes_on(w);
      }
    }
    return true;
  }

  /// `lanes` of the warp exit. Afterwards, and after what the caller does with the warp: leave(). True if
  /// they were the last that the barrier of the cluster has waited for.
  template <class Warp>
  bool exit(Warp& warp, isa::LaneMask lanes, uint64_t time = 0) {
    if (checks != nullptr) checks->exit(warp.context.warp_in_block, lanes);
    warp.stack.exit(lanes);
    live_threads -= lanes.count();
    if (cluster == nullptr || lanes.none()) return false;
    see_phases();
    ClusterArrivals& mine = arrivals[warp.context.warp_in_block];
    mine.update(*cluster);
    const uint32_t arrived = (lanes & mine.pending).count();
    mine.pending &= ~lanes;
    mine.open &= ~lanes;
    return cluster->leave(lanes.count(), arrived, time);
  }
  /// Lanes of the block's `w`th warp have exited: calls release(number) for the barriers that may be complete
  /// without them.
  template <class Warp, class Release>
  void leave(const Warp& warp, uint32_t w, Release release) {
    barriers.leave(w, alive(warp));
    for (const uint32_t number : core::Bits(barriers.arrived())) release(number);
  }

  /// `lanes` of the warp come to a .sync operation, which is executed by those that have all come. The stack
  /// may be done then: other lanes take their place.
  template <class Warp>
  void sync(Warp& warp, const isa::MicroOp* ops, const isa::MicroOp& op, isa::LaneMask lanes) const {
    isa::LaneMask together = lanes;
    if (checks != nullptr) checks->come(warp.context.warp_in_block, op, warp.context, lanes);
    if (lanes.any() && (warp.stack.depth() != 0 || !warp.groups.empty()))
      together = warp.groups.meet(ops, warp.context, lanes, warp.stack);
    else
      warp.stack.advance();
    if (op.exec != nullptr && together.any()) op.exec(op, warp.context, together);
  }

  enum class Loop : uint8_t {
    kMoves,    ///< something has changed since the last look
    kYields,   ///< nothing has, or other lanes have waited for long: they take turns now
    kRepeats,  ///< nothing has, and there are no other lanes
  };
  /// After laps of the loop between the micro-ops `first` and `last`. `time`: the caller's.
  template <class Warp>
  static Loop look_at_loop(const isa::KernelImage& image, Warp& warp, uint32_t first, uint32_t last,
                           bool independent, uint64_t time) {
    const bool same = warp.watch.unchanged(image, first, last, warp.context, warp.stack, time);
    if (independent && warp.watch.must_yield(image, warp.context, last, warp.stack, warp.groups, same)) {
      warp.groups.yield(image.ops.data(), warp.context, warp.stack);
      return Loop::kYields;
    }
    return same ? Loop::kRepeats : Loop::kMoves;
  }

 private:
  void see_phases() {
    if (seen_phases_ == cluster->phases()) return;
    seen_phases_ = cluster->phases();
    if (checks != nullptr) checks->open_cluster();
  }
  /// Lanes go on behind the barrier of the cluster.
  void pass_cluster_barrier(uint32_t w, isa::LaneMask lanes) {
    arrivals[w].open &= ~lanes;
    if (checks != nullptr) checks->pass_cluster(w);
  }

  uint32_t seen_phases_ = 0;  ///< of the cluster's barrier
};

}  // namespace gpusim::comp
