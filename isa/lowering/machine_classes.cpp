// Operations that machines do elsewhere than their PTX says, by ptxas 13's code for sm_75, sm_80 and sm_90.
// From compute capability 7.0 on, constant memory at an address that is known is an operand of an
// instruction, or comes into a register as a kernel parameter does (c[3][...] and ULDC): only addresses in
// registers need the load/store unit. Few conversions are the special functions' (I2F, F2I, F2F, FRND, which
// who needs their result waits for at a barrier): from one whole number to another, all but saturating ones
// are no more than a shift, a PRMT or a LOP3; halves become floats in a sum with zero (HADD2), and floats of
// other bits in one, too (FADD); parts of words are shifts, SGXT, BMSK and LOP3. From 8.0 on, floats become
// halves and bytes in F2FP, and from 8.6 on whole numbers of 32 bits floats in I2FP, both of which come
// after a known time, too (F2F, I2F before).
#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {

namespace {

constexpr int kWideProductsFrom = 70, kFixedConstantsFrom = 70, kFewConversionsFrom = 70,
              kNarrowsInPackFrom = 80, kConvertsAsIntegersFrom = 86;

bool is_fixed_constant(const Op& op) { return op.op_class == OpClass::kLoadConst && reads_constant_bank(op); }

/// Of a number that is packed with another one: of eight bits, or half.
bool is_narrow(Type t) { return is_half(t) || t == Type::kE4M3x2 || t == Type::kE5M2x2; }

/// Where a machine from 7.0 on does a conversion.
OpClass class_of_conversion(const Op& op, int capability) {
  const auto from = static_cast<Type>((op.key >> 32) & 0xff);
  const auto variant = static_cast<uint32_t>(op.key);
  if ((variant & kVarFull) != 0) return op.op_class;  // to an integral value
  if (is_integer(from) && is_integer(op.type)) return (variant & kVarSat) == 0 ? OpClass::kInt : op.op_class;
  const bool positive_or_word = is_unsigned(from) || type_bytes(from) == 4;
  if (op.type == Type::kF32 && is_integer(from) && type_bytes(from) <= 4 && positive_or_word)
    return capability >= kConvertsAsIntegersFrom ? OpClass::kInt : op.op_class;
  if (op.type == Type::kF32 && from == Type::kF32) return OpClass::kFp32;
  if (op.type == Type::kF32 && from == Type::kF16) return OpClass::kHalf;
  if (op.type == Type::kF32 && from == Type::kBF16) return OpClass::kInt;
  if (is_narrow(op.type) && (from == Type::kF32 || is_narrow(from)) && capability >= kNarrowsInPackFrom)
    return OpClass::kInt;
  return op.op_class;
}

OpClass machine_class(const Op& op, int capability) {
  if (capability < kFewConversionsFrom) return op.op_class;
  switch (static_cast<Opcode>(op.opcode())) {
    case Opcode::kCvt:
      return op.op_class == OpClass::kCvt || op.op_class == OpClass::kCvt64
                 ? class_of_conversion(op, capability)
                 : op.op_class;
    case Opcode::kBfe:
    case Opcode::kBfi:
      return type_bytes(op.type) == 8 ? OpClass::kInt64 : OpClass::kInt;
    case Opcode::kSzext:
    case Opcode::kBmsk:
    case Opcode::kCvtPack:
      return OpClass::kInt;
    default:
      return op.op_class;
  }
}

}  // namespace

void time_as_machine(Program& program) {
  if (program.machine_capability >= kWideProductsFrom) time_wide_products(program);
  for (Block& block : program.blocks) {
    for (Op& op : block.ops) {
      if (program.machine_capability >= kFixedConstantsFrom && is_fixed_constant(op))
        op.op_class = OpClass::kLoadParam;
      else if (op.kind == OpKind::kAlu)
        op.op_class = machine_class(op, program.machine_capability);
    }
  }
}

}  // namespace gpusim::isa::lir
