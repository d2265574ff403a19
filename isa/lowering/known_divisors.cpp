// Approximate divisions are a product with the reciprocal of the divisor, which ptxas 13 makes once: before
// the loop that divides by it, or with the first of several divisions of a basic block (its code for 7.5
// and 9.0, div.approx and div.full with and without ftz). IEEE divisions make theirs each time.
#include <compare>
#include <map>
#include <set>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

namespace {

bool is_approximate_division(const Op& op) {
  return op.kind == OpKind::kAlu && static_cast<Opcode>(op.opcode()) == Opcode::kDiv &&
         op.type == Type::kF32 && (op.key & (kVarApprox | kVarFull)) != 0;
}

/// A variable, or the bits of a literal and which constant of the launch it is.
using Divisor = std::tuple<Var, uint64_t, uint32_t>;

/// Blocks; none by itself.
struct Range {
  uint32_t first = 1, last = 0;
  [[nodiscard]] bool empty() const { return first > last; }
  auto operator<=>(const Range&) const = default;
};

std::unordered_set<Var> written_in(const Program& program, Range range) {
  std::unordered_set<Var> written;
  for (uint32_t b = range.first; b <= range.last; ++b) {
    for (const Op& op : program.blocks[b].ops) for_each_def(op, [&](Var v) { written.insert(v); });
  }
  return written;
}

/// The smallest part of the code around each block that a branch repeats; that of no loop is empty.
std::vector<Range> innermost_loops(const Program& program) {
  std::vector<Range> loops(program.blocks.size());
  for (uint32_t latch = 0; latch < program.blocks.size(); ++latch) {
    for (const Op& op : program.blocks[latch].ops) {
      if (op.kind != OpKind::kBranch || op.target > latch) continue;
      for (uint32_t b = op.target; b <= latch; ++b) {
        Range& own = loops[b];
        if (own.empty() || latch - op.target < own.last - own.first) own = {op.target, latch};
      }
    }
  }
  return loops;
}

}  // namespace

void time_known_divisors(Program& program) {
  std::vector<Range> loops;
  std::map<Range, std::unordered_set<Var>> written;  // of the loops that divide
  const auto stays = [&](const Value& divisor, Range loop) {
    if (loop.empty() || divisor.is_literal()) return !loop.empty();
    const auto [at, added] = written.try_emplace(loop);
    if (added) at->second = written_in(program, loop);
    return !at->second.contains(divisor.var);
  };
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    std::set<Divisor> divided;
    for (Op& op : program.blocks[b].ops) {
      if (is_approximate_division(op)) {
        if (loops.empty()) loops = innermost_loops(program);
        const Value& by = op.src[1];
        const Divisor divisor{by.var, by.is_literal() ? by.bits : 0, by.launch_constant};
        const bool again = divided.contains(divisor);
        if (op.guard == kNoVar) divided.insert(divisor);
        if (again || stays(by, loops[b])) op.op_class = OpClass::kFp32Mul;
      }
      for_each_def(op, [&](Var v) { divided.erase({v, 0, kNone}); });
    }
  }
}

}  // namespace gpusim::isa::lir
