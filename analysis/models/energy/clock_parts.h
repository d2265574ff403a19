// How a kernel's time depends on the core clock, from one recorded run. The launch and what warps compute go
// with the core clock; waits for memory, which has clocks of its own, do not. Which of the three bounds of
// the time holds, and how near the others are, changes with the clock (docs/models/energy.md).
#pragma once
#include <cstdint>
#include <vector>

#include "analysis/recording/recording.h"

namespace gpusim::analysis::energy {

/// Where bounds of a time meet, it is longer than each: their 4-norm. The exponent was chosen on kernels that
/// regress/energy.py marks as fitted.
inline constexpr double kJointNorm = 4;
[[nodiscard]] double joint_bound(double a, double b, double c, double d = 0);

/// How many times longer than in the run things take beyond the SMs.
struct Beyond {
  double latency = 1;  ///< an access without load
  double memory = 1;   ///< what the memory takes of itself
};

struct ClockParts {
  double seconds = 0, core_hz = 0;  ///< of the run
  double launch = 0;                ///< share of the time before the first block starts: core cycles
  double drain = 0;                 ///< share after the last block has ended: stores and atomics on their way
  // In shares of the time between:
  double work = 0;     ///< busiest unit of an SM with the most blocks
  double starts = 0;   ///< of blocks, which are given out one after the other
  double compute = 0;  ///< of a warp's life: what is no wait for memory or for room in its queues
  double latency = 0;  ///< of a warp's life, if each access were as fast as the fastest of its operation
  double memory = 0;   ///< what the memory takes of itself; set by finish()

  /// The rest of the time, which neither work, starts nor the path of a warp explain, is the memory's.
  void finish();
  [[nodiscard]] double seconds_at(double hz, const Beyond& beyond = {}) const;
  /// Of the time between launch and drain at `hz`: shares of the bound by work, by starts of blocks, by the
  /// path of a warp, by memory. They add up to 1.
  struct Bounds {
    double work = 0, starts = 0, path = 0, memory = 0;
  };
  [[nodiscard]] Bounds bounds_at(double hz, const Beyond& beyond = {}) const;
};

/// A warp's access to what lies beyond its SM, in core cycles.
struct Wait {
  uint64_t warp = 0;  ///< block and warp
  uint64_t issue = 0, complete = 0;
  uint64_t fastest = 0;  ///< cycles that the fastest access of the same operation took
};

[[nodiscard]] uint64_t block_of(const Wait& wait);

/// Cycles in which a warp has an access on its way, over all warps; with the access's own time, or the
/// fastest. `waits` are sorted by warp and issue.
struct WaitCycles {
  double all = 0, fastest = 0;
};
[[nodiscard]] WaitCycles wait_cycles(const std::vector<Wait>& waits);

/// Throws core::RecordError if the run has no memory events.
[[nodiscard]] std::vector<Wait> read_waits(const Recording& recording, const KernelRecord& kernel);

/// Core cycles of the busiest unit of all SMs, for the whole kernel.
[[nodiscard]] double busiest_unit(const KernelRecord& kernel, const core::MachineConfig& machine);

/// Core cycles that the longest warp of each block computes at most, summed over the blocks: all of its
/// operations one after the other, each with its latency on the SM, or its pipe's time. Infinity if warps
/// wait for each other at barriers, or if the run does not say how many operations the longest warps have.
[[nodiscard]] double longest_computing(const KernelRecord& kernel, const core::MachineConfig& machine);

[[nodiscard]] ClockParts clock_parts(const Recording& recording, const KernelRecord& kernel);

}  // namespace gpusim::analysis::energy
