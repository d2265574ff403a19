// Which operations ptxas makes one instruction together with the one that alone reads their result: sums of
// three operands, a shift and a sum, a sum and a minimum. The first of the two costs no instruction.
#pragma once
#include <cstdint>
#include <set>
#include <vector>

#include "isa/lowering/lir.h"
#include "isa/lowering/loop_nest.h"
#include "isa/lowering/machine_readers.h"

namespace gpusim::isa::lir {

/// Of 64 bits, but part of an address of local, shared or constant memory, of which 32 bits are computed.
[[nodiscard]] bool is_near_address(const Program& program, const Op& op);

/// Goes through a program block by block, each in order. What it is made of must outlive it.
class JoinedOperations {
 public:
  JoinedOperations(const Program& program, const Readers& readers, const LoopNest& loops);
  /// A block begins.
  void forget();
  /// Whether the operation, the next arithmetic one of the block, is one instruction with a later one.
  [[nodiscard]] bool joins(const Op& op, uint32_t block);

 private:
  bool joins_sum(const Op& op, uint32_t block);
  bool joins_shift(const Op& op, uint32_t block);
  bool joins_extreme(const Op& op, uint32_t block);
  [[nodiscard]] bool is_wide_sum(const Op& op) const;

  const Program& program_;
  const Readers& readers_;
  const LoopNest& loops_;
  std::vector<uint32_t> read_in_;   // block of the last reader of each variable
  std::vector<const Op*> read_by_;  // that reader
  std::vector<const Op*> made_by_;  // what wrote each variable last
  std::set<Var> summed_;            // of a block: they wait for the sum that takes them
  std::set<const Op*> taken_;       // of a block: they are one instruction with a shift or a minimum before
};

}  // namespace gpusim::isa::lir
