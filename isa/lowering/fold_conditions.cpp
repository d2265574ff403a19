// Conditions that are numbers (compute capability 7.0 and up): where a comparison of numbers decides, as in
// iterations that became code or behind WARP_SZ, only what happens stays. What a known predicate guards is
// guarded no more or goes, selections become moves, and code that nothing leads to goes. What goes counted
// its PTX statements only if it was executed; a branch that never branches leaves its count to a neighbour.
#include <optional>

#include "isa/lowering/dominance.h"
#include "isa/lowering/lir.h"
#include "isa/ptx/compare.h"

namespace gpusim::isa::lir {
namespace {

/// Of a comparison of whole numbers of 32 or 64 bits; the untyped one is a test of bits (fuse.cpp).
std::optional<bool> compared(const Op& op) {
  if (!is_integer(op.type) || op.type == Type::kB32 || op.type == Type::kB64 || op.num_src != 2 ||
      !op.src[0].is_number() || !op.src[1].is_number())
    return std::nullopt;
  const auto relation = static_cast<CompareOp>(static_cast<uint32_t>(op.key) >> kVarCompareShift);
  const uint64_t a = op.src[0].bits, b = op.src[1].bits;
  const auto a_word = static_cast<uint32_t>(a), b_word = static_cast<uint32_t>(b);
  switch (type_bytes(op.type)) {
    case 4:
      return is_signed(op.type) ? holds(relation, static_cast<int32_t>(a_word), static_cast<int32_t>(b_word))
                                : holds(relation, a_word, b_word);
    case 8:
      return is_signed(op.type) ? holds(relation, static_cast<int64_t>(a), static_cast<int64_t>(b))
                                : holds(relation, a, b);
    default:
      return std::nullopt;
  }
}

/// Either may be unknown.
std::optional<bool> combined(BoolOp with, std::optional<bool> a, std::optional<bool> b) {
  switch (with) {
    case BoolOp::kNone:
      return a;
    case BoolOp::kAnd:
      if (a == false || b == false) return false;
      break;
    case BoolOp::kOr:
      if (a == true || b == true) return true;
      break;
    case BoolOp::kXor:
      if (a && b) return *a != *b;
      return std::nullopt;
  }
  if (!a || !b) return std::nullopt;
  return *a;  // both are what does not decide
}

class Folder {
 public:
  Folder(Program& program, const Flow& flow, SimdLevel level)
      : program_(program),
        ssa_(program, flow),
        move_(find_form(form_key(Opcode::kMov, Type::kB32), level)),
        wide_move_(find_form(form_key(Opcode::kMov, Type::kB64), level)),
        known_(program.vars.size()),
        known_in_(program.vars.size(), kNone) {}

  bool run() {
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) {
      bool dropped = false;
      for (Op& op : program_.blocks[b].ops) {
        apply_guard(op, b);
        select(op, b);
        dropped = dropped || op.kind == OpKind::kNop;
        note(op, b);
      }
      if (dropped) drop_nops(program_.blocks[b]);
    }
    if (changed_) drop_unreachable();
    return changed_;
  }

 private:
  static constexpr uint32_t kEverywhere = kNone - 1;

  [[nodiscard]] std::optional<bool> value(Var p, bool negated, uint32_t block) const {
    if (p == kNoVar || (known_in_[p] != kEverywhere && known_in_[p] != block)) return std::nullopt;
    return known_[p] != negated;
  }

  void apply_guard(Op& op, uint32_t block) {
    const std::optional<bool> runs = value(op.guard, op.guard_negated, block);
    if (!runs) return;
    changed_ = true;
    op.guard = kNoVar;
    op.guard_negated = op.writes_all = false;
    if (!*runs) {
      if (op.counts_guarded) op.ptx_count = 0;
      op.kind = OpKind::kNop;
      op.target = kNone;
    }
    op.counts_guarded = false;
  }

