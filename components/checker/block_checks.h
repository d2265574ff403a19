// The checks of one thread block while it runs. Its warps' memory and .sync operations come here instead of
// to their semantic functions (isa::ExecutionObserver); barriers and exits are told by who schedules the
// block. A load that faults reads zeros and a faulting store is dropped when memory is checked, so that the
// run goes on to the next fault.
#pragma once
#include <memory>
#include <vector>

#include "components/checker/block_clocks.h"
#include "components/checker/fault_text.h"
#include "components/checker/finding.h"
#include "components/checker/kernel_checks.h"
#include "components/checker/lane_access.h"
#include "components/checker/objects.h"
#include "components/checker/options.h"
#include "components/checker/race_check.h"
#include "components/checker/sync_check.h"
#include "components/checker/unwritten_values.h"
#include "components/checker/warp_addresses.h"
#include "components/sm/simt/cluster.h"

namespace gpusim::comp {

class BlockChecks;

/// One warp of it.
class WarpChecks final : public isa::ExecutionObserver {
 public:
  WarpChecks(BlockChecks& block, uint32_t warp) : block_(block), warp_(warp) {}
  void memory(const isa::MicroOp& op, isa::WarpContext& context, isa::LaneMask mask,
              isa::MemoryAccess& access) override;
  void exec(const isa::MicroOp& op, isa::WarpContext& context, isa::LaneMask mask) override;

 private:
  friend class BlockChecks;
  BlockChecks& block_;
  uint32_t warp_;
  ByteMap local_;  ///< written bytes of local memory, lane by lane; made at the first access
  WarpAddresses addresses_;
  UnwrittenValues unwritten_;  ///< in registers
  /// Lanes that have executed an access, by its place in the image; empty if nobody asks.
  std::vector<isa::LaneMask> accessed_;
};

/// What all blocks of a run share.
struct CheckShared {
  CheckOptions options;
  GlobalObjects globals;
  FindingLog log;
};

class BlockChecks {
 public:
  explicit BlockChecks(CheckShared& shared);
  BlockChecks(const BlockChecks&) = delete;
  BlockChecks& operator=(const BlockChecks&) = delete;

  /// `independent`: lanes of a warp have program counters of their own.
  void begin(const KernelLaunch& run, const KernelChecks& kernel, uint64_t block, bool independent);
  [[nodiscard]] isa::ExecutionObserver* warp(uint32_t warp_in_block) { return warps_[warp_in_block].get(); }

  /// Lanes of a warp arrive at the barrier that `op` names; `threads`: explicit count or 0.
  void arrive(uint32_t warp, const isa::MicroOp& op, uint32_t number, uint32_t threads, isa::LaneMask lanes,
              bool waits = true);
  /// The barrier is complete: who waits there goes on.
  void open(uint32_t number);
  void exit(uint32_t warp, isa::LaneMask lanes) { sync_.exit(warp, lanes); }
  // The barrier of the block's cluster: a warp arrives, a phase is over, a warp goes on behind its wait. Only
  // what it orders within the block is followed.
  void arrive_at_cluster(uint32_t warp) {
    if (shared_.options.race) clocks_.arrive(BlockClocks::kOfCluster, warp, false);
  }
  void join_cluster(const Cluster* cluster) { cluster_ = cluster; }
  void open_cluster() {
    if (shared_.options.race) clocks_.open_cluster();
  }
  void pass_cluster(uint32_t warp) {
    if (shared_.options.race) clocks_.pass_cluster(warp);
  }
  /// Lanes come to a .sync operation at which they may have to wait for others; exec() is told when they
  /// have met.
  void come(uint32_t warp, const isa::MicroOp& op, const isa::WarpContext& context, isa::LaneMask lanes);
  /// Lanes call a function through the call stack, or return from it.
  void transfer(uint32_t warp, const isa::MicroOp& op, const isa::WarpContext& context, isa::LaneMask lanes);
  void report_stuck();

