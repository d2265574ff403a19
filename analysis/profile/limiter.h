// What limits a kernel, named from its counters alone: a unit that is full, a latency that too few warps
// hide, or the start of the kernel. Each candidate has an estimate of the cycles that the kernel would save
// if that unit were twice as fast, or that latency half as long; the largest estimate names the limiter.
// `gpusim explain --prove` simulates what these are estimates of, and regress/limiters.py compares the two
// (docs/metrics.md).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/recording/recording.h"

namespace gpusim::analysis {

struct LimiterCandidate {
  /// "launch", "network", "dram", "atomics", "issue", "lsu", "pipe_NAME", "latency" (of memory),
  /// "translation", "camping" (of requests, in few memory partitions at a time), "shared" (steps of
  /// accesses that take several cycles each), "shared_latency",
  /// "dependency", "fence", "branch", "constants", "other_blocks" (that are to write what warps ask for) or
  /// "buffers".
  std::string name;
  double saved = 0;  ///< core cycles, estimated
};

/// A saving of less than this share of the cycles is no limiter: nothing helps alone.
inline constexpr double kLimits = 0.05;
/// The name of what limits nothing.
inline constexpr std::string_view kNoLimiter = "nothing";

/// Candidates of one kernel, the largest first. None if the recording has no units.
[[nodiscard]] std::vector<LimiterCandidate> limiter_candidates(const KernelRecord& kernel,
                                                               const core::MachineConfig& machine);
/// Of several kernels that run one after the other: the sums.
[[nodiscard]] std::vector<LimiterCandidate> limiter_candidates(const std::vector<KernelRecord>& kernels,
                                                               const core::MachineConfig& machine);
/// The first of them, if it saves kLimits of `cycles`, else kNoLimiter.
[[nodiscard]] std::string limiter_name(const std::vector<LimiterCandidate>& candidates, uint64_t cycles);

/// Blocks that wait for other blocks for so long that half of it would be kLimits of the cycles.
struct BlocksThatWait {
  uint64_t asks = 0;  ///< the operation that reads what another block is to write
  double times = 0;   ///< how often, for each wait
};
[[nodiscard]] std::optional<BlocksThatWait> blocks_that_wait(const KernelRecord& kernel,
                                                             const core::MachineConfig& machine);

/// One line about a kernel's limiter, without a new line: "atomics in partition 3 (94 % busy, mean of all 3
/// %): line 50 `atom...`". Places in the code are left out if the kernel has no per_pc. Empty without units.
[[nodiscard]] std::string limiter_text(const KernelRecord& kernel, const core::MachineConfig& machine);
/// What would save nearly as much as the limiter (60 %), with the limiter: "pipe_lsu 15 %, network 10 %".
/// Empty if nothing does.
[[nodiscard]] std::string limiter_rivals(const std::vector<LimiterCandidate>& candidates, uint64_t cycles);
/// The words of that line for a candidate, be it the first or not.
[[nodiscard]] std::string limiter_words(std::string_view name, const KernelRecord& kernel,
                                        const core::MachineConfig& machine);
/// The same as JSON: name, text and candidates with the share of the cycles that each would save.
[[nodiscard]] std::string limiter_json(const KernelRecord& kernel, const core::MachineConfig& machine);

}  // namespace gpusim::analysis
