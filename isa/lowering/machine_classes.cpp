// Operations that machines do elsewhere than their PTX says, by ptxas 13's code.
// From compute capability 7.0 on, constant memory at an address that is known is an operand of an
// instruction, or comes into a register as a kernel parameter does (c[3][...] and ULDC, for sm_75, sm_80 and
// sm_90): only addresses in registers need the load/store unit. From 8.6 on, whole numbers of 32 bits become
// floats in the pipe of integer arithmetic (I2FP, with two cycles between independent ones and a result that
// is waited for by stall counts), before in that of the special functions (I2F, for sm_75 and sm_80).
#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

namespace {

constexpr int kWideProductsFrom = 70, kFixedConstantsFrom = 70, kConvertsAsIntegersFrom = 86;

bool is_fixed_constant(const Op& op) { return op.op_class == OpClass::kLoadConst && reads_constant_bank(op); }

bool makes_float_of_word(const Op& op) {
  const auto from = static_cast<Type>((op.key >> 32) & 0xff);
  return op.op_class == OpClass::kCvt && static_cast<Opcode>(op.opcode()) == Opcode::kCvt &&
         op.type == Type::kF32 && is_integer(from) && type_bytes(from) == 4;
}

}  // namespace

void time_as_machine(Program& program) {
  if (program.machine_capability >= kWideProductsFrom) time_wide_products(program);
  for (Block& block : program.blocks) {
    for (Op& op : block.ops) {
      if (program.machine_capability >= kFixedConstantsFrom && is_fixed_constant(op))
        op.op_class = OpClass::kLoadParam;
      else if (program.machine_capability >= kConvertsAsIntegersFrom && makes_float_of_word(op))
        op.op_class = OpClass::kInt;
    }
  }
}

}  // namespace gpusim::isa::lir
