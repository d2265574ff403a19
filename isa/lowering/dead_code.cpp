// Removes micro-ops whose results nobody reads, and jumps to the next block. Their PTX counts go to a
// neighbour of the same block, so that a block still counts all its statements. An atomic whose result nobody
// reads becomes one without (red), which nothing waits for.
#include "isa/lowering/lir.h"
#include "isa/lowering/schedule_rules.h"

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

/// Whether machines have this atomic without a result, as ptxas 13 then chooses it for sm_75, sm_80 and
/// sm_90: RED in global memory, of floats and packed halves too, and ATOMS, which is for integers, in shared
/// memory. At an address whose state space is unknown it keeps the result (ATOM).
bool has_red(const Op& op) {
  if (op.kind != OpKind::kAtomic || op.key == 0 || op.memory.elements != 1 || op.memory.element_bytes < 4 ||
      op.num_dst != 1 || op.dst[0] == kNoVar)
    return false;
  const bool global = op.memory.space == Space::kGlobal, integer = !is_float(op.type) && !is_half(op.type);
  switch (static_cast<AtomOp>(op.modifiers)) {
    case AtomOp::kAdd:
      return global || (integer && op.memory.space == Space::kShared);
    case AtomOp::kMin:
    case AtomOp::kMax:
    case AtomOp::kAnd:
    case AtomOp::kOr:
    case AtomOp::kXor:
    case AtomOp::kInc:
    case AtomOp::kDec:
      return integer && (global || op.memory.space == Space::kShared);
    default:
      return false;
  }
}

/// Whether counts of PTX instructions of one hold where those of the other do.
bool count_alike(const Op& a, const Op& b) {
  if (a.counts_guarded != b.counts_guarded) return false;
  return !a.counts_guarded || (a.guard == b.guard && a.guard_negated == b.guard_negated);
}

bool move_count(Op& from, Op& to) {
  if (!count_alike(from, to) || to.kind == OpKind::kNop || uint32_t{from.ptx_count} + to.ptx_count > 0xffffu)
    return false;
  to.ptx_count = static_cast<uint16_t>(to.ptx_count + from.ptx_count);
  from.ptx_count = 0;
  return true;
}

}  // namespace

/// What an op counted goes to the next kept one that counts as it does, else to the last one before it that
/// is no branch.
void drop_nops(Block& block) {
  std::vector<Op>& ops = block.ops;
  const auto is_kept = [&](size_t i) { return ops[i].kind != OpKind::kNop; };
  size_t last_plain = ops.size();  // the last kept one, no branch, that always counts
  for (size_t i = ops.size(); i-- > 0 && last_plain == ops.size();) {
    if (is_kept(i) && ops[i].kind != OpKind::kBranch && !ops[i].counts_guarded) last_plain = i;
  }
  size_t next_plain = ops.size();
  for (size_t i = ops.size(); i-- > 0;) {
    if (is_kept(i)) {
      if (!ops[i].counts_guarded) next_plain = i;
    } else if (ops[i].ptx_count != 0 && !ops[i].counts_guarded) {
      if (next_plain < ops.size() && move_count(ops[i], ops[next_plain])) continue;
      if (last_plain < i) move_count(ops[i], ops[last_plain]);
    } else if (ops[i].ptx_count != 0) {
      // Behind what writes the guard again, and before what wrote it, the same guard says something else.
      bool moved = false;
      for (size_t k = i + 1; k < ops.size() && !moved; ++k) {
        moved = move_count(ops[i], ops[k]);
        if (is_kept(k) && writes(ops[k], ops[i].guard)) break;
      }
      for (size_t k = i; k-- > 0 && !moved && !(is_kept(k) && writes(ops[k], ops[i].guard));)
        moved = ops[k].kind != OpKind::kBranch && move_count(ops[i], ops[k]);
    }
  }
  for (size_t i = 0, kept = ops.size(); i < ops.size(); ++i) {  // counts that found no other op share one
    if (is_kept(i) || ops[i].ptx_count == 0 || ops[i].counts_guarded) continue;
    if (kept == ops.size() || uint32_t{ops[kept].ptx_count} + ops[i].ptx_count > 0xffffu) {
      kept = i;
    } else {
      ops[kept].ptx_count = static_cast<uint16_t>(ops[kept].ptx_count + ops[i].ptx_count);
      ops[i].ptx_count = 0;
    }
  }
  std::erase_if(ops, [](const Op& op) { return op.kind == OpKind::kNop && op.ptx_count == 0; });
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
    // What it counts still depends on its guard.
    if (op->counts_guarded && op->ptx_count != 0) ++uses.readers[op->guard];
    for_each_use(*op, [&](Var v) {
      if (--uses.readers[v] != 0) return;
      for (Op* writer : uses.writers[v]) consider(writer);
    });
  }
  for (Block& block : program.blocks) {
    for (Op& op : block.ops)
      if (has_red(op) && results_unread(op, uses)) op.num_dst = 0;
  }
  // Compilers write a predicate beside each shuffle's result, which hardly anybody reads. All that are not
  // read would be one register, for which the next shuffle waits.
  for (Block& block : program.blocks) {
    for (Op& op : block.ops) {
      if (op.op_class != OpClass::kWarp || op.num_dst == 0) continue;
      for (Var& p : op.pred_dst)
        if (p != kNoVar && uses.readers[p] == 0) p = kNoVar;
    }
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
