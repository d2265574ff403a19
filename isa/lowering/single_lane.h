// Where one lane of a warp is at most, because a test of the thread's x coordinate for equality leads there.
#pragma once
#include <vector>

#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

/// As ptxas 13 has it (probes for sm_75 and sm_80): `tid.x == n`, also with something added on either side
/// that all lanes share. It does not see the same in `tid.x % 32 == 0`, nor in a test of two coordinates.
class SingleLane {
 public:
  SingleLane(const Program& program, const Flow& flow, const std::vector<bool>& divergent);
  /// Whether one lane at most executes `op` of this block.
  [[nodiscard]] bool executes(uint32_t block, const Op& op) const {
    return blocks_[block] ||
           (op.guard != kNoVar && sense_[op.guard] == (op.guard_negated ? kUnequal : kEqual));
  }

 private:
  /// What a predicate that is true says of the lane.
  enum Sense : uint8_t { kNothing, kEqual, kUnequal };
  void find_tests(const Program& program, const Flow& flow, const std::vector<bool>& divergent);
  void find_blocks(const Program& program, const Flow& flow);

  std::vector<Sense> sense_;  // of each predicate
  std::vector<bool> blocks_;
};

}  // namespace gpusim::isa::lir
