// Which variables behave as SSA values: written once, unguarded, by an op that dominates every read. Such a
// value can be replaced by what it was computed from, anywhere.
#pragma once
#include <vector>

#include "isa/lowering/lir.h"
#include "isa/ptx/control_flow.h"

namespace gpusim::isa::lir {

/// Which blocks every way to a block goes through, from a depth-first walk of the dominator tree.
class Dominators {
 public:
  Dominators(uint32_t blocks, const Flow& flow);
  [[nodiscard]] bool dominates(uint32_t a, uint32_t b) const {
    return enter_[a] <= enter_[b] && leave_[b] <= leave_[a];
  }
  /// When the walk enters the block: dominators of one block have ascending numbers.
  [[nodiscard]] uint32_t enter(uint32_t b) const { return enter_[b]; }

 private:
  std::vector<uint32_t> enter_, leave_;  // of each block
};

class SsaValues {
 public:
  SsaValues(const Program& program, const Flow& flow);
  [[nodiscard]] bool is_value(Var v) const { return value_[v]; }

 private:
  std::vector<bool> value_;
};

}  // namespace gpusim::isa::lir
