// Streaming multiprocessor: resident blocks and warps of one kernel or several, warp schedulers, scoreboard,
// SIMT stacks, execution pipes, shared memory and load/store unit. Clocked in the core domain; sleeps
// whenever no warp can issue and nothing waits to be sent, and books the slept issue slots to their cause
// when it wakes. Stages of a tick, sink to source:
//   1. take replies   2. send a transaction   3. start blocks   4. issue   5. plan what leaves   6. run ahead
// Running ahead: until the first cycle at which a message could be seen (links have latencies), operations
// that concern this SM alone issue in the same activation, each at its own cycle. Cycles, values and
// accounting are those of one activation per cycle; an observer that is due sees nothing of later cycles.
// A scheduler's slots that issued nothing are booked when its warps change next: until then their cause is
// the same.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "components/functional/spin_detector.h"
#include "components/launch/kernel_launch.h"
#include "components/launch/kernel_storage.h"
#include "components/lsu/load_store_unit.h"
#include "components/noc/messages.h"
#include "components/simulation/event_sink.h"
#include "components/sm/dependency_barriers.h"
#include "components/sm/instruction_fetch.h"
#include "components/sm/scoreboard.h"
#include "components/sm/shared_memory.h"
#include "components/sm/simt/block_control.h"
#include "components/sm/timing.h"
#include "components/sm/warp_scheduler.h"
#include "components/sm/warp_table.h"
#include "isa/exec/executor.h"
#include "simcore/config/machine_config.h"
#include "simcore/divisor.h"
#include "simcore/engine/link.h"

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
  std::function<void(std::string)> on_error;  ///< a program error: ends the simulation
  /// True if all warps of the GPU wait at barriers or have gone round their loops unchanged for long.
  std::function<bool()> nobody_moves;
  Checker* checker = nullptr;  ///< of a run with --check
};

class Sm : public core::Clocked, public WarpTableIf {
 public:
  Sm(const sc_core::sc_module_name& name, core::ClockDomain& domain, uint32_t index,
     const SmEnvironment& environment);
  /// Binds the links; called once after construction.
  void connect(const LoadStoreUnit::Links& links, core::Link<BlockStart>& starts,
               core::Link<SmReport>& reports);

  /// Binds the links of the instruction cache, on a machine that has one.
  void connect_fetch(const InstructionFetch::Links& links);

  [[nodiscard]] const WarpTable& warp_table() const override { return table_; }
  [[nodiscard]] std::string waiting_for() const override;
  /// Opens the books of a kernel at its `start`. No timing: called by the dispatcher.
  void open_kernel(KernelLaunch& run);
  /// Closes the books of a kernel that has drained at its `end`.
  void close_kernel(const KernelLaunch& run);
  /// Issue slots that had no candidate, of any kernel.
  [[nodiscard]] uint64_t idle_slots() const { return idle_slots_; }
  [[nodiscard]] uint32_t index() const { return index_; }
  [[nodiscard]] const SmTlbStats* tlb_stats() const { return lsu_->tlb_stats(); }
  /// Narrows [since, until], in core cycles, to when all resident warps waited at barriers or went round
  /// loops unchanged; false if nothing is left.
  [[nodiscard]] bool all_wait(uint64_t& since, uint64_t& until) const;

 protected:
  core::Cycle tick(core::Cycle now) override;

