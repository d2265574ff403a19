// Approximate divisions are a product with the reciprocal of the divisor, which ptxas 13 makes once: before
// the loop that divides by it, or with the first of several divisions of a basic block (its code for 7.5
// and 9.0, div.approx and div.full with and without ftz). IEEE divisions make theirs each time.
#include <algorithm>
#include <set>
#include <tuple>

#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

namespace {

bool is_approximate_division(const Op& op) {
  return op.kind == OpKind::kAlu && static_cast<Opcode>(op.opcode()) == Opcode::kDiv &&
         op.type == Type::kF32 && (op.key & (kVarApprox | kVarFull)) != 0;
}

bool defines(const Program& program, uint32_t first, uint32_t last, Var var) {
  bool found = false;
  for (uint32_t b = first; b <= last && !found; ++b) {
    for (const Op& op : program.blocks[b].ops) for_each_def(op, [&](Var v) { found = found || v == var; });
  }
  return found;
}

struct Range {
  uint32_t first = 0, last = kNone;
  [[nodiscard]] bool holds(uint32_t b) const { return first <= b && b <= last; }
};

/// The smallest part of the code around each block that a branch repeats; that of no loop is empty.
std::vector<Range> innermost_loops(const Program& program) {
  std::vector<Range> loops(program.blocks.size(), Range{1, 0});
  for (uint32_t latch = 0; latch < program.blocks.size(); ++latch) {
    for (const Op& op : program.blocks[latch].ops) {
      if (op.kind != OpKind::kBranch || op.target > latch) continue;
      for (uint32_t b = op.target; b <= latch; ++b) {
        Range& own = loops[b];
        if (own.first > own.last || latch - op.target < own.last - own.first) own = {op.target, latch};
      }
    }
  }
  return loops;
}

}  // namespace

void time_known_divisors(Program& program) {
  std::vector<Range> loops;
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    using Divisor = std::tuple<uint64_t, uint32_t, Var>;  // what a literal is, and who is none
    std::set<Divisor> divided;
    for (Op& op : program.blocks[b].ops) {
      if (is_approximate_division(op)) {
        if (loops.empty()) loops = innermost_loops(program);
        const Value& by = op.src[1];
        const Divisor divisor{by.is_literal() ? by.bits : 0, by.launch_constant, by.var};
        const bool again = divided.contains(divisor);
        if (op.guard == kNoVar) divided.insert(divisor);
        const bool in_loop = loops[b].holds(b);
        const bool before =
            in_loop && (by.is_literal() || !defines(program, loops[b].first, loops[b].last, by.var));
        if (before || again) op.op_class = OpClass::kFp32Mul;
      }
      for_each_def(
          op, [&](Var v) { std::erase_if(divided, [v](const Divisor& d) { return std::get<2>(d) == v; }); });
    }
  }
}

}  // namespace gpusim::isa::lir
