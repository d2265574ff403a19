// How many instructions ptxas makes of each operation of a program, by capability: sequences, constants that
// need registers, and what a kernel has once. Behind machine_count.h.
#pragma once
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "isa/lowering/dominance.h"
#include "isa/lowering/loop_nest.h"
#include "isa/lowering/machine_count.h"
#include "isa/lowering/machine_joins.h"
#include "isa/lowering/machine_mix.h"
#include "isa/lowering/machine_readers.h"
#include "isa/lowering/uniformity.h"

namespace gpusim::isa::lir {

class MachineCounter {
 public:
  MachineCounter(const Program& program, const Flow& flow);
  /// Numbers that need a register stay there for the blocks behind, unless those are in a loop that the block
  /// which put them there is not in: so ptxas reckons when it decides which branches become predicates
  /// (probes for 7.5, 8.0 and 9.0, see predicate_branches_test.cpp), while in its final code most blocks put
  /// them there again.
  void numbers_stay() { numbers_stay_ = true; }
  /// Of each block.
  const std::vector<uint32_t>& blocks();
  /// Of each block's operations, the instructions that a warp executes of them on their usual way. An
  /// operation that costs nothing takes one slot here, which a later one of several gives back.
  std::vector<std::vector<uint32_t>> executed();
  /// Of each block's operations, all instructions that a warp executes in ptxas' code for them on their usual
  /// way, with those of constants: the profiler counts these. An operation that costs nothing has none.
  /// `once`: what a warp executes besides, when it begins and in front of loops.
  std::vector<std::vector<uint32_t>> instructions(uint32_t& once);
  MachineCounts run();

 private:
  /// Counted in code that ptxas 13.0 makes for sm_75: `inline_count` at each use, `subroutine` once in a
  /// kernel.
  struct Sequence {
    uint32_t inline_count = 1;
    uint32_t subroutine = 0;
  };
  struct Subroutine {
    uint32_t count = 0;
    Mix mix;
    MachineClass own = MachineClass::kInteger;
  };
  static constexpr int kClustersFrom = 90;
  /// Numbers of 64 bits that stay in registers of the warp (probes of ptxas 13: four do, six do not).
  static constexpr size_t kMostDoubles = 4;

