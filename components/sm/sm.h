// Streaming multiprocessor: resident blocks and warps of one kernel or several, warp schedulers, scoreboard,
// SIMT stacks, execution pipes, shared memory and load/store unit. Clocked in the core domain; sleeps
// whenever no warp can issue and nothing waits to be sent, and books the slept issue slots to their cause
// when it wakes. Stages of a tick, sink to source:
//   1. take replies   2. send a transaction   3. start blocks   4. issue   5. plan what leaves   6. run ahead
// Running ahead: until the first cycle at which a message could be seen (links have latencies), operations
// that concern this SM alone issue in the same activation, each at its own cycle. Cycles, values and
// accounting are those of one activation per cycle; an observer that is due sees nothing of later cycles.
// The parts that do the work, and what they share, are listed in sm_state.h.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "components/launch/kernel_launch.h"
#include "components/lsu/load_store_unit.h"
#include "components/noc/messages.h"
#include "components/sm/instruction_fetch.h"
#include "components/sm/issue_slots.h"
#include "components/sm/operation_issue.h"
#include "components/sm/resident_blocks.h"
#include "components/sm/sm_state.h"
#include "components/sm/warp_front_end.h"
#include "simcore/engine/link.h"

namespace gpusim::comp {

class Sm : public core::Clocked, public WarpTableIf {
 public:
  Sm(const sc_core::sc_module_name& name, core::ClockDomain& domain, uint32_t index,
     const SmEnvironment& environment);
  /// Binds the links; called once after construction.
  void connect(const LoadStoreUnit::Links& links, core::Link<BlockStart>& starts,
               core::Link<SmReport>& reports);
  /// Binds the links of the instruction cache, on a machine that has one.
  void connect_fetch(const InstructionFetch::Links& links);

  [[nodiscard]] const WarpTable& warp_table() const override { return state_.table; }
  [[nodiscard]] std::string waiting_for() const override;
  /// Opens the books of a kernel at its `start`. No timing: called by the dispatcher.
  void open_kernel(KernelLaunch& run) { blocks_.open_kernel(run); }
  /// The barrier of a cluster that has a block in this slot opens for it at the later `cycle`.
  void open_cluster(const Cluster& cluster, uint32_t block_slot, uint64_t cycle);
  /// Closes the books of a kernel that has drained at its `end`.
  void close_kernel(const KernelLaunch& run) { blocks_.close_kernel(run); }
  /// Forgets instructions and translations; its caches of data begin each launch empty anyway. Requires that
  /// nothing runs.
  void empty_caches();
  /// Issue slots that had no candidate, of any kernel.
  [[nodiscard]] uint64_t idle_slots() const { return slots_.idle(); }
  [[nodiscard]] uint32_t index() const { return state_.index; }
  [[nodiscard]] const SmTlbStats* tlb_stats() const { return state_.lsu->tlb_stats(); }
  // Since the start of the simulation, of any kernel:
  [[nodiscard]] uint64_t issued_slots(uint32_t scheduler) const { return slots_.issued(scheduler); }
  [[nodiscard]] uint64_t pipe_cycles(size_t pipe) const { return state_.pipes.busy_cycles(pipe); }
  [[nodiscard]] LsuUse lsu_use(uint64_t now) const { return state_.lsu->use(now); }
  /// Narrows [since, until], in core cycles, to when all resident warps waited at barriers or went round
  /// loops unchanged; false if nothing is left.
  [[nodiscard]] bool all_wait(uint64_t& since, uint64_t& until) const;

 protected:
  core::Cycle tick(core::Cycle now) override;

 private:
  /// First cycle at which something outside may change what the schedulers see.
  [[nodiscard]] uint64_t undisturbed_until(uint64_t now) const;
  /// undisturbed_until() without regard to what the load/store unit does and takes.
  [[nodiscard]] uint64_t foreseen_until(uint64_t now) const;
  /// Warps may become ready by lines of instructions at any time.
  [[nodiscard]] bool fetching() const { return state_.fetch != nullptr && state_.fetch->outstanding(); }
  void run_ahead(uint64_t now);
  /// Runs ahead where the load/store unit, too, can do ahead of time what it does: replies that have been
  /// sent, and what leaves for the L1 and the interconnect.
  void run_ahead_with_memory(uint64_t now);
  /// Issues at the later `cycle`; false if an operation has to wait for the time to come.
  bool issue_ahead(uint64_t cycle);
  [[nodiscard]] std::string waiting_for(const ResidentWarp& warp) const;

  struct ClusterOpening {
    uint64_t cycle = 0;
    const Cluster* cluster = nullptr;
    uint32_t block_slot = 0;
  };
  std::vector<ClusterOpening> openings_;  ///< of clusters' barriers, that are to come

  core::Cycle next_start_ = core::kNever;  ///< when the oldest message of starts_ is visible
  uint64_t reply_latency_ = 0, start_latency_ = 0;
  SmState state_;
  IssueSlots slots_;
  WarpFrontEnd front_end_;
  ResidentBlocks blocks_;
  OperationIssue operations_;
  core::Link<BlockStart>* starts_ = nullptr;
  core::Link<SmReport>* reports_ = nullptr;
};

}  // namespace gpusim::comp
