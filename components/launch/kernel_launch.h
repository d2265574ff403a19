// One launch of a kernel as the components share it: what to run, what is counted, and the program error that
// ended it. SMs add to it during their ticks (one thread, fixed order). What each count
// means: docs/statistics.md.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "components/simulation/event_sink.h"
#include "components/sm/control_codes.h"
#include "components/sm/simt/cluster.h"
#include "components/sm/sm_share.h"
#include "components/sm/sm_stats.h"
#include "components/sm/stall_cause.h"
#include "isa/exec/executor.h"
#include "isa/exec/micro_op.h"
#include "simcore/text/source_place.h"
#include "simcore/types.h"

namespace gpusim::comp {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  [[nodiscard]] uint64_t count() const { return uint64_t{x} * y * z; }
};

/// Per micro-op counts over all SMs.
struct PcStats {
  uint64_t executed = 0;      ///< warp operations
  uint64_t active_lanes = 0;  ///< lanes that passed the guard, summed
  CauseCounts slots{};        ///< issue slots whose candidate stood here, by cause
  uint64_t transactions = 0;  ///< memory transactions, or shared-memory steps
  uint64_t requested_bytes = 0;
  uint64_t transferred_bytes = 0;
  uint64_t atomic_words = 0;  ///< that units of memory partitions performed one after another
  uint64_t sum_rounds = 0;    ///< of the loops that sums in shared memory are, see shared_sum_rounds()
  uint64_t replays = 0;       ///< extra issues by bank or constant conflicts
  uint64_t divergent = 0;     ///< branches that split the warp
  /// Issue slots lost by warps that waited for the data of this access, by the level that served it.
  CauseCounts awaited{};
};

/// Why a simulated program cannot go on (exit code 2): names kernel, PTX line, block, thread and address.
struct ProgramError {
  std::string message;
  isa::FaultKind fault = isa::FaultKind::kNone;  ///< what it is, if the executor found it
};

/// A kernel's warps on an SM.
struct Residence {
  uint32_t warps = 0;
  uint64_t counted_until = 0;  ///< core cycle to which SmStats::active_cycles has them
};

struct KernelLaunch {
  const isa::KernelImage* image = nullptr;
  uint32_t id = 0;    ///< among the launches, in the order of the launch file
  uint32_t slot = 0;  ///< among the kernels that run at the same time; the dispatcher's choice
  Dim3 grid, block;
  std::vector<std::byte> params;
  isa::AlignedBytes literals;  ///< the image's with the launch's values, if it asks for any
  uint32_t dynamic_shared = 0;
  std::shared_ptr<const std::vector<bool>> part;  ///< the SMs that it may run on, by their numbers; null: all
  uint64_t grid_workspace = 0;    ///< device address of a cooperative launch's barrier; 0: no such launch
  Dim3 cluster;                   ///< blocks of a cluster
  bool explicit_cluster = false;  ///< kernel or launch says so
  uint32_t threads_per_block = 0, warps_per_block = 0;
  uint32_t shared_bytes = 0;        ///< of a block's variables, static and dynamic, and what lies before them
  uint32_t taken_shared_bytes = 0;  ///< of an SM's memory: with what the system keeps there on 1.x
  uint32_t blocks_per_sm = 0;
  uint64_t blocks_together = 0;  ///< that the machine holds at a time
  uint32_t l1_ways = ~0u;        ///< of each set, at most: what shared memory leaves
  uint64_t carved = 0;           ///< bytes of shared memory that an SM needs for it: carved_shared()
  SmShare share;                 ///< what a block takes of an SM
  uint64_t num_blocks = 0;
  uint64_t code_address = 0;        ///< of its first operation, for the instruction cache
  std::vector<uint8_t> bank_delay;  ///< by micro-op: register_bank_delays(); empty without register banks
  std::vector<ControlCode> codes;   ///< by micro-op; empty if the machine has a scoreboard
  Clusters clusters;                ///< that run
  std::vector<PcStats> pc;
  std::vector<SmStats> sm;
  std::vector<Residence> residence;  ///< by SM
  EventSink events;                  ///< its tables, while it runs
  core::Cycle start{0}, end{0};      ///< core cycles
  /// Core cycles in which its first block started and its last one ended, over all SMs.
  core::Cycle first_block = core::kNever, last_block{0};

