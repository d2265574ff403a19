// A variable differs between lanes if one of its writes reads what differs, or if it has several writes of
// which one lies where not all lanes of the warp come: between a branch on a condition that differs and the
// place where its ways join. Both follow from each other, so they are found together, until nothing changes.
#include "isa/lowering/uniformity.h"

#include <utility>

#include "isa/ptx/control_flow.h"

namespace gpusim::isa::lir {
namespace {

class DivergenceFinder {
 public:
  DivergenceFinder(const Program& program, const Flow& flow)
      : program_(program),
        flow_(flow),
        join_(
            immediate_post_dominators(static_cast<uint32_t>(program.blocks.size()), flow.edges, flow.exits)),
        divergent_(program.vars.size(), false),
        several_(program.vars.size(), false),
        depth_(program.blocks.size(), 0),
        parted_(program.blocks.size(), false),
        behind_(program.blocks.size(), kNoBlock),
        splits_(program.blocks.size(), false) {
    find_depths();
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

  Divergence run() {
    for_each_round(
        program_, flow_, [&](uint32_t b, const Op& op) { visit(b, op); },
        [&] { return std::exchange(changed_, false); });
    return {std::move(divergent_), std::move(parted_)};
  }

 private:
  void visit(uint32_t b, const Op& op) {
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
  /// What was marked before is not walked again: it goes on behind its own join.
  void part(uint32_t branch) {
    if (parted_[branch]) return;
    const uint32_t join = join_[branch];
    std::vector<uint32_t> work{branch};
    while (!work.empty()) {
      const uint32_t from = work.back();
      work.pop_back();
      for (const auto& [b, next] : flow_.out_of(from)) {
        const uint32_t to = behind_marked(next);
        if (to == kNoBlock || depth_[to] <= depth_of(join)) continue;
        parted_[to] = true;
        behind_[to] = join;
        work.push_back(to);
      }
    }
  }
  /// The first block that is not marked from `block` on, where the ways from each marked one join.
  uint32_t behind_marked(uint32_t block) {
    uint32_t end = block;
    while (end != kNoBlock && parted_[end]) end = behind_[end];
    while (block != end) block = std::exchange(behind_[block], end);
    return end;
  }
  /// How many joins are behind a block, one behind the other. Of two on the ways from one block, the nearer
  /// one has more.
  [[nodiscard]] uint32_t depth_of(uint32_t block) const { return block == kNoBlock ? 0 : depth_[block]; }
  void find_depths() {
    std::vector<uint32_t> chain;
    for (uint32_t b = 0; b < join_.size(); ++b) {
      for (uint32_t at = b; at != kNoBlock && depth_[at] == 0; at = join_[at]) chain.push_back(at);
      for (; !chain.empty(); chain.pop_back()) depth_[chain.back()] = depth_of(join_[chain.back()]) + 1;
    }
  }

  const Program& program_;
  const Flow& flow_;
  const std::vector<uint32_t> join_;
  std::vector<bool> divergent_, several_;  // of variables
  std::vector<uint32_t> depth_;
  std::vector<bool> parted_;      // blocks that lanes may come to at different times
  std::vector<uint32_t> behind_;  // of those, where the ways from them join
  std::vector<bool> splits_;      // blocks whose branch was looked at
  bool changed_ = true;
};

}  // namespace

Divergence find_divergence(const Program& program, const Flow& flow) {
  return DivergenceFinder(program, flow).run();
}

}  // namespace gpusim::isa::lir
