// Values only (`--functional`): runs the blocks of a launch one after another, the warps of a block in turn
// until they wait at a barrier or for memory that others write, without time. A block whose warps all wait
// for such memory is put aside, and others have their turn: as many as the machine holds at a time. Same
// micro-ops, same executor and same SIMT stacks as the timing model, so for race-free programs results and
// instruction counts are the same.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "components/launch/kernel_launch.h"
#include "components/sm/simt/block_control.h"
#include "components/sm/warp_tracer.h"

namespace gpusim::comp {

class Checker;

class FunctionalRunner {
 public:
  /// `max_operations`: warp operations after which a kernel counts as endless. `interrupted` is polled now
  /// and then. `independent`: the lanes of a warp are scheduled independently (compute capability 7 and
  /// later).
  FunctionalRunner(const isa::GlobalMemory& memory, uint64_t max_operations, bool independent,
                   std::function<bool()> interrupted, Checker* checker = nullptr)
      : memory_(memory),
        max_operations_(max_operations),
        independent_(independent),
        interrupted_(std::move(interrupted)),
        checker_(checker) {}

  enum class Outcome { kDone, kError, kDeadlock, kInterrupted, kPaused };
  /// Runs all blocks; counts go into run.sm[0] and run.pc. On kError and kDeadlock, error() says why.
  /// After about `operations`, if there are more, it comes back with kPaused, and resume() goes on.
  Outcome run(KernelLaunch& run, uint64_t operations = kNoPause);
  /// After kDeadlock: all that is left goes round loops that only memory can end which others write, and
  /// resume() goes on from there.
  [[nodiscard]] bool waits_for_memory() const { return !waiting_.empty(); }
  Outcome resume(KernelLaunch& run, uint64_t operations = kNoPause);
  static constexpr uint64_t kNoPause = ~uint64_t{0} >> 1;
  /// Since run() or resume() began, some warp has done more than go round such a loop.
  [[nodiscard]] bool has_moved() const { return has_moved_; }
  [[nodiscard]] const std::string& error() const { return error_; }
  /// What the executor found, if that is why.
  [[nodiscard]] isa::FaultKind fault() const { return fault_; }
  /// Nanoseconds that the kernel has seen pass on its clocks, if it has waited for them.
  [[nodiscard]] uint64_t waited_ns() const { return clock_skipped_ == 0 ? 0 : clock_read_ + clock_skipped_; }
  /// Called after each block, or with true when all blocks that are left wait for something: true if what
  /// was done may let them go on.
  void set_between_blocks(std::function<bool(bool stuck)> between) { between_blocks_ = std::move(between); }
  /// Whoever wants values only saves the counting of instructions.
  void count_instructions(bool on) { counts_ = on; }
  /// `tracer` sees what each warp does from now on.
  void set_tracer(WarpTracer* tracer) { tracer_ = tracer; }

