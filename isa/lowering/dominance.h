// Which variables behave as SSA values: written once, unguarded, by an op that dominates every read. Such a
// value can be replaced by what it was computed from, anywhere.
#pragma once
#include <vector>

#include "isa/lowering/lir.h"
#include "isa/ptx/control_flow.h"

namespace gpusim::isa::lir {

class SsaValues {
 public:
  SsaValues(const Program& program, const Flow& flow);
  [[nodiscard]] bool is_value(Var v) const { return value_[v]; }

 private:
  [[nodiscard]] bool dominates(uint32_t a, uint32_t b) const {
    return enter_[a] <= enter_[b] && leave_[b] <= leave_[a];
  }
  void number_tree(const std::vector<uint32_t>& parent);

  std::vector<bool> value_;
  std::vector<uint32_t> enter_, leave_;  // depth-first interval of each block in the dominator tree
};

}  // namespace gpusim::isa::lir
