// The traces of a kernel's warps from what a run recorded (`--events memory` or `all`): the lines that each
// access asked for from events/cache, their order in a warp, dependences and the time between accesses from
// events/memory, barriers from events/phase, work from per_pc.
#pragma once
#include "analysis/recording/recording.h"
#include "analysis/recording/warp_trace.h"

namespace gpusim::analysis {

/// Throws core::RecordError if the launch lacks the tables, or if its L1 fetches sectors of a
/// line, which the tables do not have.
[[nodiscard]] WarpTrace recorded_warp_trace(const Recording& recording, const KernelRecord& kernel);

}  // namespace gpusim::analysis
