// What would make a kernel faster, computed: the model's own input changed in one respect at a time.
#pragma once
#include <string>
#include <vector>

#include "analysis/models/latency_hidden/analysis.h"

namespace gpusim::analysis::latency_hidden {

struct Change {
  std::string name;   ///< "occupancy", "independent work", "coalescing", "reuse", "bank conflicts", "grid"
  std::string what;   ///< in words
  double cycles = 0;  ///< predicted with it
  double factor = 0;  ///< latency-hidden factor of the whole kernel with it
};
/// Those that gain anything, most first.
[[nodiscard]] std::vector<Change> changes_that_help(const Subject& subject, const Estimate& now);

}  // namespace gpusim::analysis::latency_hidden
