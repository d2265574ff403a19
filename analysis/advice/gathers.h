// Accesses that go where loaded values send them.
#pragma once
#include <vector>

#include "analysis/advice/facts.h"

namespace gpusim::analysis::advice {

/// For each operation, whether its address follows from a value that was loaded, as in x[index[i]]: which of
/// these lie beside each other is a matter of the data. An index that a loop counts up from a loaded start,
/// as in the rows of a sparse matrix, is none: there the threads decide.
[[nodiscard]] std::vector<bool> gathers(const Facts& facts);

}  // namespace gpusim::analysis::advice
