// The latency-hidden factor model of a recorded run: both variants of one kernel, beside what was simulated.
#pragma once
#include "analysis/models/latency_hidden/estimate.h"
#include "analysis/models/latency_hidden/paper.h"
#include "analysis/recording/recording.h"

namespace gpusim::analysis::latency_hidden {

/// The model's input for a launch. `occupancy` of `workload` is computed, not recorded.
struct Subject {
  Code code;
  Parameters parameters;
  isa::Occupancy occupancy;
  Workload workload;
};

[[nodiscard]] Subject subject_of(const Recording& recording, const KernelRecord& kernel,
                                 const DataSheet& sheet);

}  // namespace gpusim::analysis::latency_hidden
