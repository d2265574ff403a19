// Which blocks lie in loops that others do not: what stands in front of a loop is computed once.
#pragma once
#include <vector>

#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

/// Loops are the blocks from where a branch leads back to, to that branch, as they are laid out.
class LoopNest {
 public:
  explicit LoopNest(const Program& program);
  /// Some loop holds the block `to` and not the block `from`.
  [[nodiscard]] bool enters(uint32_t from, uint32_t to) const {
    return from < to ? latest_begin_[to] > from : earliest_end_[to] < from;
  }
  [[nodiscard]] bool in_loop(uint32_t block) const { return earliest_end_[block] != kNone; }

 private:
  /// Of the loops that hold each block; 0 and kNone where none does.
  std::vector<uint32_t> latest_begin_, earliest_end_;
};

}  // namespace gpusim::isa::lir
