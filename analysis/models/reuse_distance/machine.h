// What the reuse-distance model knows about a machine: its L1, how warps issue and blocks are
// handed out, and how long memory takes. All of it follows from the configuration, whose latencies and rates
// the microbenchmarks of `gpusim microbench` confirm.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/recording/warp_trace.h"
#include "simcore/config/machine_config.h"
#include "simcore/set_index.h"

namespace gpusim::analysis {

/// The five extensions of reuse distance to GPUs. Without one, the model is as before it was found.
struct ReuseExtensions {
  bool threads = true;        ///< warps and blocks run together; else one warp after the other
  bool latency = true;        ///< a miss takes time; else its line is there at once
  bool associativity = true;  ///< sets; else one set of all lines
  bool mshrs = true;          ///< as many lines on their way as the machine can have; else any number
  bool divergence = true;     ///< a warp goes on when its data is there; else warps take fixed turns
};

struct ReuseMachine {
  // L1
  bool has_l1 = true;
  bool writes_back = false;           ///< dirty lines that leave go to L2
  uint32_t line = 128, sector = 128;  ///< bytes
  uint32_t sets = 32, ways = 4;
  core::SetIndexKind index = core::SetIndexKind::kModulo;
  uint32_t mshrs = 64, merges = 8;
  uint32_t warp_mshrs = 0;  ///< 0: no limit
  bool caches_global = true, read_only_elsewhere = false;
  core::AllocateOn allocate = core::AllocateOn::kMiss;
  using Write = core::WriteHit;
  Write write_global = Write::kEvict, write_local = Write::kBack;
  double hit_cycles = 0;
  // Streaming multiprocessors
  uint32_t sms = 1;
  uint32_t blocks_per_sm = 1, most_warps = 48;
  uint32_t schedulers = 1;  ///< warps take turns over them
  bool turned = false;      ///< each turn begins one further on
  /// They access memory, and use pipes that they share, in turn; else one of a lower number goes first.
  bool share_in_turn = false;
  [[nodiscard]] uint32_t scheduler_of(uint32_t warp) const {
    return (warp + (turned ? warp / schedulers : 0)) % schedulers;
  }
  enum class Policy : uint8_t { kRoundRobin, kGreedy, kOldest } policy = Policy::kRoundRobin;
  core::CoalescingRule rule = core::CoalescingRule::kCc20;
  double send_cycles = 2;  ///< between two transactions of an SM
  uint32_t reads = 0;      ///< transactions of loads on their way, without an L1
  uint32_t queue = 1, store_buffer = 64;
  bool look_ahead = false;  ///< pages of an access are asked for when it enters the queue
  uint32_t warp_loads = 0;  ///< on their way for one warp; 0: no limit
  double block_start_cycles = 0;
  double block_interval = 1;  ///< from one block that any SM gets to the next
  ReuseExtensions with;
  std::vector<uint32_t> sets_at_once;  ///< ReuseOptions
  uint32_t most_ways = 0;
};

/// The machine with `trace`'s kernel on it. Throws core::InputError if no block of the kernel fits an SM, or
/// if it has no L1 but `needs_l1`.
[[nodiscard]] ReuseMachine reuse_machine(const core::MachineConfig& config, const WarpTraceHeader& trace,
                                         bool needs_l1 = true);

/// What ReuseMemory and its caches take differently than the configuration has it, one line for each key.
[[nodiscard]] std::vector<std::string> unmodelled_memory(const core::MachineConfig& config);
/// The same of the whole model, which lets warps take turns besides. `all_sms`: all are modelled, and so are
/// the pages that they ask for.
[[nodiscard]] std::vector<std::string> unmodelled_by_reuse(const core::MachineConfig& config, bool all_sms);

}  // namespace gpusim::analysis
