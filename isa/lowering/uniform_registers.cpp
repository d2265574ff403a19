// Which values ptxas keeps in uniform registers, of which a warp has one for all lanes (7.5 and up): they
// take none of a thread's. Found with probes: integer arithmetic on constants of the launch, the block's
// number and such values, if nothing but arithmetic reads its result. An operation on registers of threads
// has one operand that is something else, so a value stays where another operand of a reader is a constant,
// and where its reader would be one instruction with it (a sum of three, a shifted sum). Counters of loops
// stay too.
#include <algorithm>

#include "isa/lowering/dominance.h"
#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {
namespace {

/// From here on the block's number goes to a uniform register wherever it may.
constexpr int kNumbersUniformFrom = 90;

bool is_word(Type t) {
  return t == Type::kB32 || t == Type::kB64 || (is_integer(t) && type_bytes(t) >= 4 && !is_packed16(t));
}

bool has_uniform_form(const Op& op) {
  if (op.kind != OpKind::kAlu || op.guard != kNoVar || op.folded != kNone || op.whole_warp ||
      op.num_dst != 1 || op.num_src == 0 || !is_word(op.type))
    return false;
  const auto no_var = [](Var v) { return v == kNoVar; };
  if (!std::ranges::all_of(op.pred_src, no_var) || !std::ranges::all_of(op.pred_dst, no_var)) return false;
  switch (static_cast<Opcode>(op.opcode())) {
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kMad:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
    case Opcode::kNeg:
    case Opcode::kMin:
    case Opcode::kMax:
    case Opcode::kShl:
    case Opcode::kShr:
    case Opcode::kLop3:
      return true;
    case Opcode::kCvt:
      return is_word(static_cast<Type>((op.key >> 32) & 0xff));
    default:
      return false;
  }
}

/// It is there for all lanes at once: a parameter, or a special register that is equal in a block of threads.
bool is_source(const Op& op) { return recomputable(op) && (op.kind == OpKind::kLoad || op.num_src == 0); }

bool is_sum(const Op& op) {
  const auto opcode = static_cast<Opcode>(op.opcode());
  return op.kind == OpKind::kAlu && (opcode == Opcode::kAdd || opcode == Opcode::kSub) && is_integer(op.type);
}

class Finder {
 public:
  Finder(const Program& program, const Flow& flow)
      : program_(program),
        uniform_(program.vars.size(), false),
        readers_(program.vars.size(), 0),
        made_(program.vars.size(), nullptr) {
    const SsaValues ssa(program, flow);
    for (const Block& block : program.blocks) {
      for (const Op& op : block.ops) {
        for_each_use(op, [&](Var v) { ++readers_[v]; });
        if (op.num_dst != 1 || op.dst[0] == kNoVar || !ssa.is_value(op.dst[0])) continue;
        uniform_[op.dst[0]] = is_source(op) || has_uniform_form(op);
        made_[op.dst[0]] = &op;
      }
    }
  }

  std::vector<bool> run() {
    while (changed_) {
      changed_ = false;
      for (const Block& block : program_.blocks) {
        for (const Op& op : block.ops) visit(op);
      }
    }
    return std::move(uniform_);
  }

 private:
  void demote(Var v) {
    changed_ = changed_ || uniform_[v];
    uniform_[v] = false;
  }
  [[nodiscard]] bool is_uniform(const Value& v) const { return v.is_literal() || uniform_[v.var]; }

  void visit(const Op& op) {
    const bool result = op.num_dst == 1 && op.dst[0] != kNoVar && uniform_[op.dst[0]];
    if (result && is_source(op)) return;
    if (result && std::all_of(op.src.begin(), op.src.begin() + op.num_src,
                              [&](const Value& v) { return is_uniform(v); }))
      return;
    if (result) demote(op.dst[0]);
    if (op.kind != OpKind::kAlu || op.op_class == OpClass::kWarp || op.whole_warp || op.folded != kNone ||
        static_cast<Opcode>(op.opcode()) == Opcode::kMov) {
      for_each_use(op, [&](Var v) { demote(v); });
      return;
    }
    read(op);
  }

  /// By an operation on registers of threads: one operand may be another thing.
  void read(const Op& op) {
    uint32_t others = 0;
    for (int i = 0; i < op.num_src; ++i) {
      const Value& v = op.src[i];
      if (v.is_literal() && (v.bits != 0 || v.launch_constant != kNone)) ++others;
    }
    Var taken = kNoVar;
    for (int i = 0; i < op.num_src; ++i) {
      const Value& v = op.src[i];
      if (v.is_literal() || !uniform_[v.var] || v.var == taken) continue;
      if (others != 0 || stays(v.var, op)) {
        demote(v.var);
        continue;
      }
      taken = v.var;
      ++others;
    }
  }

  /// Though the operand would be allowed.
  [[nodiscard]] bool stays(Var v, const Op& reader) const {
    const Op* made = made_[v];
    if (is_source(*made)) {
      // A parameter that is an operand is one from the constant bank, or was kept for another reason.
      return made->kind == OpKind::kLoad || program_.machine_capability < kNumbersUniformFrom;
    }
    const bool shifts = static_cast<Opcode>(made->opcode()) == Opcode::kShl;
    return readers_[v] == 1 && is_sum(reader) && (is_sum(*made) || shifts);
  }

  const Program& program_;
  std::vector<bool> uniform_;
  std::vector<uint32_t> readers_;
  std::vector<const Op*> made_;
  bool changed_ = true;
};

}  // namespace

void find_uniform(Program& program, const Flow& flow) { program.uniform = Finder(program, flow).run(); }

}  // namespace gpusim::isa::lir
