#include "isa/lowering/single_lane.h"

#include <optional>

#include "isa/lowering/dominance.h"
#include "isa/lowering/liveness.h"
#include "isa/ptx/compare.h"
#include "isa/ptx/control_flow.h"

namespace gpusim::isa::lir {
namespace {

/// How often values contain the thread's x coordinate.
class Coordinates {
 public:
  Coordinates(const Program& program, const Flow& flow, const std::vector<bool>& divergent)
      : divergent_(divergent), made_(program.vars.size(), nullptr) {
    const SsaValues ssa(program, flow);
    const std::vector<double> weights = block_weights(program);
    for (uint32_t b = 0; b < program.blocks.size(); ++b) {
      if (weights[b] > 1) continue;  // another value in each iteration, which another lane may be equal to
      for (const Op& op : program.blocks[b].ops) {
        if (op.kind != OpKind::kAlu && op.kind != OpKind::kLoad) continue;
        if (op.num_dst == 1 && op.dst[0] != kNoVar && ssa.is_value(op.dst[0])) made_[op.dst[0]] = &op;
      }
    }
  }

  /// 1 or -1 of the coordinate and something that all lanes share; 0: only that; nothing if it may be else.
  [[nodiscard]] std::optional<int> in(const Value& v, int depth = 0) const {
    constexpr int kDeepest = 16;
    if (v.is_literal()) return 0;
    const Op* op = made_[v.var];
    if (op == nullptr || depth > kDeepest) return std::nullopt;
    if (!divergent_[v.var]) return 0;
    if (op->kind != OpKind::kAlu || op->guard != kNoVar || op->whole_warp) return std::nullopt;
    const auto of = [&](int i) { return in(op->src[i], depth + 1); };
    switch (static_cast<Opcode>(op->opcode())) {
      case Opcode::kMov:
        if (op->num_src == 1) return of(0);
        return op->num_src == 0 && (op->key & kVarFull) != 0 &&
                       op->imm == static_cast<uint64_t>(SpecialRegister::kTidX)
                   ? std::optional(1)
                   : std::nullopt;
      case Opcode::kAdd:
        return sum(op, 1, depth);
      case Opcode::kSub:
        return sum(op, -1, depth);
      case Opcode::kMad:
        if (!is_integer(op->type) || (op->key & kVarWide) != 0 || of(0) != 0 || of(1) != 0)
          return std::nullopt;
        return of(2);
      default:
        return std::nullopt;
    }
  }

 private:
  /// Looks no further where the first operand may be anything: both of each would be exponential.
  [[nodiscard]] std::optional<int> sum(const Op* op, int sign, int depth) const {
    if (!is_integer(op->type)) return std::nullopt;
    const std::optional<int> a = in(op->src[0], depth + 1);
    if (!a) return std::nullopt;
    const std::optional<int> b = in(op->src[1], depth + 1);
    if (!b || (*a != 0 && *b != 0)) return std::nullopt;
    return *a + sign * *b;
  }

  const std::vector<bool>& divergent_;
  std::vector<const Op*> made_;
};

}  // namespace

SingleLane::SingleLane(const Program& program, const Flow& flow, const std::vector<bool>& divergent)
    : sense_(program.vars.size(), kNothing), blocks_(program.blocks.size(), false) {
  find_tests(program, flow, divergent);
  find_blocks(program, flow);
}

void SingleLane::find_tests(const Program& program, const Flow& flow, const std::vector<bool>& divergent) {
  const Coordinates coordinates(program, flow, divergent);
  const SsaValues ssa(program, flow);
  for (const Block& block : program.blocks) {
    for (const Op& op : block.ops) {
      if (op.kind != OpKind::kAlu || static_cast<Opcode>(op.opcode()) != Opcode::kSetp ||
          op.guard != kNoVar || op.num_src != 2 || op.pred_src[0] != kNoVar || op.pred_dst[0] == kNoVar ||
          op.pred_dst[1] != kNoVar)
        continue;
      if (!is_integer(op.type) || type_bytes(op.type) != 4 || !ssa.is_value(op.pred_dst[0])) continue;
      const auto relation = static_cast<CompareOp>(static_cast<uint32_t>(op.key) >> kVarCompareShift);
      if (relation != CompareOp::kEq && relation != CompareOp::kNe) continue;
      const std::optional<int> a = coordinates.in(op.src[0]), b = coordinates.in(op.src[1]);
      if (!a || !b || (*a == 0) == (*b == 0)) continue;
      sense_[op.pred_dst[0]] = relation == CompareOp::kEq ? kEqual : kUnequal;
    }
  }
}

void SingleLane::find_blocks(const Program& program, const Flow& flow) {
  const auto blocks = static_cast<uint32_t>(program.blocks.size());
  std::vector<uint32_t> entries(blocks, 0), from(blocks, kNone);
  for (const auto& [a, b] : flow.edges) {
    ++entries[b];
    from[b] = a;
  }
  const std::vector<uint32_t> dominator = immediate_dominators(blocks, flow.edges);
  for (uint32_t b = 1; b < blocks; ++b) {
    if (entries[b] != 1 || program.blocks[from[b]].ops.empty()) continue;
    const Op& last = program.blocks[from[b]].ops.back();
    const bool branches = last.kind == OpKind::kBranch && last.target != from[b] + 1;
    if (last.guard == kNoVar || (!branches && last.kind != OpKind::kExit)) continue;
    const bool taken = branches && last.target == b;
    blocks_[b] = sense_[last.guard] == (taken != last.guard_negated ? kEqual : kUnequal);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b = 1; b < blocks; ++b) {
      if (blocks_[b] || dominator[b] == kNoBlock || !blocks_[dominator[b]]) continue;
      blocks_[b] = changed = true;
    }
  }
}

}  // namespace gpusim::isa::lir