 private:
  friend class WarpChecks;
  void memory(WarpChecks& warp, const isa::MicroOp& op, isa::WarpContext& context, isa::LaneMask mask,
              isa::MemoryAccess& access);
  void exec(WarpChecks& warp, const isa::MicroOp& op, isa::WarpContext& context, isa::LaneMask mask);
  /// Lanes that have executed something behind a .sync operation.
  [[nodiscard]] isa::LaneMask gone_past(const WarpChecks& warp, const CheckedOp& sync) const;
  void warp_sync(const WarpChecks& warp, const isa::MicroOp& op, const isa::WarpContext& context,
                 isa::LaneMask mask);
  [[nodiscard]] isa::LaneMask execute(const WarpChecks& warp, const isa::MicroOp& op, const LaneAccess* lanes,
                                      isa::WarpContext& context, isa::LaneMask mask,
                                      isa::MemoryAccess& access);
  /// Lanes that may go on; reports those that use memory of another kind than their instruction says.
  [[nodiscard]] isa::LaneMask check_spaces(const WarpChecks& warp, const isa::MicroOp& op,
                                           const LaneAccess& lanes, isa::LaneMask mask);
  /// Lanes that may go on; reports those whose address has left the variable that it was derived from.
  [[nodiscard]] isa::LaneMask check_addresses(const WarpChecks& warp, const isa::MicroOp& op,
                                              const LaneAccess& lanes, const isa::WarpContext& context,
                                              isa::LaneMask mask);
  /// Lanes that may go on; reports those that leave their block of malloc()'s heap.
  [[nodiscard]] isa::LaneMask check_heap(const WarpChecks& warp, const isa::MicroOp& op,
                                         const LaneAccess& lanes, const isa::WarpContext& context,
                                         isa::LaneMask mask);
  /// Lane by lane, so that one that fails does not repeat what those before it have done.
  void system_call(WarpChecks& warp, const isa::MicroOp& op, isa::WarpContext& context, isa::LaneMask mask,
                   isa::MemoryAccess& access);
  void check_init(WarpChecks& warp, const isa::MicroOp& op, const LaneAccess& lanes,
                  const isa::WarpContext& context, isa::LaneMask mask);
  void check_init_of(WarpChecks& warp, const isa::MicroOp& op, const LaneAccess& lanes,
                     const isa::WarpContext& context, uint32_t lane);
  [[nodiscard]] ByteMap* written_bytes(WarpChecks& warp, const LaneAccess& lanes,
                                       const isa::WarpContext& context, uint32_t lane, uint64_t& first);
  void report_unwritten(const WarpChecks& warp, const UnwrittenRead& read);
  void check_race(const WarpChecks& warp, const isa::MicroOp& op, const LaneAccess& lanes,
                  const isa::WarpContext& context, isa::LaneMask mask);
  void note_race(const isa::MicroOp& op, uint32_t thread, const RaceCheck::Conflict& conflict,
                 uint64_t address, uint32_t bytes);
  /// Of an operation whose lanes access several places: what it writes to counts as written altogether.
  void mark_whole_object(const isa::MicroOp& op, const isa::WarpContext& context,
                         const isa::MemoryAccess& access);
  static void clear_results(const isa::MicroOp& op, const isa::WarpContext& context, uint32_t lane);
  void report_fault(const WarpChecks& warp, const isa::MicroOp& op, uint32_t lane, isa::FaultKind fault,
                    const FaultPlace& place, const isa::WarpContext& context);
  [[nodiscard]] Site site(uint32_t statement, uint32_t thread) const {
    return {run_, statement, block_, thread};
  }
  [[nodiscard]] static uint32_t thread_of(const WarpChecks& warp, uint32_t lane) {
    return warp.warp_ * isa::kWarpSize + static_cast<uint32_t>(lane);
  }

  CheckShared& shared_;
  const KernelLaunch* run_ = nullptr;
  const KernelChecks* kernel_ = nullptr;
  uint64_t block_ = 0;
  bool independent_ = false;
  const Cluster* cluster_ = nullptr;
  uint32_t instance_ = 0;  ///< memory instructions so far
  std::vector<std::unique_ptr<WarpChecks>> warps_;
  ByteMap written_;         ///< of shared memory
  TaggedMemory addresses_;  ///< in shared and global memory
  BlockClocks clocks_;
  RaceCheck race_;
  SyncCheck sync_;
};

}  // namespace gpusim::comp