 private:
  enum class WarpWait : uint8_t { kNone, kMemory, kBarrier, kFence, kFetch };
  /// A kernel that is open: its books, and the blocks that it has here.
  struct Kernel {
    KernelLaunch* run = nullptr;
    SmStats* stats = nullptr;
    EventSink* events = nullptr;
    uint32_t blocks = 0, warps = 0;  ///< resident
    uint32_t finished = 0;           ///< blocks not reported yet
    bool configured = false;         ///< storage is sized for `run`
    bool undrained = false;          ///< the dispatcher does not know yet that it has nothing here
    bool due = false;                ///< there is something to report, or will be without a further block
    uint64_t counted_until = 0;      ///< cycle to which its residence is counted
    uint64_t places = 0;             ///< of `storage` that are taken, a bit each
    KernelStorage storage;
  };
  struct alignas(64) Warp {  // what every issue needs comes first
    SimtStack stack;
    const isa::MicroOp* op = nullptr;  ///< next operation
    Kernel* kernel = nullptr;
    uint32_t block_slot = 0;
    uint32_t load = 0;        ///< kMemory: record waited for
    uint32_t operations = 0;  ///< issued
    WarpWait wait = WarpWait::kNone;
    uint8_t scheduler = 0;
    uint8_t barrier_waits = 0;            ///< dependency barriers that the next operation waits for
    const ClassTiming* timing = nullptr;  ///< of the warp's scheduler, by OpClass
    isa::LaneMask at_barrier;  ///< kBarrier: lanes of the stack's top; none if it is the groups that wait
    isa::WarpContext context;
    SpinDetector watch;
    DivergentGroups groups;
    uint32_t barrier = 0;     ///< the number of the barrier of at_barrier
    uint64_t fetch_from = 0;  ///< kFetch: not before that cycle, even if its operation comes earlier
  };
  struct Block {
    Kernel* kernel = nullptr;
    const KernelLaunch* run = nullptr;  ///< of the block that is here, or was last
    uint64_t index = 0;
    uint64_t warps = 0;  ///< warp slots, a bit each
    uint32_t place = 0;  ///< in the kernel's storage
    uint32_t live_warps = 0;
    uint32_t loads_in_flight = 0;  ///< the slot is not reused before they return
    uint64_t start = 0, phase_start = 0;
    uint32_t longest_warp = 0;  ///< operations of the warp that executed the most
    uint32_t phase = 0;
    BlockControl control;
  };
  /// A stretch of empty slots that waits for its access to be served before its cause is known (events only).
  struct OpenStall {
    uint32_t record;
    uint32_t scheduler;
    uint64_t from, to;
    uint32_t warp, pc;
  };

