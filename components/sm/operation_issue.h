// Issue of one warp operation on an SM: its values, and what it takes of pipes, memory and time. Whatever
// comes of it afterwards (its access served, its barrier complete) ends here too.
#pragma once
#include <cstdint>

#include "components/sm/issue_slots.h"
#include "components/sm/resident_blocks.h"
#include "components/sm/sm_state.h"
#include "components/sm/special_operands.h"
#include "components/sm/warp_front_end.h"

namespace gpusim::comp {

class OperationIssue {
 public:
  OperationIssue(SmState& sm, IssueSlots& slots, ResidentBlocks& blocks, WarpFrontEnd& front_end)
      : sm_(sm), slots_(slots), blocks_(blocks), front_end_(front_end) {}

  /// Warp `w` executes its next operation.
  void issue(uint32_t w, uint64_t now);
  /// Who waits in this block for the barrier of its cluster goes on.
  void release_cluster(ResidentBlock& block, uint64_t now);
  /// The last transaction of an access is here: what waited for it goes on.
  void complete_access(uint32_t record, uint64_t now);

 private:
  using LaneMask = isa::LaneMask;
  using MicroOp = isa::MicroOp;
  using Warp = ResidentWarp;

  /// Counts the operation that issues; `lanes` of the active ones pass its guard.
  static void count_issue(Warp& warp, LaneMask active, LaneMask lanes);
  void emit_issue(const Warp& warp, uint32_t w, LaneMask lanes, uint64_t now) const;
  /// The warp's next operation after `op`, which has left it able to go on.
  void go_on(uint32_t w, const MicroOp& op, uint64_t now);
  void mark_ready(uint32_t w, const MicroOp& op, uint64_t cycle, StallCause cause) {
    sm_.dependences.ready_at(w, *sm_.warps[w].kernel->run, op, cycle, cause);
  }
  /// The operation's results come with the data of this record.
  void mark_pending(uint32_t w, const MicroOp& op, uint32_t record);
  void execute_alu(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes, uint64_t now);
  /// The usual sequence of the warp's division or root ends at `ready`; some lanes may call a subroutine.
  void pass_branch(Warp& warp, uint32_t w, const SubroutineCall& call, uint64_t ready, uint64_t now);
  void continue_subroutine(Warp& warp, uint32_t w, uint64_t now);
  void wait_in_subroutine(Warp& warp, uint32_t w, uint64_t until, uint64_t now);
  void queue_matrix_step(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes, uint64_t now);
  /// Core cycles by which an operand in shared memory makes the operation later; false after a fault.
  bool read_shared_operand(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes, uint64_t& extra);

  // operation_memory.cpp: loads, stores, atomics and fences
  void execute_memory(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes, uint64_t now);
  void shared_timing(Warp& warp, uint32_t w, const MicroOp& op, uint64_t now);
  void global_timing(Warp& warp, uint32_t w, const MicroOp& op, uint64_t now);
  void constant_timing(Warp& warp, uint32_t w, const MicroOp& op, uint64_t now);
  /// Turns offsets in the threads' local memory into device addresses.
  void place_local_access(const Warp& warp, uint32_t w) const;
  void execute_copy_group(Warp& warp, uint32_t w, const MicroOp& op, uint64_t now);
  void execute_fence(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes, uint64_t now);
  void execute_sleep(const Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes, uint64_t now);
  void emit_access(const AccessRecord& record, uint64_t now);

  // operation_control.cpp: control flow. What returns false has stopped the warp (or the simulation).
  bool execute_branch(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes, uint64_t now);
  /// After iterations of the loop between the micro-ops `first` and `last`: deadlocks, lanes that must yield.
  bool look_at_loop(Warp& warp, uint32_t w, uint32_t first, uint32_t last, uint64_t now);
  bool execute_transfer(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes, uint64_t now);
  void count_branch(const Warp& warp, uint32_t pc, LaneMask active, LaneMask taken, bool diverged,
                    uint64_t now) const;
  bool execute_sync(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes, uint64_t now);
  /// The current lanes are gone: others that can run take their place.
  bool run_other_lanes(Warp& warp, uint32_t w, uint64_t now);
  void execute_barrier(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes, uint64_t now);
  void execute_exit(Warp& warp, uint32_t w, LaneMask lanes, uint64_t now);
  void try_release(ResidentBlock& block, uint32_t barrier, uint64_t now);
  void execute_cluster_barrier(Warp& warp, uint32_t w, const MicroOp& op, LaneMask lanes, uint64_t now);
  /// Arrivals at `time` were the last ones: the cluster's blocks go on when they hear of it.
  void open_cluster(const Cluster& cluster, uint64_t now) const;
  /// An access of which some lanes are in the shared memory of other blocks. Returns the cycle of its data.
  uint64_t remote_timing(Warp& warp, const MicroOp& op, uint64_t start, uint64_t& extra);

  SmState& sm_;
  IssueSlots& slots_;
  ResidentBlocks& blocks_;
  WarpFrontEnd& front_end_;
  /// Core cycle in which the loop of the sum in shared memory ends that is being issued, in which the warp is
  /// until then; 0 if the operation is none.
  uint64_t loop_ends_ = 0;
};

}  // namespace gpusim::comp
