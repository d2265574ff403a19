// Copy and constant propagation. A plain copy whose source and destination are each written once, and whose
// write dominates every read (as in SSA form), is replaced by its source everywhere; other copies are
// followed within their block, as long as neither side is written again. Dead copies are left to
// remove_dead_code().
#include <algorithm>

#include "isa/lowering/dominance.h"
#include "isa/lowering/lir.h"
#include "isa/ptx/control_flow.h"

namespace gpusim::isa::lir {
namespace {

/// An unguarded register move. 16-bit readers take the low half of a lane, so the upper half may be anything.
bool is_copy(const Op& op) {
  if (op.kind != OpKind::kAlu || op.guard != kNoVar || op.num_dst != 1 || op.num_src != 1) return false;
  return op.key == form_key(Opcode::kMov, Type::kB16) || op.key == form_key(Opcode::kMov, Type::kB32) ||
         op.key == form_key(Opcode::kMov, Type::kB64);
}

class Propagator {
 public:
  Propagator(Program& program, const Flow& flow) : program_(program), ssa_(program, flow) {}

  void run() {
    find_global_copies();
    local_.resize(program_.vars.size());
    stamp_.assign(program_.vars.size(), kNone);
    users_.resize(program_.vars.size());
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) {
      for (Op& op : program_.blocks[b].ops) rewrite(op, b);
      for (const Var v : touched_) users_[v].clear();
      touched_.clear();
    }
  }

 private:
  void find_global_copies() {
    global_.assign(program_.vars.size(), Value{});
    has_global_.assign(program_.vars.size(), false);
    for (const Block& block : program_.blocks) {
      for (const Op& op : block.ops) {
        if (!is_copy(op) || !ssa_.is_value(op.dst[0])) continue;
        if (!op.src[0].is_literal() && !ssa_.is_value(op.src[0].var)) continue;
        global_[op.dst[0]] = op.src[0];
        has_global_[op.dst[0]] = true;
      }
    }
  }

  /// Follows copies of copies; SSA values cannot form a cycle, the bound is for safety only.
  Value resolve(Value v, uint32_t block) const {
    for (int i = 0; i < 1000 && !v.is_literal(); ++i) {
      if (has_global_[v.var])
        v = global_[v.var];
      else if (stamp_[v.var] == block)
        v = local_[v.var];
      else
        break;
    }
    return v;
  }

  void forget(Var v) {
    stamp_[v] = kNone;
    for (const Var user : users_[v]) {
      if (!local_[user].is_literal() && local_[user].var == v) stamp_[user] = kNone;
    }
    users_[v].clear();
  }

  void rewrite(Op& op, uint32_t block) {
    for (int i = 0; i < op.num_src; ++i) {
      const Value v = resolve(op.src[i], block);
      if (v.is_literal() && op.is_memory() && op.memory.has_base && i == 0)
        continue;  // fold_addresses() does this
      op.src[i] = v;
    }
    for_each_def(op, [&](Var v) { forget(v); });
    if (!is_copy(op) || has_global_[op.dst[0]]) return;
    const Value source = op.src[0];
    if (!source.is_literal() && source.var == op.dst[0]) return;
    local_[op.dst[0]] = source;
    stamp_[op.dst[0]] = block;
    if (!source.is_literal()) {
      users_[source.var].push_back(op.dst[0]);
      touched_.push_back(source.var);
    }
  }

  Program& program_;
  SsaValues ssa_;
  std::vector<Value> global_;
  std::vector<bool> has_global_;
  std::vector<Value> local_;  // valid in block stamp_[v]
  std::vector<uint32_t> stamp_;
  std::vector<std::vector<Var>> users_;  // local copies of a variable
  std::vector<Var> touched_;
};

}  // namespace

void propagate_copies(Program& program, const Flow& flow) { Propagator(program, flow).run(); }

}  // namespace gpusim::isa::lir
