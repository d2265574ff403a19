// What must hold of a factor by its definition.
#pragma once
#include <string>
#include <vector>

#include "analysis/models/latency_hidden/advice.h"
#include "analysis/models/latency_hidden/breakdown.h"
#include "analysis/models/model.h"

namespace gpusim::analysis::latency_hidden {

/// A factor is a share of a latency, and the bound of exposed latency cuts nothing off: of a kernel, of its
/// segments, and of the kernel with each change. `kernel`: for messages.
void check_factors(const std::string& kernel, const Estimate& estimate, const Breakdown& breakdown,
                   const std::vector<Change>& changes, Invariants& invariants);

}  // namespace gpusim::analysis::latency_hidden
