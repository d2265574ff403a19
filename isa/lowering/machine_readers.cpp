#include "isa/lowering/machine_readers.h"

namespace gpusim::isa::lir {
namespace {

bool plain_float(const Op& op) {
  switch (static_cast<Opcode>(op.opcode())) {
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kFma:
    case Opcode::kMad:
    case Opcode::kSetp:
    case Opcode::kMin:
    case Opcode::kMax:
      return op.type == Type::kF32 || op.type == Type::kF64;
    default:
      return false;
  }
}

bool is_wide_sum(const Op& op) {
  const auto opcode = static_cast<Opcode>(op.opcode());
  return op.kind == OpKind::kAlu && (opcode == Opcode::kAdd || opcode == Opcode::kSub) &&
         is_integer(op.type) && type_bytes(op.type) == 8 && static_cast<uint32_t>(op.key) == 0;
}
/// Conversions and arithmetic that read either half of a register.
bool takes_halves(const Op& op) {
  if (op.kind != OpKind::kAlu) return false;
  const auto type2 = static_cast<Type>((op.key >> 32) & 0xff);
  return static_cast<Opcode>(op.opcode()) == Opcode::kCvt ? type_bytes(type2) == 2 : is_half(op.type);
}

}  // namespace

bool Readers::is_word_sum(const Op& op) {
  const auto opcode = static_cast<Opcode>(op.opcode());
  return op.kind == OpKind::kAlu && (opcode == Opcode::kAdd || opcode == Opcode::kSub) &&
         is_integer(op.type) && type_bytes(op.type) == 4 && static_cast<uint32_t>(op.key) == 0;
}

Readers::Readers(const Program& program)
    : signed_only(program.vars.size(), true),
      shared_bases(program.vars.size(), true),
      all(program.vars.size(), 0),
      word_sums(program.vars.size(), 0),
      wide_sums(program.vars.size(), 0),
      halves(program.vars.size(), 0) {
  for (const Block& block : program.blocks) {
    for (const Op& op : block.ops) {
      const bool takes_sign = op.kind == OpKind::kAlu && plain_float(op);
      for_each_use(op, [&](Var v) {
        signed_only[v] = signed_only[v] && takes_sign;
        ++all[v];
        if (is_word_sum(op)) ++word_sums[v];
        if (is_wide_sum(op)) ++wide_sums[v];
        if (takes_halves(op)) ++halves[v];
      });
      for (int i = 0; i < op.num_src; ++i) {
        const bool base = op.is_memory() && i == 0 && op.memory.has_base && op.memory.space == Space::kShared;
        if (!op.src[i].is_literal() && !base) shared_bases[op.src[i].var] = false;
      }
    }
  }
}

}  // namespace gpusim::isa::lir
