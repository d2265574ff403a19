// What the warps of a functional run do, as a model of their memory accesses needs it: the accesses, where a
// warp waits for data, barriers, and between these the time that its operations take. Times are those of one
// warp alone on an SM whose memory answers at once: the machine's latencies, issue rate and pipes
// (components/sm/timing.h) without contention, which is the model's part.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "components/launch/kernel_launch.h"
#include "components/sm/shared_bank_conflicts.h"
#include "components/sm/timing.h"
#include "isa/exec/executor.h"
#include "simcore/config/machine_config.h"

namespace gpusim::comp {

struct TracedStep {
  enum class Kind : uint8_t {
    kAccess,   ///< to global or local memory, textures not
    kWait,     ///< until the data of `load` is there
    kBarrier,  ///< until all warps of the block are there
    kFence,    ///< until the warp's stores have been performed
    kEnd,      ///< of the warp
  };
  /// Work is counted in such parts of a core cycle.
  static constexpr uint32_t kWorkUnits = 16;

  Kind kind = Kind::kEnd;
  uint32_t launch = 0;  ///< KernelLaunch::id
  const KernelLaunch* run = nullptr;
  uint64_t block = 0;
  uint32_t warp = 0;        ///< of the block
  uint64_t cycles = 0;      ///< core cycles since the warp's last step, were it alone and memory at once
  uint64_t work = 0;        ///< of these, in kWorkUnits: how long the SM's busiest unit has been taken
  uint64_t own = 0;         ///< the same of the busiest unit that the warp's scheduler has for itself
  uint32_t load = 0;        ///< kWait: number among the warp's accesses that bring data
  uint64_t operations = 0;  ///< kEnd: that the warp has executed
  uint32_t pc = 0;          ///< kAccess
  const isa::MicroOp* op = nullptr;           ///< kAccess
  const isa::MemoryAccess* access = nullptr;  ///< kAccess; local addresses are offsets in the thread's own
};
using TraceStep = std::function<void(const TracedStep&)>;

class WarpTracer {
 public:
  WarpTracer(const core::MachineConfig& machine, TraceStep step);

  void begin_kernel(const KernelLaunch& run);
  /// `op` of the warp is about to be executed by `lanes`.
  void operation(uint32_t warp, const isa::MicroOp& op, isa::LaneMask lanes);
  /// What the last operation of the warp did to memory. Steps of shared memory are counted in `at`.
  void access(const isa::WarpContext& context, const isa::MicroOp& op, uint32_t pc,
              const isa::MemoryAccess& access, PcStats& at);
  void end_block(uint64_t block);

 private:
  static constexpr uint64_t kPending = uint64_t{1} << 63;  ///< in `ready`: or'ed with the load's number
  struct Warp {
    uint64_t next = 0;    ///< cycle from which the next operation can issue
    uint64_t issued = 0;  ///< of the last one
    uint64_t last = 0;    ///< of the last step
    uint32_t loads = 0;
    uint64_t operations = 0;
    uint64_t slots = 0;               ///< of its scheduler's issue, taken since then, in kWorkUnits
    std::vector<uint64_t> taken;      ///< time taken of each pipe since then, in kWorkUnits
    std::vector<uint64_t> free_from;  ///< by pipe
    std::vector<uint64_t> ready;      ///< by scoreboard identifier: a cycle, or kPending
    std::vector<bool> arrived;        ///< by load: waited for
  };
  void step(uint32_t warp, uint64_t at, TracedStep s);
  /// When all that `op` reads and writes is there; steps for the loads it waits for.
  uint64_t wait_for_operands(uint32_t warp, const isa::MicroOp& op);
  void shared_access(const isa::WarpContext& context, const isa::MicroOp& op, const isa::MemoryAccess& access,
                     PcStats& at);
  /// Moves the results of the last operation away by so many cycles, in which its pipe is taken.
  void delay(Warp& warp, const isa::MicroOp& op, uint64_t cycles);
  /// The last operation is a loop of sums in shared memory, whose pipe was `delayed`: the warp goes on, and
  /// has its results, behind the last round.
  void pass_rounds(Warp& warp, const isa::MicroOp& op, uint32_t rounds, uint64_t delayed);

  TraceStep step_;
  TimingTables tables_;
  SharedMemoryRules shared_;
  uint64_t issue_cycles_, issue_width_, schedulers_, texture_cycles_, shared_cycles_;
  const KernelLaunch* run_ = nullptr;
  uint64_t block_ = 0;
  std::vector<Warp> warps_;
};

}  // namespace gpusim::comp
