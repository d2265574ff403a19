// Shuffles, votes and barriers of a warp where its lanes may have parted, as ptxas 13 writes them: a test
// whether they have (bra.div) leads to a second way, which first gathers them for each exchange. Found with
// probes for 7.5, 8.0 and 9.0 (parted_exchanges_test.cpp).
#pragma once
#include <cstdint>
#include <vector>

#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

/// Instructions of the tests and the second ways; 0 where lanes stay together (before 7.0). `parted`: the
/// blocks to which lanes may come at different times.
[[nodiscard]] uint32_t parted_instructions(const Program& program, const std::vector<bool>& parted);

}  // namespace gpusim::isa::lir
