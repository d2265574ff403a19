// Copy and constant propagation. A plain copy whose source and destination are each written once, and whose
// write dominates every read (as in SSA form), is replaced by its source everywhere; other copies are
// followed within their block, as long as neither side is written again. Operations on numbers become numbers
// where code is rewritten as ptxas would. Dead copies are left to remove_dead_code().
#include <algorithm>
#include <cstring>

#include "isa/exec/executor.h"
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

/// Has the same result in all lanes, from its sources alone; and no floating-point arithmetic, which counts.
bool computes_number(const Op& op) {
  if (op.kind != OpKind::kAlu || op.guard != kNoVar || op.exec == nullptr || op.whole_warp ||
      op.folded != kNone || op.flops != 0 || op.num_dst != 1 || op.num_src == 0 || op.dst[0] == kNoVar)
    return false;
  const auto no_var = [](Var v) { return v == kNoVar; };
  if (!std::ranges::all_of(op.pred_src, no_var) || !std::ranges::all_of(op.pred_dst, no_var)) return false;
  if (!std::all_of(op.src.begin(), op.src.begin() + op.num_src, [](const Value& v) { return v.is_number(); }))
    return false;
  switch (static_cast<Opcode>(op.opcode())) {
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kMad:
    case Opcode::kMul24:
    case Opcode::kMad24:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
    case Opcode::kNeg:
    case Opcode::kAbs:
    case Opcode::kMin:
    case Opcode::kMax:
    case Opcode::kShl:
    case Opcode::kShr:
    case Opcode::kCvt:
    case Opcode::kDiv:
    case Opcode::kRem:
      return true;
    default:
      return false;
  }
}

/// What the operation computes, by its own semantic function.
uint64_t number_of(const Op& op, bool wide) {
  constexpr size_t kSlot = 2 * kRowBytes;  // of 64-bit lanes
  AlignedBytes literals(op.num_src * kSlot), result(kSlot);
  MicroOp micro;
  micro.exec = op.exec;
  micro.kind = op.kind;
  micro.op_class = op.op_class;
  micro.type = op.type;
  micro.modifiers = op.modifiers;
  micro.imm = op.imm;
  micro.num_dst = 1;
  micro.num_src = op.num_src;
  micro.dst[0] = RowRef{Bank::kRegister, 0};
  for (uint8_t i = 0; i < op.num_src; ++i) {
    const size_t at = i * kSlot, lane = op.src[i].wide ? 8 : 4;
    micro.src[i] = RowRef{Bank::kConstant, static_cast<uint32_t>(at)};
    for (size_t l = 0; l < kWarpSize; ++l)
      std::memcpy(literals.data() + at + l * lane, &op.src[i].bits, lane);
  }
  WarpContext context;
  context.bank[static_cast<size_t>(Bank::kRegister)] = result.data();
  context.bank[static_cast<size_t>(Bank::kConstant)] = literals.data();
  op.exec(micro, context, LaneMask(~uint32_t{0}));
  uint64_t bits = 0;
  std::memcpy(&bits, result.data(), wide ? 8 : 4);
  return bits;
}

class Propagator {
 public:
  /// With `move`, the semantic function of a 32-bit and of a 64-bit move, numbers are computed.
  Propagator(Program& program, const Flow& flow, const SemanticRow* move, const SemanticRow* wide_move)
      : program_(program), ssa_(program, flow), move_(move), wide_move_(wide_move) {}

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
    if (move_ != nullptr && !is_copy(op) && computes_number(op)) become_number(op);
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

  void become_number(Op& op) {
    const bool wide = program_.vars[op.dst[0]] == VarClass::kRow64;
    const Value number{kNoVar, wide, number_of(op, wide)};
    lir::become_move(op, wide ? *wide_move_ : *move_, number);
    if (!ssa_.is_value(op.dst[0])) return;
    global_[op.dst[0]] = number;
    has_global_[op.dst[0]] = true;
  }

  Program& program_;
  SsaValues ssa_;
  const SemanticRow *move_, *wide_move_;
  std::vector<Value> global_;
  std::vector<bool> has_global_;
  std::vector<Value> local_;  // valid in block stamp_[v]
  std::vector<uint32_t> stamp_;
  std::vector<std::vector<Var>> users_;  // local copies of a variable
  std::vector<Var> touched_;
};

}  // namespace

void become_move(Op& op, const SemanticRow& move, const Value& source) {
  op.key = move.key;
  op.exec = move.exec;
  op.op_class = move.op_class;
  op.type = source.wide ? Type::kB64 : Type::kB32;
  op.modifiers = 0;
  op.imm = 0;
  op.contractible = false;
  op.src[0] = source;
  op.num_src = 1;
}

void propagate_copies(Program& program, const Flow& flow, bool computes, SimdLevel level) {
  const auto move = [&](Type t) { return computes ? find_form(form_key(Opcode::kMov, t), level) : nullptr; };
  Propagator(program, flow, move(Type::kB32), move(Type::kB64)).run();
}

}  // namespace gpusim::isa::lir