  [[nodiscard]] std::string waiting_for(const Warp& warp) const;
  // sm_blocks.cpp: kernels and blocks
  /// `fresh`: no block is here.
  void configure(Kernel& kernel, bool fresh);
  void start_block(const BlockStart& start, uint64_t now);
  void start_warp(uint32_t w, uint32_t slot, uint32_t warp_in_block, std::byte* shared, uint64_t now);
  /// Counts the warps that the kernel has had here until now.
  static void count_residence(Kernel& kernel, uint64_t now);
  void remove_warp(uint32_t w, uint64_t now);
  void finish_block(uint32_t slot, uint64_t now);
  /// Ends the stretch between two barriers.
  static void end_phase(Block& block, uint64_t now);
  void update_due(Kernel& kernel);
  [[nodiscard]] bool is_drained(const Kernel& kernel) const;
  void report();
  /// What follows is done for this kernel.
  void enter(const Kernel& kernel) {
    run_ = kernel.run;
    stats_ = kernel.stats;
    events_ = kernel.events;
  }
  // sm.cpp: slots, books, replies
  /// Books the slots [from, end) of a scheduler that has warp `w` (WarpScheduler::kNone: none) to what that
  /// warp waits for; `width`: how many operations each slot could have issued.
  void book_wait(uint32_t scheduler, int w, uint64_t from, uint64_t end, uint64_t width);
  void book(uint32_t scheduler, int warp, StallCause cause, uint64_t from_slot, uint64_t to_slot,
            uint64_t width);
  void emit_stall(core::EventTable& table, uint32_t scheduler, StallCause cause, uint64_t from, uint64_t to,
                  uint32_t warp, uint32_t pc) const;
  void complete_access(uint32_t record, uint64_t now);
  /// Issues warp `w`'s next operation, with dual issue also the one after it if nothing holds that back.
  void take_slot(uint32_t scheduler, uint32_t w, uint64_t now);
  void take_rest_of_slot(uint32_t scheduler, uint32_t w, uint64_t now);
  // sm_issue.cpp: one operation
  void issue(uint32_t w, uint64_t now);
  void prepare_next(uint32_t w, uint64_t earliest, uint64_t now);
  /// Asks the host's caches for the registers of the warp's next operation: those of all SMs are more than
  /// its second level holds.
  static void fetch_rows(const Warp& warp, const isa::MicroOp& op);
  /// False if the warp has to wait for its next operation to be fetched.
  bool fetched(uint32_t w, uint64_t earliest, uint64_t now);
  void execute_alu(Warp& warp, uint32_t w, const isa::MicroOp& op, isa::LaneMask lanes, uint64_t now);
  void execute_memory(Warp& warp, uint32_t w, const isa::MicroOp& op, isa::LaneMask lanes, uint64_t now);
  void shared_timing(uint32_t w, const isa::MicroOp& op, uint64_t now);
  void global_timing(uint32_t w, const isa::MicroOp& op, uint64_t now);
  void constant_timing(uint32_t w, const isa::MicroOp& op, uint64_t now);
  void fault(const Warp& warp, uint32_t pc, int lane, const std::string& what);
  // sm_control.cpp: control flow. What returns false has stopped the warp (or the simulation).
  bool execute_branch(Warp& warp, const isa::MicroOp& op, isa::LaneMask lanes, uint64_t now);
  /// After iterations of the loop between the micro-ops `first` and `last`: deadlocks, lanes that must yield.
  bool look_at_loop(Warp& warp, uint32_t first, uint32_t last, uint64_t now);
  bool execute_transfer(Warp& warp, const isa::MicroOp& op, isa::LaneMask lanes, uint64_t now);
  void count_branch(const Warp& warp, uint32_t pc, isa::LaneMask active, isa::LaneMask taken, bool diverged,
                    uint64_t now);
  bool execute_sync(Warp& warp, uint32_t w, const isa::MicroOp& op, isa::LaneMask lanes, uint64_t now);
  /// The current lanes are gone: others that can run take their place.
  bool run_other_lanes(Warp& warp, uint32_t w, uint64_t now);
  void execute_barrier(Warp& warp, uint32_t w, const isa::MicroOp& op, isa::LaneMask lanes, uint64_t now);
  void execute_exit(Warp& warp, uint32_t w, isa::LaneMask lanes, uint64_t now);
  void execute_fence(Warp& warp, uint32_t w, const isa::MicroOp& op, uint64_t now);
  void try_release(Block& block, uint32_t barrier, uint64_t now);
  /// Books the first pipe of the class that takes an operation at `now`; returns the cycle at which it starts
  /// there.
  uint64_t take_pipe(const ClassTiming& timing, uint64_t now, uint64_t extra);
  [[nodiscard]] static const ClassTiming& timing_of(const Warp& warp, isa::OpClass op_class) {
    return warp.timing[static_cast<size_t>(op_class)];
  }
  void mark_ready(uint32_t w, const isa::MicroOp& op, uint64_t cycle, StallCause cause);
  /// The operation's results come with the data of this record.
  void mark_pending(uint32_t w, const isa::MicroOp& op, uint32_t record);
  /// Adds to what the warp's next operation waits for by the scoreboard what its control code says.
  void wait_for_barriers(uint32_t w, Scoreboard::Wait& wait);
  [[nodiscard]] const ControlCode& code_of(const isa::MicroOp& op) const {
    return run_->codes[static_cast<size_t>(&op - run_->image->ops.data())];
  }
  void update_gates(uint64_t now);
  /// Tells the policies what the L1 has done and asks them whose loads they hold back.
  void update_holds(uint64_t now);
  /// Schedulers that hold warps back look again when these may be fewer, not before `from`.
  void wake_for_holds(uint64_t from);
  /// Finds anew when the schedulers in changed_ can issue after `now`.
  void plan_issue(uint64_t now);
  /// First cycle at which something outside may change what the schedulers see.
  [[nodiscard]] uint64_t undisturbed_until(uint64_t now) const;
  /// undisturbed_until() without regard to what the load/store unit does and takes.
  [[nodiscard]] uint64_t foreseen_until(uint64_t now) const;
  /// Warps may become ready by lines of instructions at any time.
  [[nodiscard]] bool fetching() const { return fetch_ != nullptr && fetch_->outstanding(); }
  /// True for operations that touch this SM's registers and shared memory only.
  [[nodiscard]] static bool is_local(const isa::MicroOp& op);
  void run_ahead(uint64_t now);
  /// Runs ahead where the load/store unit, too, can do ahead of time what it does: replies that have been
  /// sent, and what leaves for the L1 and the interconnect.
  void run_ahead_with_memory(uint64_t now);
  /// Issues at the later `cycle`; false if an operation has to wait for the time to come.
  bool issue_ahead(uint64_t cycle);
  /// Before a warp of this scheduler changes: books its empty slots before `now`, which all have the cause
  /// that its candidate has until then.
  void settle(uint32_t scheduler, uint64_t now) {
    changed_ |= 1u << scheduler;
    const uint64_t end = slot_cycles_.up(now);
    if (next_slot_[scheduler] < end && open_kernels_ != 0) book_empty(scheduler, end);
  }
  /// Books its slots before `end`, which is the next one from now on.
  void book_empty(uint32_t scheduler, uint64_t end);
  void settle_all(uint64_t now);

