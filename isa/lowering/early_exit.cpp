// Turns a guarded branch to a `ret` into a guarded exit, as compilers for the hardware do: the lanes leave at
// once instead of waiting at the `ret`, their reconvergence point, for lanes that may wait for them at a
// barrier.
#include <algorithm>

#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

namespace {

bool only_exits(const Block& block) {
  return !block.ops.empty() && block.ops.back().kind == OpKind::kExit && block.ops.back().guard == kNoVar &&
         std::all_of(block.ops.begin(), block.ops.end() - 1,
                     [](const Op& op) { return op.kind == OpKind::kNop; });
}

}  // namespace

void exit_early(Program& program) {
  if (program.is_function) return;
  for (Block& block : program.blocks) {
    if (block.ops.empty()) continue;
    Op& last = block.ops.back();
    if (last.kind != OpKind::kBranch || last.guard == kNoVar || !only_exits(program.blocks[last.target]))
      continue;
    last.kind = OpKind::kExit;
    last.op_class = OpClass::kExit;
    last.target = kNone;
  }
}

}  // namespace gpusim::isa::lir