  /// All that reads it are 64-bit sums, which extend or scale what they add (lea).
  [[nodiscard]] bool only_added(Var v) const {
    return readers_.all[v] != 0 && readers_.all[v] == readers_.wide_sums[v];
  }
  [[nodiscard]] bool reaches_global() const;
  /// The stack pointer, and the descriptor of global memory.
  [[nodiscard]] uint32_t preamble() const;
  /// From 9.0 on, addresses of variables in shared memory that block `b` names: where a block's memory lies
  /// in its cluster's is read and scaled in each basic block that names one (159 of 208 kernels of the
  /// studied corpus have exactly so many), two more instructions for each further one (probes of ptxas 13).
  [[nodiscard]] uint32_t shared_addresses(uint32_t b) const {
    constexpr uint32_t kFirst = 3, kFurther = 2;
    const uint32_t named = program_.machine_capability < kClustersFrom ? 0 : program_.blocks[b].shared_named;
    return named == 0 ? 0 : kFirst + kFurther * (named - 1);
  }
  /// Adds these instructions to those of the blocks' operations, where they are executed: in front of a loop
  /// if each of its iterations comes past the block.
  void add_shared_addresses(std::vector<std::vector<uint32_t>>& all) const;
  /// In a loop that may wait for other lanes, at the branch back: yield, and before 8.0 two votes around it,
  /// which are compared, and another branch.
  [[nodiscard]] uint32_t yield_instructions() const { return program_.machine_capability < 80 ? 5 : 1; }
  [[nodiscard]] bool loads_constants() const { return program_.machine_capability >= kLoadsConstantsFrom; }
  /// Whether the constant of the launch must be loaded in this block, for the warp or for each thread: no
  /// block on the way to it did. Two words that lie side by side are one load.
  bool is_new(const LaunchConstant& c, bool for_threads);
  /// Whether a number must be put into a register in this block. In the code as it is in the end, that is
  /// done once in a block, see numbers_stay().
  bool is_new(uint64_t number);
  uint32_t count_block(uint32_t b);
  void add(MachineClass c, uint32_t n) { classes_[static_cast<size_t>(c)] += n; }
  void add_mix(uint32_t n, const Mix& mix, MachineClass own);
  void add_op(const Op& op, uint32_t n);
  /// What is known of a block's values.
  void forget();
  /// Of a function that was called before: ptxas inlines none, so its code is there once.
  bool again(const Op& op) { return code_of_.emplace(op.ptx_index, op.scope).first->second != op.scope; }
  uint32_t sequence(uint64_t key, OpClass c, Sequence s);
  /// Arguments, the return address and the function's own are moved to registers.
  [[nodiscard]] uint32_t system_call(const Op& op) const;
  /// A sum of floating-point numbers in shared memory is a loop of a load, the sum, a compare-and-swap, a
  /// test, two for 64 bits, and a branch back, with what lanes need to meet behind it.
  [[nodiscard]] uint32_t atomic(const Op& op) const;
  uint32_t count(const Op& op);
  uint32_t arithmetic(const Op& op);
  /// Of 64 bits, of which the upper half is zero, or is nothing that anyone reads.
  [[nodiscard]] bool is_word(Var v) const { return v < program_.narrow.size() && program_.narrow[v]; }
  /// The lower words' product, with 64 bits added to it; each lower word by the other's upper one, unless
  /// that is zero; and their sum (probes of ptxas 13).
  [[nodiscard]] uint32_t product_of_64_bits(const Op& op) const;
  /// Of a value put together from its parts, or taken apart: the halves of a pair are registers.
  [[nodiscard]] uint32_t parts(const Op& op, Type part) const;
  /// Of a bitwise operation on 64 bits: where a constant leaves or clears a half, nothing is to be done.
  static uint32_t halves(const Op& op);
  uint32_t division(const Op& op, bool by_constant);
  /// Where the reciprocal is there (known_divisors.cpp), it is a product and its scaling. A reciprocal before
  /// a loop stands in the code, too.
  uint32_t approximate_division(const Op& op);
  /// Whether the reciprocal of the divisor is there, from a division before it in its block.
  bool prepared(const Op& op);
  /// An instruction takes one constant; what else it reads must be in registers.
  uint32_t literals(const Op& op);
  /// From 9.0 on a number of 64 bits whose lower half is not zero is put into a register of the warp, by two
  /// instructions, where a block first needs it, or the kernel, if there are few.
  uint32_t double_literals(const Op& op);
  template <class Fn>
  void for_each_double(const Op& op, Fn fn) const;
  /// In front of a loop, if they are few.
  [[nodiscard]] bool hoists_doubles(uint32_t block) const;
  /// Of the constants of the launch that the operation reads, where no operand can be one.
  uint32_t constant_loads(const Op& op);
  /// Moved from the constant bank, or loaded where that is an operation.
  uint32_t parameter(const Op& op);
  /// What is stored stands in registers, where a block needs it once.
  uint32_t stored_literals(const Op& op);
  /// Of executed() and instructions(): the usual way of a sequence whose subroutine is called rarely, if `op`
  /// began one.
  uint32_t usual_way(const Op& op, uint32_t count);
  /// Adds what lanes need to meet again behind branches that they decide differently; see instructions().
  void add_meetings(std::vector<std::vector<uint32_t>>& all, uint32_t& once) const;
  /// Adds what branches need, less what they save where a block is predicated.
  void branches();
  /// The block ends with a branch back that lanes may decide differently, and the loop has an atomic, or a
  /// volatile or ordered load.
  bool yields(uint32_t b) const;
  bool predicable(uint32_t b) const;

  const Program& program_;
  const Flow& flow_;
  const Readers readers_;
  std::unordered_map<uint64_t, std::vector<uint32_t>>
      in_registers_;                            // numbers, and the blocks that put them there
  std::set<std::pair<uint64_t, bool>> stored_;  // constants of a block that stores take, of 64 bits or fewer
  std::set<uint64_t> doubles_;                  // constants of a block, see double_literals()
  std::set<Var> turns_;                         // of a block: a sine or cosine of it was taken
  std::set<std::tuple<bool, uint32_t, uint64_t, bool>> divisors_;  // of a block: with sign or without
  bool numbers_stay_ = false;
  bool only_executed_ = false;  // of loops, what each iteration executes
  const Divergence divergence_;
  Dominators dominators_;
  LoopNest loops_;
  JoinedOperations joined_;
  uint32_t block_at_ = 0;  // that is counted
  /// The blocks that load a constant of the launch: by what it is.
  std::map<std::tuple<LaunchConstant::Source, bool, bool, uint64_t>, std::map<uint32_t, uint32_t>> loaded_;
  std::vector<uint32_t> block_;                     // instructions
  std::vector<uint32_t> waits_before_{0};           // atomics and volatile loads in the blocks before each
  std::unordered_map<uint32_t, uint32_t> code_of_;  // of each statement, the call that was counted
  std::unordered_map<uint64_t, Subroutine> subroutines_;
  MachineCounts classes_{};
};

}  // namespace gpusim::isa::lir
