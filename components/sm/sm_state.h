// What the parts of one SM share: its resident kernels, blocks and warps, and what every operation passes
// (warp table, dependences, pipes, load/store unit, instruction fetch). Data only; who changes it:
//   ResidentBlocks     kernels, blocks and warps that come and go
//   WarpFrontEnd       a warp's next operation, and what it waits for
//   OperationIssue     one operation: its values and what it takes
//   IssueSlots         who issues in which slot, and to which cause the empty slots are booked
//   Sm                 the clocked module: when which of them acts
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "components/functional/spin_detector.h"
#include "components/launch/kernel_launch.h"
#include "components/launch/kernel_storage.h"
#include "components/lsu/load_store_unit.h"
#include "components/simulation/event_sink.h"
#include "components/sm/async_copies.h"
#include "components/sm/dependences.h"
#include "components/sm/execution_pipes.h"
#include "components/sm/instruction_fetch.h"
#include "components/sm/shared_bank_conflicts.h"
#include "components/sm/simt/block_control.h"
#include "components/sm/timing.h"
#include "components/sm/warp_table.h"
#include "isa/exec/executor.h"
#include "simcore/bits.h"
#include "simcore/config/machine_config.h"
#include "simcore/divisor.h"
#include "simcore/engine/clock_domain.h"

namespace gpusim::comp {

class Checker;

/// What the SM needs of the rest of the GPU.
struct SmEnvironment {
  const core::MachineConfig* machine = nullptr;
  const TimingTables* timing = nullptr;
  const isa::GlobalMemory* memory = nullptr;
  EventSink* events = nullptr;          ///< of what no kernel is known for
  core::PageArena* arena = nullptr;     ///< for registers and shared memory
  isa::MemoryAccess* access = nullptr;  ///< scratch of the operation that executes; all SMs share it
  uint32_t num_sms = 1;
  bool run_ahead = true;  ///< false: one issue per activation (tests: the results are the same)
  /// Device address of the interleaved local memory of all warps, a multiple of it for each further kernel
  /// (timing only).
  uint64_t local_memory_base = 0;
  /// First cycle from `now` on in which a block can be sent to the SM unless it reports something.
  std::function<uint64_t(uint32_t sm, uint64_t now)> first_start = [](uint32_t, uint64_t now) { return now; };
  std::function<void(ProgramError)> on_error;  ///< a program error: ends the simulation
  /// True if all warps of the GPU wait at barriers or have gone round their loops unchanged for long.
  std::function<bool()> nobody_moves;
  Checker* checker = nullptr;  ///< of a run with --check
  /// A phase of the cluster's barrier is over: the SMs of its blocks let go on in that cycle who waits there.
  std::function<void(const Cluster&, uint64_t cycle)> cluster_opened;
  /// Cycle from which the SM takes what other SMs send to its shared memory, by number of the SM.
  std::vector<uint64_t>* shared_ports = nullptr;
};

/// A kernel that is open on an SM: its books, and the blocks that it has there.
struct ResidentKernel {
  KernelLaunch* run = nullptr;
  const isa::MicroOp* ops = nullptr;  ///< of its image
  PcStats* at = nullptr;              ///< its books by operation
  SmStats* stats = nullptr;
  EventSink* events = nullptr;
  Residence* residence = nullptr;
  uint32_t blocks = 0;      ///< resident
  uint32_t finished = 0;    ///< blocks not reported yet
  bool configured = false;  ///< storage is sized for `run`
  bool undrained = false;   ///< the dispatcher does not know yet that it has nothing here
  bool due = false;         ///< there is something to report, or will be without a further block
  uint64_t places = 0;      ///< of `storage` that are taken, a bit each
  KernelStorage storage;
};

/// The rest of a subroutine that a warp is in (special_operands.h): instructions, of which each follows the
/// one before after its part of `cycles`, which the rest takes.
struct SubroutineRest {
  uint16_t instructions = 0, cycles = 0;

  /// One instruction issues; returns the core cycles that it takes.
  uint32_t next() {
    const auto step = static_cast<uint16_t>(cycles / instructions);
    cycles = static_cast<uint16_t>(cycles - step);
    --instructions;
    return step;
  }
};

enum class WarpWait : uint8_t { kNone, kMemory, kBarrier, kFence, kCopies, kFetch };

/// Products of matrices that a tensor core has queued for a warp (wgmma).
class MatrixGroups {
 public:
  /// A step is done at this cycle, none before the one queued before it.
  void queue(uint64_t done) { queued_ = done; }
  void commit() { done_[committed_++ % kMost] = queued_; }
  /// The cycle at which all committed groups are done, but for the latest `left`.
  [[nodiscard]] uint64_t done_but(uint64_t left) const {
    return left < std::min<uint64_t>(committed_, kMost) ? done_[(committed_ - 1 - left) % kMost] : 0;
  }

