// Where something of a kernel is, line by line: counts of operations, summed over all that stand for one line
// of the user's source, as the copies of an unrolled loop do, or, without .loc, for one statement of the PTX.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/recording/recording.h"

namespace gpusim::analysis {

/// Operations of one line of the source, or of one statement. Those of spilled registers are a place of their
/// own.
struct CodePlace {
  uint64_t pc = 0;          ///< the first operation of the statement that has most
  uint64_t count = 0;       ///< of all of the place
  uint64_t statements = 1;  ///< of the PTX, that have any
};

/// `counts` has a value for each row of `per_pc`. Largest first, equal ones in the order of the code; places
/// without any are left out.
[[nodiscard]] std::vector<CodePlace> code_places(const Table& per_pc, std::span<const uint64_t> counts);

}  // namespace gpusim::analysis
