// Values that are computed twice: the second operation becomes a copy of the first one's result, where that
// is there already. The compiler that wrote the PTX has seen to most of them; iterations that became code and
// `asm volatile` leave others, which ptxas finds. Floating-point arithmetic stays as the program has
// it, because statistics count it, and so do predicates.
#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "isa/lowering/dominance.h"
#include "isa/lowering/lir.h"
#include "isa/ptx/control_flow.h"

namespace gpusim::isa::lir {
namespace {

using Source = std::tuple<Var, bool, uint64_t, uint32_t, ObjectId>;
using Key = std::tuple<uint64_t, uint64_t, Type, uint8_t, std::vector<Source>>;

class Sharer {
 public:
  Sharer(Program& program, const Flow& flow, SimdLevel level)
      : program_(program),
        ssa_(program, flow),
        move_(find_form(form_key(Opcode::kMov, Type::kB32), level)),
        wide_move_(find_form(form_key(Opcode::kMov, Type::kB64), level)),
        children_(program.blocks.size()) {
    const auto blocks = static_cast<uint32_t>(program.blocks.size());
    const std::vector<uint32_t> parent = immediate_dominators(blocks, flow.edges);
    for (uint32_t b = 1; b < blocks; ++b)
      if (parent[b] != kNoBlock) children_[parent[b]].push_back(b);
  }

  void run() {
    if (move_ == nullptr || wide_move_ == nullptr) return;
    // Depth first, without recursion: what a block adds goes when its children are done.
    std::vector<std::pair<uint32_t, size_t>> stack{{0, 0}};
    std::vector<size_t> undo{0};
    visit(0);
    while (!stack.empty()) {
      auto& [b, next] = stack.back();
      if (next < children_[b].size()) {
        const uint32_t child = children_[b][next++];
        undo.push_back(added_.size());
        stack.emplace_back(child, 0);
        visit(child);
      } else {
        for (; added_.size() > undo.back(); added_.pop_back()) known_.erase(added_.back());
        undo.pop_back();
        stack.pop_back();
      }
    }
  }

 private:
  bool shareable(const Op& op) const {
    if (!op.is_pure() || op.guard != kNoVar || op.num_dst != 1 || op.dst[0] == kNoVar || op.exec == nullptr)
      return false;
    if (op.flops != 0 || op.whole_warp || op.op_class == OpClass::kSpecial || op.op_class == OpClass::kWarp)
      return false;
    const auto no_var = [](Var v) { return v == kNoVar; };
    if (!std::ranges::all_of(op.pred_src, no_var) || !std::ranges::all_of(op.pred_dst, no_var)) return false;
    if (op.num_src == 0 || static_cast<Opcode>(op.opcode()) == Opcode::kMov) return false;
    if (!ssa_.is_value(op.dst[0])) return false;
    const VarClass c = program_.vars[op.dst[0]];
    if (c != VarClass::kRow32 && c != VarClass::kRow64) return false;
    bool values = true;
    for_each_use(op, [&](Var v) { values = values && ssa_.is_value(v); });
    return values;
  }

  void visit(uint32_t b) {
    for (Op& op : program_.blocks[b].ops) {
      if (!shareable(op)) continue;
      std::vector<Source> sources;
      for (int i = 0; i < op.num_src; ++i) {
        const Value& v = op.src[i];
        sources.emplace_back(v.var, v.wide, v.is_literal() ? v.bits : 0, v.launch_constant, v.object);
      }
      Key key{op.key, op.imm, op.type, op.modifiers, std::move(sources)};
      const auto [at, added] = known_.try_emplace(key, op.dst[0]);
      if (added) {
        added_.push_back(std::move(key));
        continue;
      }
      if (program_.vars[at->second] != program_.vars[op.dst[0]]) continue;
      const bool wide = program_.vars[at->second] == VarClass::kRow64;
      become_move(op, wide ? *wide_move_ : *move_, Value{at->second, wide, 0});
    }
  }

  Program& program_;
  const SsaValues ssa_;
  const SemanticRow *move_, *wide_move_;
  std::vector<std::vector<uint32_t>> children_;
  std::map<Key, Var> known_;
  std::vector<Key> added_;
};

}  // namespace

void share_values(Program& program, const Flow& flow, SimdLevel level) { Sharer(program, flow, level).run(); }

}  // namespace gpusim::isa::lir
