// The latency-hidden factor model of one kernel, from what a run counted or what is predicted of it.
#pragma once
#include "analysis/models/latency_hidden/counts.h"
#include "analysis/models/latency_hidden/estimate.h"
#include "analysis/models/latency_hidden/paper.h"

namespace gpusim::analysis::latency_hidden {

/// The model's input for a launch. `occupancy` of `workload` is computed, not recorded.
struct Subject {
  Code code;
  Parameters parameters;
  isa::Occupancy occupancy;
  Workload workload;
};

/// Of a launch of so many blocks: SMs that have one, and their ports.
void use_sms(double blocks, Parameters& p);

/// `sms`: that the kernel runs on.
[[nodiscard]] Subject subject_of(const core::MachineConfig& machine, Code code, const Counts& counts,
                                 const DataSheet& sheet, uint64_t sms);

}  // namespace gpusim::analysis::latency_hidden
