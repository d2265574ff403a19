// Which variables have one value for all lanes of a warp that read them together, as far as the data flow
// shows: what is made of constants, parameters, the block's number, results of votes, and loads from uniform
// addresses.
#pragma once
#include <vector>

#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

/// Of each variable, whether it may differ between lanes.
[[nodiscard]] std::vector<bool> divergent_variables(const Program& program, const Flow& flow);

}  // namespace gpusim::isa::lir
