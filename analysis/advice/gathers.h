// Accesses that go where loaded values send them.
#pragma once
#include <vector>

#include "analysis/advice/facts.h"

namespace gpusim::analysis::advice {

/// For each operation: see addresses_of_data().
[[nodiscard]] std::vector<bool> gathers(const Facts& facts);

}  // namespace gpusim::analysis::advice