  void select(Op& op, uint32_t block) {
    if (op.kind != OpKind::kAlu || static_cast<Opcode>(op.opcode()) != Opcode::kSelp || op.num_src != 2)
      return;
    const std::optional<bool> first = value(op.pred_src[0], op.pred_negated[0], block);
    const int bytes = type_bytes(op.type);
    if (!first || (bytes != 4 && bytes != 8)) return;
    changed_ = true;
    const SemanticRow* row = bytes == 8 ? wide_move_ : move_;
    op.src[0] = op.src[*first ? 0 : 1];
    op.num_src = 1;
    op.pred_src[0] = kNoVar;
    op.pred_negated[0] = false;
    op.key = row->key;
    op.exec = row->exec;
    op.op_class = row->op_class;
    op.type = bytes == 8 ? Type::kB64 : Type::kB32;
  }

  /// What the operation says of predicates that it writes.
  void note(const Op& op, uint32_t block) {
    for_each_def(op, [&](Var v) { known_in_[v] = kNone; });
    if (op.kind != OpKind::kAlu || op.guard != kNoVar || op.pred_dst[0] == kNoVar || op.pred_dst[1] != kNoVar)
      return;
    const std::optional<bool> result = result_of(op, block);
    if (!result) return;
    known_[op.pred_dst[0]] = *result;
    known_in_[op.pred_dst[0]] = ssa_.is_value(op.pred_dst[0]) ? kEverywhere : block;
  }

  [[nodiscard]] std::optional<bool> result_of(const Op& op, uint32_t block) const {
    const auto opcode = static_cast<Opcode>(op.opcode());
    if (opcode == Opcode::kSetp) {
      const auto with = static_cast<BoolOp>(op.imm & 0xff);
      return combined(with, compared(op), value(op.pred_src[0], op.pred_negated[0], block));
    }
    if (op.type != Type::kPred) return std::nullopt;
    const auto source = [&](size_t i) {
      return op.pred_src[i] == kNoVar ? std::optional<bool>((op.imm >> i & 1) != 0)
                                      : value(op.pred_src[i], op.pred_negated[i], block);
    };
    switch (opcode) {
      case Opcode::kAnd:
        return combined(BoolOp::kAnd, source(0), source(1));
      case Opcode::kOr:
        return combined(BoolOp::kOr, source(0), source(1));
      case Opcode::kXor:
        return combined(BoolOp::kXor, source(0), source(1));
      case Opcode::kMov:
        return source(0);
      case Opcode::kNot: {
        const std::optional<bool> of = source(0);
        return of ? std::optional<bool>(!*of) : std::nullopt;
      }
      default:
        return std::nullopt;
    }
  }

  /// Empties blocks that nothing leads to, and drops branches over empty ones. The last block stays: code
  /// ends there.
  void drop_unreachable() {
    const Flow flow = build_flow(program_);
    const auto blocks = static_cast<uint32_t>(program_.blocks.size());
    std::vector<bool> reached(blocks, false);
    std::vector<uint32_t> work{0};
    reached[0] = true;
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      for (const auto& [from, to] : flow.out_of(b)) {
        if (reached[to]) continue;
        reached[to] = true;
        work.push_back(to);
      }
    }
    for (uint32_t b = 0; b + 1 < blocks; ++b)
      if (!reached[b]) program_.blocks[b].ops.clear();
    uint32_t next = blocks;  // the first block behind b that is not empty
    for (uint32_t b = blocks; b-- > 0;) {
      std::vector<Op>& ops = program_.blocks[b].ops;
      if (!ops.empty() && ops.back().kind == OpKind::kBranch && ops.back().target > b &&
          ops.back().target <= next) {
        ops.back().kind = OpKind::kNop;
        ops.back().target = kNone;
        drop_nops(program_.blocks[b]);
      }
      if (!ops.empty()) next = b;
    }
  }

  Program& program_;
  SsaValues ssa_;
  const SemanticRow *move_, *wide_move_;
  bool changed_ = false;
  std::vector<bool> known_;         // the value of a predicate that is known
  std::vector<uint32_t> known_in_;  // in this block so far, kEverywhere or nowhere
};

}  // namespace

bool fold_conditions(Program& program, const Flow& flow, SimdLevel level) {
  return Folder(program, flow, level).run();
}

}  // namespace gpusim::isa::lir
