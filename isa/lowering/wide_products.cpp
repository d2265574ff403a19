// From compute capability 7.0 on, IMAD.WIDE multiplies 32 bits to 64 bits and adds 64 in one instruction,
// which ptxas makes of mul.wide and mad.wide of 32 bits (its listings for sm_70 to sm_90), and IMAD.HI keeps
// the upper half. Both occupy the multipliers for four cycles where IMAD takes two: so long ptxas 13 waits
// between independent ones in a row (control codes for sm_75, sm_80 and sm_90).
#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

static bool keeps_upper_half(const Op& op) {
  const auto opcode = static_cast<Opcode>(op.opcode());
  if (opcode != Opcode::kMul && opcode != Opcode::kMad) return false;
  if ((op.key & kVarWide) != 0) return op.op_class == OpClass::kIntMul64;
  return (op.key & kVarHi) != 0 && op.op_class == OpClass::kIntMul;
}

void time_wide_products(Program& program) {
  for (Block& block : program.blocks) {
    for (Op& op : block.ops) {
      if (op.kind == OpKind::kAlu && keeps_upper_half(op)) op.op_class = OpClass::kIntMulWide;
    }
  }
}

}  // namespace gpusim::isa::lir
