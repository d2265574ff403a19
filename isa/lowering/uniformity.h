// Which variables have one value for all lanes of a warp that read them together, as far as the data flow
// shows: what is made of constants, parameters, the block's number, results of votes, and loads from uniform
// addresses.
#pragma once
#include <vector>

#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

/// What lanes of a warp may have of their own.
struct Divergence {
  std::vector<bool> variables;  ///< of each, whether it may differ between lanes
  /// Of each, whether lanes may come to it at different times: it lies between a branch that they decide
  /// differently and the place where its ways join.
  std::vector<bool> blocks;
};
[[nodiscard]] Divergence find_divergence(const Program& program, const Flow& flow);

}  // namespace gpusim::isa::lir