  [[nodiscard]] const std::byte* literal_rows() const {
    return literals.empty() ? image->literals.data() : literals.data();
  }
  /// Control code of an operation of the image, on a machine that has them.
  [[nodiscard]] const ControlCode& code_of(const isa::MicroOp& op) const {
    return codes[static_cast<size_t>(&op - image->ops.data())];
  }
  [[nodiscard]] bool may_run_on(uint32_t number) const { return part == nullptr || (*part)[number]; }
  /// Some SM is one that both may run on.
  [[nodiscard]] bool shares_sms_with(const KernelLaunch& other) const;
  [[nodiscard]] uint32_t cluster_blocks() const { return static_cast<uint32_t>(cluster.count()); }
  /// Blocks of the launch begin as members of a Cluster.
  [[nodiscard]] bool has_clusters() const { return cluster_blocks() != 1 || image->has_cluster_barriers; }
  /// Linear index of the block that begins as number `order`: clusters one after another, ranks in order.
  [[nodiscard]] uint64_t block_in_order(uint64_t order) const;
  [[nodiscard]] uint32_t rank_of(uint64_t linear) const;
  [[nodiscard]] Dim3 block_index(uint64_t linear) const {
    return {static_cast<uint32_t>(linear % grid.x), static_cast<uint32_t>(linear / grid.x % grid.y),
            static_cast<uint32_t>(linear / (uint64_t{grid.x} * grid.y))};
  }
};

/// What operations read of constant memory, as it is when the kernel begins.
void bind_constant_memory(KernelLaunch& run, const isa::GlobalMemory& memory);

/// Fills tid, ntid, ctaid, nctaid and the existing lanes of a warp's context.
void set_thread_indices(const KernelLaunch& run, uint64_t block, uint32_t warp_in_block,
                        isa::WarpContext& ctx);
/// Of a warp that has them already: those of another block of the launch.
void set_block_index(const KernelLaunch& run, uint64_t block, isa::WarpContext& ctx);

/// Where a statement stands in the user's source, and where it was written: of what was inlined, another
/// line.
struct StatementSource {
  core::SourceLine user, written;
};
[[nodiscard]] StatementSource statement_source(const isa::KernelImage& image,
                                               const isa::PtxStatement& statement);

/// "kernel 'k', file line 12 `ld.global...`, block (0,0,0), thread (5,0,0): <what>".
[[nodiscard]] std::string describe_location(const KernelLaunch& run, uint32_t pc, uint64_t block,
                                            uint32_t warp_in_block, int lane);

/// Turns a fault of the executor into a message; device addresses are placed relative to the nearest
/// allocation.
[[nodiscard]] std::string describe_fault(const isa::MicroOp& op, const isa::MemoryAccess& access,
                                         const isa::GlobalMemory& memory);
/// What a trap is: the program's, or that of an assert() which failed.
[[nodiscard]] constexpr isa::FaultKind trap_kind(const isa::MicroOp& op) {
  return op.num_src == isa::kAssertSources ? isa::FaultKind::kAssert : isa::FaultKind::kTrap;
}
/// "trap", or what CUDA prints of a failed assert() of `lane`.
[[nodiscard]] std::string describe_trap(const isa::MicroOp& op, const isa::WarpContext& context, int lane,
                                        const isa::GlobalMemory& memory);
/// Message about an operation of the whole warp that only `present` lanes execute.
[[nodiscard]] std::string describe_missing_lanes(isa::LaneMask present);

}  // namespace gpusim::comp
