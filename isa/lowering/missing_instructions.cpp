// What takes two instructions below compute capability 2.0 and one later. There is no selp: one value is
// moved to the result and the other one moved over it under a predicate, unless the result takes the register
// of a value that nobody reads afterwards. Sine, cosine and ex2 want their argument in fixed point, which
// another instruction computes; what is known of the time of both together counts as the function's, so only
// the place that the first one takes is added here. Source: envytools, envydis/g80.c (differences from PTX;
// presin, preex2).
#include "isa/lowering/dominance.h"
#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {
namespace {

class MissingInstructions {
 public:
  MissingInstructions(Program& program, const Flow& flow, SimdLevel level)
      : program_(program), ssa_(program, flow), readers_(program.vars.size(), 0), level_(level) {
    for (const Block& block : program.blocks) {
      for (const Op& op : block.ops) {
        for_each_use(op, [&](Var v) { ++readers_[v]; });
        if (op.folded == kNone) continue;
        for_each_use(program.folded[op.folded], [&](Var v) { ++readers_[v]; });
      }
    }
  }

  void run() {
    for (Block& block : program_.blocks) {
      std::vector<Op> ops;
      ops.swap(block.ops);
      out_ = &block.ops;
      for (Op& op : ops) {
        if (op.kind == OpKind::kAlu) add(op);
        out_->push_back(op);
      }
    }
  }

 private:
  void add(Op& op) {
    switch (static_cast<Opcode>(op.opcode())) {
      case Opcode::kSelp:
        if (op.folded == kNone && !is_last(op.src[0], op) && !is_last(op.src[1], op))
          op.src[1] = moved(op.src[1], op);
        break;
      case Opcode::kSin:
      case Opcode::kCos:
      case Opcode::kEx2:
        if (op.type == Type::kF32) (void)moved(op.src[0], op);
        break;
      default:
        break;
    }
  }
  /// Whether the result of `op` may take the register of `v`.
  [[nodiscard]] bool is_last(const Value& v, const Op& op) const {
    if (v.is_literal()) return false;
    return v.var == op.dst[0] || (readers_[v.var] == 1 && ssa_.is_value(v.var));
  }

  Value moved(const Value& v, const Op& at) {
    const uint64_t key = form_key(Opcode::kMov, v.wide ? Type::kB64 : Type::kB32);
    Op op;
    op.key = key;
    op.kind = OpKind::kAlu;
    op.op_class = v.wide ? OpClass::kInt64 : OpClass::kInt;
    op.exec = find_form(key, level_)->exec;
    op.type = static_cast<Type>((key >> 40) & 0xff);
    op.dst[op.num_dst++] = program_.new_var(v.wide ? VarClass::kWideAside : VarClass::kAside);
    op.src[op.num_src++] = v;
    op.ptx_index = at.ptx_index;
    op.scope = at.scope;
    out_->push_back(op);
    return {op.dst[0], v.wide, 0};
  }

  Program& program_;
  SsaValues ssa_;
  std::vector<uint32_t> readers_;
  SimdLevel level_;
  std::vector<Op>* out_ = nullptr;
};

}  // namespace

void add_missing_instructions(Program& program, const Flow& flow, SimdLevel level) {
  MissingInstructions(program, flow, level).run();
}

}  // namespace gpusim::isa::lir
