// A variable differs between lanes if one of its writes reads what differs, or if it has several writes of
// which one lies where not all lanes of the warp come: between a branch on a condition that differs and the
// place where its ways join. Both follow from each other, so they are found together, until nothing changes.
#include "isa/lowering/uniformity.h"

#include <algorithm>

#include "isa/ptx/control_flow.h"

namespace gpusim::isa::lir {
namespace {

class Divergence {
 public:
  Divergence(const Program& program, const Flow& flow)
      : program_(program),
        flow_(flow),
        join_(
            immediate_post_dominators(static_cast<uint32_t>(program.blocks.size()), flow.edges, flow.exits)),
        divergent_(program.vars.size(), false),
        several_(program.vars.size(), false),
        parted_(program.blocks.size(), false),
        splits_(program.blocks.size(), false) {
    std::vector<bool> written(program.vars.size(), false);
    for (const Block& block : program.blocks) {
      for (const Op& op : block.ops) {
        for_each_def(op, [&](Var v) {
          if (written[v]) several_[v] = true;
          written[v] = true;
        });
      }
    }
  }

  std::vector<bool> run() {
    const std::vector<uint32_t> order = post_order(flow_);
    while (changed_) {
      changed_ = false;
      std::for_each(order.rbegin(), order.rend(), [&](uint32_t b) { sweep(b); });
    }
    return std::move(divergent_);
  }

 private:
  void sweep(uint32_t b) {
    for (const Op& op : program_.blocks[b].ops) {
      const bool differs = is_divergent(op);
      for_each_def(op, [&](Var v) {
        if (divergent_[v] || !(differs || (several_[v] && parted_[b]))) return;
        divergent_[v] = true;
        changed_ = true;
      });
      if ((op.kind == OpKind::kBranch || op.kind == OpKind::kBranchTable) && differs && !splits_[b]) {
        splits_[b] = true;
        changed_ = true;
        part(b);
      }
    }
  }

  [[nodiscard]] bool is_divergent(const Op& op) const {
    const auto opcode = static_cast<Opcode>(op.opcode());
    if (opcode == Opcode::kVote || opcode == Opcode::kActivemask)
      return op.guard != kNoVar && divergent_[op.guard];
    if (op.kind == OpKind::kAtomic || op.kind == OpKind::kSync || op.op_class == OpClass::kWarp ||
        op.op_class == OpClass::kSpecial || op.whole_warp || reads_lane(op))
      return true;
    if (op.kind == OpKind::kLoad && op.memory.space == Space::kLocal) return true;
    bool differs = false;
    for_each_use(op, [&](Var v) { differs = differs || divergent_[v]; });
    return differs;
  }
  /// A special register that differs between lanes.
  static bool reads_lane(const Op& op) {
    return op.kind == OpKind::kAlu && op.num_src == 0 && static_cast<Opcode>(op.opcode()) == Opcode::kMov &&
           (op.key & kVarFull) != 0 && static_cast<Type>((op.key >> 32) & 0xff) == Type::kB32;
  }

  /// Marks the blocks from the branch at the end of `branch` to where its ways join. A branch between another
  /// one and that one's join has its own join before it or in the same place: all its blocks are marked then.
  void part(uint32_t branch) {
    if (parted_[branch]) return;
    std::vector<bool> seen(program_.blocks.size(), false);
    std::vector<uint32_t> work;
    const auto go_on = [&](uint32_t from) {
      for (const auto& [b, next] : flow_.out_of(from)) {
        if (next == join_[branch] || seen[next]) continue;
        seen[next] = parted_[next] = true;
        work.push_back(next);
      }
    };
    go_on(branch);
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      go_on(b);
    }
  }

  const Program& program_;
  const Flow& flow_;
  const std::vector<uint32_t> join_;
  std::vector<bool> divergent_, several_;  // of variables
  std::vector<bool> parted_;               // blocks that lanes may come to at different times
  std::vector<bool> splits_;               // blocks whose branch was looked at
  bool changed_ = true;
};

}  // namespace

std::vector<bool> divergent_variables(const Program& program, const Flow& flow) {
  return Divergence(program, flow).run();
}

}  // namespace gpusim::isa::lir
