// Liveness of variables per thread, as segments of blocks: a new one starts where a variable is overwritten
// after its last reader, so that the gap is free for others. Positions count half-steps: op i of the whole
// program reads its sources at 2i and writes its results at 2i+1, so a result may take the row of a source
// that dies there. Guarded writes keep the old value in other lanes, hence do not end a range; "may be
// defined" cuts what that would extend. What a folded shared load delivers exists only inside its op and has
// no segment. Only variables that cross blocks take part in the data flow, so kernels with tens of thousands
// of registers stay cheap; and what lives through a block that does not mention it is one bit there, for in
// deeply nested code almost everything does.
#pragma once
#include <vector>

#include "isa/lowering/bit_set.h"
#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

struct Segment {
  Var var = kNoVar;
  uint32_t begin = 0;  ///< half-steps, inclusive
  uint32_t end = 0;
};

/// What is alive where blocks meet. Every order of a block's operations that keeps who reads what has the
/// same.
struct Crossings {
  std::vector<uint32_t> number;  ///< of each variable that crosses blocks, kNone of others
  std::vector<Var> variables;    ///< by number
  std::vector<BitSet> live_out;  ///< of blocks, as the next one: bits are numbers
  std::vector<BitSet> through;  ///< what lives through a block that does not mention it; none of an empty one
  std::vector<std::vector<Var>> entering;  ///< of blocks: what they mention and is alive at their start
  /// Of blocks: registers and predicates of a thread that what lives through them takes. The stack pointer is
  /// not among them.
  std::vector<uint32_t> through_registers, through_predicates;
};
[[nodiscard]] Crossings find_crossings(const Program& program, const Flow& flow);
/// How many variables those are. Each has a bit for each block.
[[nodiscard]] uint32_t count_crossing(const Program& program);

struct Liveness {
  Crossings crossings;
  std::vector<uint32_t> first_op;  ///< global index of each block's first op
  /// Per block, of the variables that it mentions, those of Crossings::entering first; those of one variable
  /// are disjoint and ascend.
  std::vector<std::vector<Segment>> segments;
};
[[nodiscard]] Liveness compute_liveness(const Program& program, const Flow& flow);
/// Finds them again, after operations got another order in their blocks.
void find_segments(const Program& program, Liveness& live);

/// Finds the segments of single blocks.
class SegmentFinder {
 public:
  SegmentFinder(const Program& program, const Crossings& crossings)
      : program_(program), crossings_(crossings), slot_(program.vars.size(), kNone) {}
  /// Of `block`, whose operations may be in the order `ops`, the first of them with this global index.
  [[nodiscard]] std::vector<Segment> find(uint32_t block, const std::vector<Op>& ops, uint32_t first_op);

 private:
  const Program& program_;
  const Crossings& crossings_;
  std::vector<uint32_t> slot_;  // of each variable, the index of its last segment
};

/// Those of a block, with what lives through it: first what is alive at its start, by number.
[[nodiscard]] std::vector<Segment> all_segments(const Program& program, const Liveness& live, uint32_t block);

/// Calls fn(Segment) for what lives through blocks, where `counts(block)` has its bit: one segment over
/// blocks that stand one behind the other.
template <class Counts, class Fn>
void for_each_through(const Program& program, const Liveness& live, Counts counts, Fn fn) {
  const Crossings& c = live.crossings;
  std::vector<uint32_t> begin(c.variables.size(), 0);
  BitSet open(c.variables.size());
  uint32_t end = 0;
  const auto close = [&](size_t n) { fn(Segment{c.variables[n], begin[n], end}); };
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    if (program.blocks[b].ops.empty()) continue;
    BitSet here = c.through[b];
    here.keep(counts(b));
    open.for_each_without(here, close);
    here.for_each_without(open, [&](size_t n) { begin[n] = 2 * live.first_op[b]; });
    open = std::move(here);
    end = 2 * (live.first_op[b] + static_cast<uint32_t>(program.blocks[b].ops.size())) - 1;
  }
  open.for_each(close);
}
template <class Fn>
void for_each_through(const Program& program, const Liveness& live, Fn fn) {
  const BitSet all(live.crossings.variables.size(), true);
  for_each_through(
      program, live, [&](uint32_t) -> const BitSet& { return all; }, fn);
}

/// By variable, whether some operation reads it.
[[nodiscard]] std::vector<bool> read_variables(const Program& program);

/// 32-bit registers a variable takes (predicates, and what is no general register, are apart).
[[nodiscard]] constexpr uint32_t register_width(VarClass c) {
  return c == VarClass::kRow64 ? 2 : c == VarClass::kRow32 ? 1 : 0;
}
/// The same of what is no address of a machine with shorter pointers.
[[nodiscard]] inline uint32_t register_width(const Program& program, Var v) {
  return v < program.narrow.size() && program.narrow[v] ? 1 : register_width(program.vars[v]);
}
/// The same of a thread's registers: none for what is in a uniform one.
[[nodiscard]] inline uint32_t thread_registers(const Program& program, Var v) {
  return v < program.uniform.size() && program.uniform[v] ? 0 : register_width(program, v);
}
/// Rows of 32 bits a variable takes; 0 for a predicate.
[[nodiscard]] constexpr uint32_t row_width(VarClass c) {
  return c == VarClass::kPredicate ? 0 : is_wide(c) ? 2 : 1;
}
/// Registers alive at each half-step of a block, relative to its first op.
[[nodiscard]] std::vector<uint32_t> block_pressure(const Program& program, const Liveness& live,
                                                   uint32_t block);
/// The same of a block with so many operations, the first of them with this global index.
[[nodiscard]] std::vector<uint32_t> pressure_of(const Program& program, const std::vector<Segment>& segments,
                                                uint32_t through, uint32_t first_op, size_t ops);

/// 10^depth per block: a block between the target of a backward branch and that branch is in a loop.
[[nodiscard]] std::vector<double> block_weights(const Program& program);

/// True if the results of `op` must not share a row with its sources: rows of different width, or several
/// results.
[[nodiscard]] bool early_clobber(const Program& program, const Op& op);

}  // namespace gpusim::isa::lir
