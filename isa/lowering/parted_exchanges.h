// Shuffles, votes and barriers of a warp where its lanes may have parted, as ptxas 13 writes them: a test
// whether they have (bra.div) leads to a second way, which first gathers them for each exchange. Found with
// probes for 7.5, 8.0 and 9.0 (parted_exchanges_test.cpp).
#pragma once
#include <cstdint>
#include <vector>

#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

/// Machine instructions of the tests and the second ways, by class.
struct PartedInstructions {
  uint32_t control = 0;    ///< tests, branches, calls, and what gathers lanes
  uint32_t integer = 0;    ///< moves, and what stands between two exchanges, which is done once more
  uint32_t exchanges = 0;  ///< those of the second way
};
/// All of a kernel; none where lanes stay together (before 7.0). `parted`: by block of the program, whether
/// its lanes may come to it at different times.
[[nodiscard]] PartedInstructions parted_instructions(const Program& program, const std::vector<bool>& parted);

}  // namespace gpusim::isa::lir