  uint32_t index_;
  // What every tick looks at comes first.
  uint32_t due_ = 0;  ///< kernels that are due to be reported
  uint32_t open_kernels_ = 0;
  uint32_t ending_blocks_ = 0;           ///< whose warps have ended, but not their loads
  uint64_t next_issue_ = kUnknownCycle;  ///< first slot in which some warp may issue, as far as known
  // Of the kernel for which something is being done: enter().
  KernelLaunch* run_ = nullptr;
  SmStats* stats_ = nullptr;
  EventSink* events_ = nullptr;
  std::unique_ptr<LoadStoreUnit> lsu_;
  std::unique_ptr<InstructionFetch> fetch_;  ///< if the machine has an instruction cache
  core::Cycle next_start_ = core::kNever;    ///< when the oldest message of starts_ is visible
  bool independent_ = false;   ///< lanes are scheduled independently (compute capability 7 and later)
  uint32_t changed_ = 0;       ///< schedulers (bits) that see something else than when wake_ was found
  core::Divisor slot_cycles_;  ///< core cycles of an issue slot
  uint64_t issue_cycles_ = 2;  ///< slot_cycles_ as a number
  uint64_t issue_width_ = 1;   ///< operations of one warp that a slot can issue
  uint64_t reply_latency_ = 0, start_latency_ = 0;
  /// Per scheduler: first slot neither used nor booked yet.
  std::array<uint64_t, kMaxSchedulers> next_slot_{};
  std::array<uint64_t, kMaxSchedulers> wake_{};  ///< of each: no warp of it can issue before, but for events
  std::array<uint64_t, kMaxSchedulers> hold_until_{};  ///< of each: when it has to be asked for holds again
  bool watches_l1_ = false;                            ///< some policy does
  uint32_t scheduler_count_ = 0;
  std::array<std::unique_ptr<WarpScheduler>, kMaxSchedulers> schedulers_;
  std::vector<Warp, core::PageAllocator<Warp>> warps_;
  std::vector<Block> blocks_;
  uint64_t block_slots_ = 0, warp_slots_ = 0;     ///< that are taken, a bit each
  std::vector<std::unique_ptr<Kernel>> kernels_;  ///< by KernelLaunch::slot
  uint32_t undrained_ = 0;                        ///< kernels that are
  uint64_t idle_slots_ = 0;
  Scoreboard scoreboard_;
  std::unique_ptr<DependencyBarriers> barriers_;  ///< if dependences are written in control codes
  isa::MemoryAccess& access_;
  WarpTable table_;
  std::array<uint64_t, kMaxPipes> pipe_busy_until_{};
  core::Link<BlockStart>* starts_ = nullptr;
  core::Link<SmReport>* reports_ = nullptr;
  SmEnvironment env_;
  SharedMemoryRules shared_rules_;
  std::vector<OpenStall> open_stalls_;
  uint64_t next_age_ = 0;
  uint64_t last_event_ = 0;  ///< last start of a block, arrival at a barrier, exit, or warp that blocked
};

}  // namespace gpusim::comp
