// From compute capability 7.0 on, IMAD.WIDE multiplies 32 bits to 64 bits and adds 64 in one instruction,
// which ptxas makes of mul.wide and mad.wide of 32 bits (its listings for sm_70 to sm_90). It takes as long
// as a 32-bit product.
#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

void time_wide_products(Program& program) {
  for (Block& block : program.blocks) {
    for (Op& op : block.ops) {
      if (op.kind == OpKind::kAlu && op.op_class == OpClass::kIntMul64 && (op.key & kVarWide) != 0)
        op.op_class = OpClass::kIntMul;
    }
  }
}

}  // namespace gpusim::isa::lir
