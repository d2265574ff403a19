// The reuse-distance model over many machines: one pass for each, or one pass for all caches of a line size
// where theory allows it.
#pragma once
#include <span>
#include <vector>

#include "analysis/models/reuse_distance/model.h"

namespace gpusim::analysis {

struct SweepPoint {
  uint64_t accesses = 0, misses = 0;  ///< loads of global memory
  bool one_pass = false;              ///< of several points
  [[nodiscard]] double miss_rate() const {
    return accesses == 0 ? 0 : static_cast<double>(misses) / static_cast<double>(accesses);
  }
};

/// One point for each machine. Without the latency extension the order of accesses does not depend on the
/// cache, so that machines which differ only in its sets, ways and misses on their way share a pass (LRU's
/// stack property: a cache with more ways of the same sets holds what one with fewer holds).
[[nodiscard]] std::vector<SweepPoint> sweep_reuse(std::span<const core::MachineConfig> machines,
                                                  const WarpTrace& trace, const ReuseOptions& options);

}  // namespace gpusim::analysis