 private:
  static constexpr uint64_t kMost = 8;  ///< that are looked back; older ones are done
  uint64_t queued_ = 0, committed_ = 0;
  std::array<uint64_t, kMost> done_{};
};

struct alignas(64) ResidentWarp {  // what every issue needs comes first
  SimtStack stack;
  const isa::MicroOp* op = nullptr;  ///< next operation
  ResidentKernel* kernel = nullptr;
  uint32_t block_slot = 0;
  uint32_t load = 0;        ///< kMemory: record waited for; kCopies: groups that may be under way
  uint32_t operations = 0;  ///< issued
  WarpWait wait = WarpWait::kNone;
  uint8_t scheduler = 0;
  SubroutineRest subroutine;
  const ClassTiming* timing = nullptr;  ///< of the warp's scheduler, by OpClass
  isa::LaneMask at_barrier;  ///< kBarrier: lanes of the stack's top; none if it is the groups that wait
  isa::WarpContext context;
  SpinDetector watch;
  DivergentGroups groups;
  uint32_t barrier = 0;     ///< the number of the barrier of at_barrier
  uint64_t fetch_from = 0;  ///< kFetch: not before that cycle, even if its operation comes earlier
  MatrixGroups matrices;
  uint64_t fence_until = 0;   ///< WarpWait::kFence: not before that cycle, even if its stores end earlier
  uint64_t remote_until = 0;  ///< its accesses to other blocks' shared memory have been performed then

  [[nodiscard]] bool lanes_are_together() const { return stack.depth() == 0 && groups.empty(); }
  [[nodiscard]] const ClassTiming& timing_of(isa::OpClass op_class) const {
    return timing[static_cast<size_t>(op_class)];
  }
  /// The books of the operation that the warp stands at.
  [[nodiscard]] PcStats& at() const { return kernel->at[stack.pc()]; }
};

struct ResidentBlock {
  ResidentKernel* kernel = nullptr;
  const KernelLaunch* run = nullptr;  ///< of the block that is here, or was last; null once that has ended
  uint64_t index = 0;
  uint64_t warps = 0;  ///< warp slots, a bit each
  uint32_t place = 0;  ///< in the kernel's storage
  uint32_t live_warps = 0;
  uint32_t loads_in_flight = 0;  ///< the slot is not reused before they return
  uint64_t start = 0, phase_start = 0;
  uint64_t stored_at = 0;     ///< its stores to shared memory are done, if barriers await them
  uint32_t longest_warp = 0;  ///< operations of the warp that executed the most
  uint32_t phase = 0;
  BlockControl control;

  /// The stretch between two barriers ends, and the next one begins.
  void end_phase(uint64_t now);
};

struct SmState {
  SmState(uint32_t sm, core::ClockDomain& core, const SmEnvironment& environment);

  [[nodiscard]] ResidentBlock& block_of(const ResidentWarp& warp) { return blocks[warp.block_slot]; }
  /// Ends the simulation with a program error of this lane of the warp.
  void fault(uint32_t w, uint32_t pc, int lane, const std::string& what,
             isa::FaultKind kind = isa::FaultKind::kNone);

  uint32_t index;
  core::ClockDomain& domain;  ///< the core's
  uint32_t open_kernels = 0;
  uint32_t cluster_kernels = 0;  ///< of these, kernels with clusters
  uint32_t scheduler_count;
  bool independent;           ///< lanes are scheduled independently (compute capability 7 and later)
  core::Divisor slot_cycles;  ///< core cycles of an issue slot
  uint64_t issue_cycles;      ///< slot_cycles as a number
  uint64_t issue_width;       ///< operations of one warp that a slot can issue
  std::unique_ptr<LoadStoreUnit> lsu;
  std::unique_ptr<InstructionFetch> fetch;  ///< if the machine has an instruction cache
  std::vector<ResidentWarp, core::PageAllocator<ResidentWarp>> warps;
  std::vector<ResidentBlock> blocks;
  AsyncCopies copies;
  Dependences dependences;
  WarpTable table;
  ExecutionPipes pipes;
  isa::MemoryAccess& access;
  SharedMemoryRules shared_rules;
  bool barrier_awaits_stores;   ///< to shared memory
  bool idle_constants;          ///< constant loads that no lane executes take their pipe
  uint64_t shared_step_cycles;  ///< of one step of a shared-memory access
  /// Last start of a block, arrival at a barrier, exit, or warp that blocked, in core cycles.
  uint64_t last_event = 0;
  SmEnvironment env;
};

}  // namespace gpusim::comp
