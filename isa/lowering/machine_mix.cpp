#include "isa/lowering/machine_mix.h"

namespace gpusim::isa::lir {

MachineClass class_of_type(Type t) {
  if (t == Type::kF32) return MachineClass::kFp32;
  if (t == Type::kF64) return MachineClass::kFp64;
  return is_half(t) ? MachineClass::kHalf : MachineClass::kInteger;
}

bool is_matrix(const Op& op) {
  return op.op_class == OpClass::kMmaHalf || op.op_class == OpClass::kMmaInt8 ||
         op.op_class == OpClass::kMmaFp64 || op.op_class == OpClass::kWgmmaHalf ||
         op.op_class == OpClass::kWgmmaInt8;
}

bool widens_half(const Op& op) {
  return op.kind == OpKind::kAlu && static_cast<Opcode>(op.opcode()) == Opcode::kCvt &&
         op.type == Type::kF32 && is_half(static_cast<Type>((op.key >> 32) & 0xff));
}

MachineClass class_of_access(const Op& op) {
  if (is_matrix(op)) return MachineClass::kTensor;
  if (op.op_class == OpClass::kWarp) return MachineClass::kWarp;
  if (op.kind == OpKind::kAtomic) return MachineClass::kAtomic;
  if (op.op_class == OpClass::kTexture) return MachineClass::kGlobal;
  if (!op.is_memory()) return MachineClass::kControl;
  switch (op.memory.space) {
    case Space::kShared:
      return MachineClass::kShared;
    case Space::kLocal:
      return MachineClass::kLocal;
    case Space::kParam:
    case Space::kConst:
      return MachineClass::kInteger;
    default:
      return MachineClass::kGlobal;
  }
}

Mix mix_of(const Op& op, uint32_t n) {
  switch (op.op_class) {
    case OpClass::kFp32DivRn:
      return {1, 5, 2};
    case OpClass::kFp32RcpRn:
      return {1, 3, 3};
    case OpClass::kFp32SqrtRn:
      return {1, 4, 3};
    case OpClass::kFp64Div:
    case OpClass::kFp64Sqrt:
      return {1, 8, 2};
    case OpClass::kIntDiv64:
      return {0, 0, 1};
    case OpClass::kIntDivU32:
    case OpClass::kIntDivS32:
      return {n > 12 ? 3u : 0u, 0, 0};  // without those that take another one's reciprocal
    case OpClass::kFp32Div:
    case OpClass::kSfuRcp:
    case OpClass::kSfuRsqrt:
    case OpClass::kSfuSqrt:
    case OpClass::kSfuSin:
      return {1, n > 2 ? 2u : n - 1, 0};
    case OpClass::kCvt:
    case OpClass::kCvt64: {
      const auto from = static_cast<Type>((op.key >> 32) & 0xff);
      if (op.type == Type::kTF32) return {};
      return {is_float(from) || is_float(op.type) ? n : 0, 0, 0};
    }
    default:
      break;
  }
  switch (static_cast<Opcode>(op.opcode())) {
    case Opcode::kSetp:
    case Opcode::kSet:
    case Opcode::kSelp:
    case Opcode::kSlct:
    case Opcode::kMov:
      return {};
    case Opcode::kMin:
    case Opcode::kMax:
      return {0, op.type == Type::kF64 ? 0 : n, 0};
    default:
      return {0, n, 0};
  }
}

Mix subroutine_mix(OpClass c) {
  switch (c) {
    case OpClass::kFp32DivRn:
      return {2, 14, 17};
    case OpClass::kFp32RcpRn:
      return {4, 9, 6};
    case OpClass::kFp32SqrtRn:
      return {1, 8, 5};
    case OpClass::kFp64Div:
      return {1, 14, 11};
    case OpClass::kFp64Sqrt:
      return {1, 12, 7};
    default:
      return {3, 0, 1};
  }
}

}  // namespace gpusim::isa::lir
