// The rule of memory fences.
#include <algorithm>

#include "analysis/advice/rules.h"

namespace gpusim::analysis::advice {

std::optional<Proposal> fences(const Facts& f) {
  constexpr double kTurns = 2;
  double slots = 0;
  Proposal p;
  p.pc = f.operations();
  p.after = f.estimator().recorded();
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    // What another block waits for is told by a flag or an atomic behind the fence: that one is needed.
    if (f.polls(pc) || (f.op_class(pc) == "atom_global" && f.executed(pc) >= kTurns * f.warps()))
      return std::nullopt;
    const double turns = f.executed(pc) / f.warps();
    if (f.op_class(pc) != "fence" || turns < kTurns || pc + 1 == f.operations()) continue;
    if (p.pc == f.operations() || f.count("slots_fence", pc + 1) > f.count("slots_fence", p.pc + 1))
      p.pc = pc;
    slots += f.count("slots_fence", pc + 1);
    p.after.chain[pc + 1] -= std::min(
        p.after.chain[pc + 1], f.fence_before(pc + 1) * f.executed(pc + 1) / f.warps() * (1 - 1 / turns));
  }
  if (slots <= 0) return std::nullopt;
  p.what =
      "let a thread pass one memory fence behind its loop instead of one in each turn, if no other block "
      "reads what a turn has stored until the loop has ended";
  p.counter = "issue slots while warps wait at memory fences";
  p.unit = "% of the slots";
  p.value = 100 * slots / static_cast<double>(f.kernel().total_slots());
  return p;
}

}  // namespace gpusim::analysis::advice
