// The reuse-distance model in its default mode: misses of the L1 caches by kind, and hits of the
// L2, from a trace of a kernel's warps (analysis/recording/warp_trace.h) and the configuration of a
// machine, without cycle-level simulation. Structure: Nugteren, van den Braak, Corporaal and Bal, "A detailed
// GPU cache model based on reuse distance theory", HPCA 2014; what differs is in
// docs/models/reuse_distance.md.
#pragma once
#include <cstdint>
#include <vector>

#include "analysis/models/reuse_distance/l1.h"
#include "analysis/models/reuse_distance/machine.h"
#include "analysis/models/reuse_distance/memory.h"
#include "analysis/recording/warp_trace.h"
#include "simcore/config/machine_config.h"

namespace gpusim::analysis {

struct ReuseOptions {
  ReuseExtensions with = {};
  /// Only the SM of this number is modelled, with what its neighbours leave of memory.
  static constexpr int64_t kAllSms = -1;
  /// One SM of each kind, which stands for the others: where not all can be full, those that get one block
  /// more than the rest are a kind of their own.
  static constexpr int64_t kOneOfEachKind = -2;
  int64_t only_sm = kAllSms;
  /// L2 as the kernels before have left it, and as this one leaves it; only with kAllSms. If it has traffic,
  /// the machine need not have an L1.
  ReuseMemory* memory = nullptr;
  /// Without the latency extension, in which the order of accesses is the same for every cache: hits of all
  /// caches of so many sets and 1 to `most_ways` ways in the same pass.
  std::vector<uint32_t> sets_at_once = {};
  uint32_t most_ways = 0;
};

/// One pass over a trace. With kOneOfEachKind counts of an SM are taken as often as there are SMs of its
/// kind.
struct ReuseRun {
  ReuseMisses global, local;  ///< loads, a line each
  bool limited = false;       ///< some load had to wait for a register of the misses on their way
  double cycles = 0;          ///< core cycles until the last block has ended
  uint64_t l2_sectors = 0, l2_hits = 0;
  uint64_t l2_others = 0;                       ///< sectors of stores and atomics
  uint64_t l2_atomics = 0, l2_atomic_hits = 0;  ///< of them, those of atomics
  uint64_t accesses = 0;                        ///< of warps to global and local memory
  std::vector<uint64_t> distances;              ///< ReuseL1::distances()
  /// For each of sets_at_once: hits of global loads by number of ways less one.
  std::vector<std::vector<uint64_t>> hits_at_once;
};
[[nodiscard]] ReuseRun run_reuse(const core::MachineConfig& config, const WarpTrace& trace,
                                 const ReuseOptions& options = {});

/// Loads of global memory: `run` is the machine's; kinds are those of the machine without limits to the lines
/// on their way, `mshr` what the limits add (or save): kinds.misses() + mshr = run.global.misses().
struct ReusePrediction {
  ReuseRun run;
  ReuseMisses kinds;
  int64_t mshr = 0;
  bool all_sms = true;  ///< none stands for others
};
[[nodiscard]] ReusePrediction predict_reuse(const core::MachineConfig& config, const WarpTrace& trace,
                                            const ReuseOptions& options = {});

}  // namespace gpusim::analysis
