// How many cycles each resource of a machine costs a kernel, estimated from its counters: what the kernel
// would save if a unit were twice as fast, or a latency half as long. The rules and how often they are right
// are in docs/metrics.md.
#pragma once
#include <string_view>
#include <vector>

#include "analysis/profile/limiter.h"
#include "analysis/profile/polling.h"
#include "analysis/recording/recording.h"

namespace gpusim::analysis {

/// What the names of pipes among the units begin with, and the class of loads of constants.
inline constexpr std::string_view kPipeUnits = "pipe_", kConstantLoad = "load_const";

/// Candidates in no order, with the share of the cycles that each saves.
[[nodiscard]] std::vector<LimiterCandidate> limiter_shares(const KernelRecord& kernel,
                                                           const core::MachineConfig& machine);

/// Warps that wait until another block has written something, and the others of their blocks, which wait for
/// these at a barrier.
struct Polling {
  PollingLoop loop;
  double slots = 0;  ///< share of all
  double time = 0;   ///< share of the warps' time that asking again took, without queues
  [[nodiscard]] double share() const { return std::min(slots, time); }
  [[nodiscard]] double times() const { return 1 + loop.repeats / std::max(1.0, loop.waits); }
};

/// The loop that costs most. A barrier behind it counts if a block comes to it once for a wait.
[[nodiscard]] Polling longest_polling(const KernelRecord& kernel, const core::MachineConfig& machine);

/// Share of all slots in which warps stand at a barrier for a part of their block's work that single lanes
/// do, as one thread that fills a table for all. A slot in which that thread waits as well goes to the many
/// warps at the barrier, so that its own waits are hardly counted.
[[nodiscard]] double waits_for_single_lanes(const KernelRecord& kernel);

/// Of a column; 0 if the table lacks it.
[[nodiscard]] double sum_of(const Table& table, std::string_view column);

}  // namespace gpusim::analysis
