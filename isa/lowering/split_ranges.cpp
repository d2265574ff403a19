// Gives a value that is overwritten later in its own block a name of its own (the local part of SSA
// renaming), so that old-style PTX, which reuses registers, profits from the passes that look for values
// written once.
#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

void split_local_ranges(Program& program) {
  std::vector<uint32_t> writes_left(program.vars.size(), 0);
  std::vector<Var> name(program.vars.size(), kNoVar);
  const auto current = [&](Var v) { return v != kNoVar && name[v] != kNoVar ? name[v] : v; };
  for (Block& block : program.blocks) {
    for (const Op& op : block.ops) {
      if (op.guard == kNoVar) for_each_def(op, [&](Var v) { ++writes_left[v]; });
    }
    std::vector<Var> touched;
    for (Op& op : block.ops) {
      for (int i = 0; i < op.num_src; ++i) op.src[i].var = current(op.src[i].var);
      for (Var& v : op.pred_src) v = current(v);
      op.guard = current(op.guard);
      const auto define = [&](Var& v) {
        if (v == kNoVar) return;
        const Var original = v;
        if (op.guard == kNoVar) {
          touched.push_back(original);
          // Not the block's last full write: nobody outside sees this value.
          name[original] = kNoVar;
          if (--writes_left[original] > 0) {
            name[original] = program.new_var(program.vars[original]);
            program.splits.emplace_back(name[original], original);
          }
        }
        v = current(original);
      };
      for (int i = 0; i < op.num_dst; ++i) define(op.dst[i]);
      for (Var& v : op.pred_dst) define(v);
    }
    for (const Var v : touched) name[v] = kNoVar;
  }
}

}  // namespace gpusim::isa::lir
