// Removes micro-ops whose results nobody reads, and jumps to the next block. Their PTX counts go to a
// neighbour of the same block, so that a block still counts all its statements.
#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {
namespace {

/// Ops that write each variable, to find what becomes dead when a reader goes.
struct Uses {
  std::vector<uint32_t> readers;
  std::vector<std::vector<Op*>> writers;
};

Uses count_uses(Program& program) {
  Uses uses{std::vector<uint32_t>(program.vars.size(), 0),
            std::vector<std::vector<Op*>>(program.vars.size())};
  for (Block& block : program.blocks) {
    for (Op& op : block.ops) {
      for_each_use(op, [&](Var v) { ++uses.readers[v]; });
      if (op.is_pure()) for_each_def(op, [&](Var v) { uses.writers[v].push_back(&op); });
    }
  }
  return uses;
}

bool results_unread(const Op& op, const Uses& uses) {
  bool unread = true;
  for_each_def(op, [&](Var v) { unread = unread && uses.readers[v] == 0; });
  return unread;
}

}  // namespace

/// What the ops counted goes to the next kept one, else to the last one.
void drop_nops(Block& block) {
  std::vector<Op> kept;
  kept.reserve(block.ops.size());
  uint32_t pending = 0;
  uint32_t pending_index = 0;
  for (Op& op : block.ops) {
    if (op.kind == OpKind::kNop) {
      if (pending == 0) pending_index = op.ptx_index;
      pending += op.ptx_count;
      continue;
    }
    const uint32_t room = 0xffffu - op.ptx_count;
    const uint32_t moved = pending < room ? pending : room;
    op.ptx_count = static_cast<uint16_t>(op.ptx_count + moved);
    pending -= moved;
    kept.push_back(op);
  }
  if (pending > 0 && !kept.empty() && kept.back().ptx_count + pending <= 0xffffu &&
      kept.back().kind != OpKind::kBranch) {
    kept.back().ptx_count = static_cast<uint16_t>(kept.back().ptx_count + pending);
    pending = 0;
  }
  while (pending > 0) {  // nothing of the block survives: keep the count itself
    Op nop;
    nop.kind = OpKind::kNop;
    nop.op_class = OpClass::kNop;
    nop.ptx_index = pending_index;
    nop.ptx_count = static_cast<uint16_t>(pending < 0xffffu ? pending : 0xffffu);
    pending -= nop.ptx_count;
    kept.push_back(nop);
  }
  block.ops = std::move(kept);
}

void remove_dead_code(Program& program) {
  Uses uses = count_uses(program);
  std::vector<Op*> work;
  const auto consider = [&](Op* op) {
    if (op->is_pure() && results_unread(*op, uses)) work.push_back(op);
  };
  for (Block& block : program.blocks) {
    for (Op& op : block.ops) consider(&op);
  }
  while (!work.empty()) {
    Op* op = work.back();
    work.pop_back();
    if (op->kind == OpKind::kNop) continue;
    op->kind = OpKind::kNop;
    for_each_use(*op, [&](Var v) {
      if (--uses.readers[v] != 0) return;
      for (Op* writer : uses.writers[v]) consider(writer);
    });
  }
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    Block& block = program.blocks[b];
    if (!block.ops.empty() && block.ops.back().kind == OpKind::kBranch && block.ops.back().target == b + 1) {
      block.ops.back().kind = OpKind::kNop;
      block.ops.back().target = kNone;
    }
    drop_nops(block);
  }
}

}  // namespace gpusim::isa::lir
