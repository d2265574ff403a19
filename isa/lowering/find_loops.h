// The loops that ptxas makes longer or turns into all their iterations (compute capability 7.0 and up), and
// how: what unroll.cpp then does. Found by experiment with ptxas 13.0 (docs/studies/compiler_history.md).
#pragma once
#include <optional>

#include "isa/lowering/lir.h"
#include "isa/lowering/unroll_cost.h"

namespace gpusim::isa::lir {

struct Loop {
  uint32_t latch = kNone;    ///< the block at its end, which branches back
  uint32_t entry = kNone;    ///< the block where its first iteration begins: its first, or one behind it
  bool has_exits = false;    ///< besides the test
  bool tests_first = false;  ///< its counter, before that goes on
  size_t compare = 0;        ///< the op of that block that decides
  CompareOp relation = CompareOp::kNone;
  Type type = Type::kNone;
  Value counter, end;
  int64_t step = 0;
  uint32_t trips = 0;     ///< if that many iterations become code and the loop goes, else 0
  uint32_t together = 1;  ///< iterations that become one, of `known`
  uint32_t known = 0;     ///< iterations behind the part of one that the entry may begin with
  int64_t start = 0;      ///< of the counter, if its iterations are known

  [[nodiscard]] bool is_wide() const { return type_bytes(type) == 8; }
  /// The loop goes on when its counter is at the end.
  [[nodiscard]] bool includes_end() const { return relation == (step > 0 ? CompareOp::kLe : CompareOp::kGe); }
};

/// A counter or an address that goes on by a number in each iteration.
[[nodiscard]] bool is_step(const Op& op);
/// The branch leaves the loop that begins with the block `header`.
[[nodiscard]] bool leads_out(const Op& branch, uint32_t header, const Loop& loop);

class LoopFinder {
 public:
  /// `blocks` are those of `program`, whose own may be others by then; `divergent`: of its variables
  /// (uniformity.h); `again`: only loops around what became code just now.
  LoopFinder(const Program& program, const std::vector<Block>& blocks, const std::vector<bool>& divergent,
             bool again);

  /// A loop from `header` to its latch, the blocks between them included, that nothing else enters, and
  /// nothing but the test leaves if not all of its iterations become code: whether it becomes another.
  bool recognise(uint32_t header, Loop& loop) const;
  /// The number, or the place of a variable, that is moved to it in front of the loop: in the one block that
  /// leads there, for ptxas looks no further, even where only one way leads to that block.
  [[nodiscard]] std::optional<Value> starts_at(uint32_t header, const Loop& loop, Var var) const;
  /// Of a loop whose iterations are known.
  [[nodiscard]] UnrolledCost cost_of_known(uint32_t header, const Loop& loop) const;

 private:
  /// Of an iteration, in operations, without what counts and tests.
  [[nodiscard]] uint32_t cost(uint32_t header, const Loop& loop) const;
  [[nodiscard]] uint32_t cost_of(const Op& op) const;
  /// A branch that another may jump over. Iterations of which it is not known how many there are stay one by
  /// one then (ptxas 13, probes for sm_75).
  [[nodiscard]] bool has_nested_branches(uint32_t header, uint32_t latch) const;
  /// Inside, besides the one that goes round; of those that became predicates, too.
  [[nodiscard]] bool branches(uint32_t header, uint32_t latch) const;
  [[nodiscard]] uint32_t budget(uint32_t header, uint32_t latch) const;
  /// A loop of an unknown number of iterations with what lanes or warps do together, or with atomics, becomes
  /// longer only if all lanes count to a number or to a parameter as it is and none jumps over the loop; with
  /// a barrier, only if nothing in it branches. By experiment with ptxas 13.0.
  [[nodiscard]] bool may_be_taken_apart(uint32_t header, const Loop& loop) const;
  /// A number, or a parameter as it is.
  [[nodiscard]] bool is_constant(const Value& value) const;
  /// Where the one block that leads into the loop leads to: to its first one, which follows on it, or by a
  /// jump to another, which what stands before that leads to as well.
  [[nodiscard]] bool find_entry(uint32_t header, Loop& loop) const;
  /// ptxas leaves a loop alone that has this: by experiment with ptxas 13.0 for sm_75, sm_80 and sm_90.
  [[nodiscard]] bool stays(const Op& op) const;
  /// Lanes of a warp may leave it at different times.
  [[nodiscard]] bool lanes_differ(const Loop& loop) const;
  /// Of iterations that not all lanes do, ptxas puts none beside another that changes memory by what it read
  /// there: by atomics, or by stores whose value, place or condition comes from loads of the same space. If
  /// it is the value only, unless the address is made of nothing but what goes on by constants and, in global
  /// memory, the store has no condition.
  /// Loads of another space, which need not wait for the stores, make it worth its while.
  [[nodiscard]] bool must_stay_in_order(uint32_t header, uint32_t latch) const;
  [[nodiscard]] bool stores_what_it_read(uint32_t header, uint32_t latch, const std::vector<const Op*>& ops,
                                         Space space) const;
  /// The value is made of counters and numbers.
  static bool goes_on_by_constants(const Value& value, const std::vector<const Op*>& ops, int depth);
  /// How often the loop is gone round if its counter begins and ends at constants, else 0.
  [[nodiscard]] uint32_t known_trips(uint32_t header, Loop& loop) const;
  [[nodiscard]] bool find_compare(uint32_t header, Loop& loop) const;
  /// The counter is written once, by adding a constant before the comparison in a block that no lane misses;
  /// the end never.
  [[nodiscard]] bool find_step(uint32_t header, Loop& loop) const;

  const Program& program_;
  const std::vector<Block>& old_;
  const std::vector<bool>& divergent_;
  bool again_;
  std::vector<uint32_t> latch_;                 // of the block where a loop begins
  std::vector<bool> parameter_;                 // whether a variable is a parameter as it is
  std::vector<std::vector<uint32_t>> entries_;  // blocks that branch to each; kNone for a table of branches
};

}  // namespace gpusim::isa::lir