 private:
  static constexpr uint32_t kNoWait = ~0u;
  static constexpr uint64_t kWaitingBytes = uint64_t{64} << 20;  ///< of blocks that wait, at first
  struct Warp {
    SimtStack stack;
    DivergentGroups groups;
    SpinDetector watch;
    isa::WarpContext context;
    bool blocked = false;            ///< until a barrier opens
    bool side_by_side = false;       ///< has left a barrier and not come to a global load since
    bool will_store = false;         ///< has come to one, and not to a global store or atomic since
    bool will_store_shared = false;  ///< has left a barrier and not come to a store to shared memory since
    bool held = false;         ///< waits before an access to what other blocks access too, for their turns
    bool has_stored = false;   ///< its last such access was a store
    uint8_t holds = 0;         ///< how often it may wait so
    isa::LaneMask at_barrier;  ///< lanes of the stack's top that wait there; none if it is the groups
    uint32_t barrier = 0;
    uint32_t looks = 0;          ///< at its loops, since the warp had its turn
    uint64_t quiet = 0;          ///< operations of its own since it wrote to memory, up to its last turn
    uint64_t quiet_from = 0;     ///< in operations_: from when on it has been so in this turn
    uint32_t wait_pc = kNoWait;  ///< of the mbarrier whose phase it has found to go on, last of all
    [[nodiscard]] bool done() const { return stack.done() && groups.empty(); }
    [[nodiscard]] bool lanes_are_together() const { return stack.depth() == 0 && groups.empty(); }
  };
  /// kCircles: has gone round loops that read what others write often, whatever it has changed there.
  enum class Stop { kNone, kBlocked, kPaused, kCircles, kMayWait, kSpins, kDone, kError };
  /// A block with everything that is its own.
  struct Free {
    void operator()(std::byte* p) const;
  };
  using Storage = std::unique_ptr<std::byte[], Free>;
  struct Block {
    uint64_t number = 0;
    std::vector<Warp> warps;
    BlockControl control;
    Storage registers, shared, local;
    std::vector<uint32_t> predicates;
  };
  enum class Turn { kDone, kWaits, kPaused, kError };
  void prepare(KernelLaunch& run);
  void begin_block(KernelLaunch& run, uint64_t block, Cluster* cluster = nullptr);
  /// Begins all blocks of the next cluster and puts them aside before the others.
  void begin_cluster(KernelLaunch& run);
  /// Runs the present block until it is done, or all that is left of it waits for memory that others write;
  /// `others_wait`: blocks that have begun. `moved`: something else has happened before.
  Turn continue_block(KernelLaunch& run, bool others_wait, bool& moved);
  /// Exchanges the present block with one that was put aside.
  void exchange(Block& block);
  /// One turn of each warp that can run; `moved`: some did more than go round a loop; `idle`: all that they
  /// did may be that they wait for others. `circles`: all have gone round such loops, and may have changed
  /// something there, as who tries to take a lock does. False after an error.
  bool run_warps(KernelLaunch& run, uint64_t block, bool& moved, bool& idle, bool& circles);
  Stop run_warp(KernelLaunch& run, uint64_t block, Warp& warp);
  Stop step_barrier(KernelLaunch& run, uint64_t block, Warp& warp, const isa::MicroOp& op,
                    isa::LaneMask lanes);
  Stop step_cluster_barrier(const KernelLaunch& run, uint64_t block, Warp& warp, const isa::MicroOp& op,
                            isa::LaneMask lanes);
  /// Warps of the present block that wait for the barrier of their cluster go on.
  void release_cluster(const KernelLaunch& run);
  [[nodiscard]] bool waits_for_cluster() const;
  /// Blocks that wait take less memory than they may. They may take more once all have had a turn in vain.
  [[nodiscard]] bool may_wait_more(const KernelLaunch& run);
  void note_turn_in_vain();
  [[nodiscard]] static bool holds_stores(const std::vector<Warp>& warps);
  void release_stores();
  /// The warp has left a barrier and comes to what the others reach at about the same time on a GPU.
  static bool lets_others_catch_up(Warp& warp, const isa::MicroOp& op);
  Stop step_exit(KernelLaunch& run, Warp& warp, isa::LaneMask lanes);
  void step_sync(KernelLaunch& run, Warp& warp, const isa::MicroOp& op, isa::LaneMask lanes);
  Stop look_at_loop(const KernelLaunch& run, Warp& warp, uint32_t first, uint32_t last);
  /// The warp has gone round loops that read what others write for a while, and has not written to memory.
  [[nodiscard]] bool may_wait_for_others(const Warp& warp, const isa::MicroOp& branch) const;
  [[nodiscard]] bool may_yield(const Warp& warp, const isa::MicroOp& op) const {
    return op.may_wait && independent_ && !warp.lanes_are_together();
  }
  /// The current lanes are gone: others that can run take their place, or the warp is blocked.
  void run_other_lanes(const KernelLaunch& run, Warp& warp);
  void try_release(const KernelLaunch& run, uint32_t number);
  /// All warps that are left go round loops for ever, also those of the blocks that wait.
  void report_spin(const KernelLaunch& run, uint64_t block);
  /// All warps that are left wait at barriers.
  void report_deadlock(const KernelLaunch& run, uint64_t block);
  bool step_memory(KernelLaunch& run, uint64_t block, Warp& warp, const isa::MicroOp& op,
                   isa::LaneMask lanes);
  /// Clocks go on by one with each operation, so that a program that waits for a time comes to an end, and
  /// faster and faster while it does nothing but look at them.
  uint64_t read_clock();
  /// After a test of an mbarrier: others have their turn while its phase goes on.
  Stop look_at_phase(Warp& warp, uint32_t pc, const isa::MicroOp& op, isa::LaneMask lanes,
                     uint64_t operations) const;
  Stop step_transfer(KernelLaunch& run, uint64_t block, Warp& warp, const isa::MicroOp& op,
                     isa::LaneMask lanes);

  const isa::GlobalMemory& memory_;
  uint64_t max_operations_;
  bool independent_;
  std::function<bool()> interrupted_;
  Checker* checker_;  ///< of a run with --check
  std::function<bool(bool)> between_blocks_;
  bool counts_ = true;
  uint64_t operations_ = 0;
  uint64_t clock_skipped_ = 0, clock_read_ = 0, clock_polls_ = 0;
  uint64_t last_access_ = 0;  ///< to memory
  WarpTracer* tracer_ = nullptr;
  std::string error_;
  isa::FaultKind fault_ = isa::FaultKind::kNone;
  bool deadlock_ = false, has_moved_ = false;
  uint64_t pause_at_ = kNoPause;  ///< in operations_
  // Of the launch that runs or waits.
  uint64_t next_ = 0;         ///< block that begins next, in the order of KernelLaunch::block_in_order
  size_t unbegun_turns_ = 0;  ///< of waiting blocks, from the front: they have not had a whole turn yet
  size_t in_vain_ = 0;        ///< turns of waiting blocks since something happened
  uint64_t vain_turns_ = 0;   ///< all of them
  bool holds_back_ = true;    ///< blocks at stores to what others read
  uint64_t most_waiting_bytes_ = kWaitingBytes;
  uint32_t rounds_ = 0;        ///< of the present block's turn, with those before a pause
  bool some_held_ = false;     ///< warps of the present block, when its round began
  uint32_t idle_rounds_ = 0;   ///< of them, the last ones in which it may only have waited for others
  std::deque<Block> waiting_;  ///< blocks that were put aside
  // The present block.
  uint64_t block_ = 0;
  std::vector<Warp> warps_;
  BlockControl control_;
  Storage registers_, shared_, local_;
  std::vector<uint32_t> predicates_;
  isa::MemoryAccess access_;
};

}  // namespace gpusim::comp
