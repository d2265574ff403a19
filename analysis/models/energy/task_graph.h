// The critical path of a recorded kernel: the longest path through the graph of its tasks. A task is one
// barrier interval of a block; it follows the interval before it, and the first one of a block follows the
// last one of the block that had its slot in the SM before (events/phase and events/slot). As the paper's
// step 2 asks, the path is split into computation, memory accesses and barriers.
#pragma once
#include <cstdint>
#include <vector>

#include "analysis/models/energy/clock_parts.h"
#include "analysis/recording/recording.h"

namespace gpusim::analysis::energy {

struct Task {
  uint64_t block = 0, interval = 0;
  uint64_t start = 0, end = 0;  ///< core cycles
};
/// A block that follows another in its slot.
struct Succession {
  uint64_t previous = 0, next = 0;
};

/// Indices into `tasks` of the longest path, first task first. `tasks` are sorted by block and interval.
/// Throws core::RecordError if the tasks follow each other in a circle.
[[nodiscard]] std::vector<size_t> longest_path(const std::vector<Task>& tasks,
                                               const std::vector<Succession>& successions);

struct CriticalPath {
  uint64_t tasks = 0, blocks = 0;     ///< on the path
  double cycles = 0;                  ///< the path's length; core cycles
  double computing = 0, waiting = 0;  ///< of a warp on it, in the mean: they add up to the length
  double accesses = 0;                ///< of memory, by one warp of each block on the path, in the mean
  double barriers = 0;                ///< that end a task of the path
};
/// Throws core::RecordError if the run has no memory events.
[[nodiscard]] CriticalPath critical_path(const Recording& recording, const KernelRecord& kernel);

}  // namespace gpusim::analysis::energy
