// Instructions that ptxas makes of single operations. Counted in code that ptxas 13.0 makes, most of it for
// sm_75.
#include <algorithm>

#include "isa/lowering/machine_counter.h"

namespace gpusim::isa::lir {
namespace {

/// A fence for other blocks: membar, errbar and cctl.ivall, from 9.0 on cgaerrbar too.
uint32_t fence_instructions(int capability) { return capability < 70 ? 1 : capability < 90 ? 3 : 4; }

/// The first whose calls take their address in fewer instructions.
constexpr int kCallsShortFrom = 90;

}  // namespace

uint32_t MachineCounter::sequence(uint64_t key, OpClass c, Sequence s) {
  if (s.subroutine != 0)
    subroutines_.emplace(
        key, Subroutine{s.subroutine, subroutine_mix(c), class_of_type(static_cast<Type>(key >> 40 & 0xff))});
  return s.inline_count;
}

uint32_t MachineCounter::system_call(const Op& op) const {
  const bool asserts = op.kind == OpKind::kTrap;
  if (program_.machine_capability >= kCallsShortFrom) return asserts ? 15 : 8;
  return asserts ? 19 : 12;
}

uint32_t MachineCounter::atomic(const Op& op) const {
  constexpr int kLoopsFrom = 50, kMeetsInTwoFrom = 80;
  const bool sums = op.memory.space == Space::kShared && (op.type == Type::kF32 || op.type == Type::kF64);
  if (!sums || program_.machine_capability < kLoopsFrom) return 1;
  return 5 + (op.type == Type::kF64 ? 1 : 0) + (program_.machine_capability < kMeetsInTwoFrom ? 3 : 2);
}

uint32_t MachineCounter::count(const Op& op) {
  if (calls_system(op)) return system_call(op);
  switch (op.kind) {
    case OpKind::kAlu:
      return arithmetic(op) + literals(op) + double_literals(op);
    case OpKind::kLoad:
      if (reads_constant_bank(op) || op.memory.space == Space::kParam) return parameter(op);
      return 1;
    case OpKind::kStore:
      return 1 + stored_literals(op);
    case OpKind::kAtomic:
      return atomic(op);
    case OpKind::kBranchTable:
      return 6;  // the table's address, the entry, and the jump
    case OpKind::kCall:
      return 4;  // the return address is two moves
    case OpKind::kNop:
      return 0;
    case OpKind::kBarrier:
      // The barrier of a cluster: ptxas 13 writes 12 for an arrival and a wait, with fences for the order.
      if (op.modifiers == static_cast<uint8_t>(BarrierAction::kClusterArrive))
        return op.imm == kClusterRelaxed ? 4 : 7;
      return op.modifiers == static_cast<uint8_t>(BarrierAction::kClusterWait) ? 5 : 1;
    case OpKind::kFence:
      return op.op_class == OpClass::kFence ? fence_instructions(program_.machine_capability) : 1;
    default:
      return 1;
  }
}

uint32_t MachineCounter::arithmetic(const Op& op) {
  if (joined_.joins(op, block_at_)) return 0;
  const auto opcode = static_cast<Opcode>(op.opcode());
  const auto type2 = static_cast<Type>((op.key >> 32) & 0xff);
  const auto variant = static_cast<uint32_t>(op.key);
  const bool wide = type_bytes(op.type) == 8 && !is_near_address(program_, op);
  const bool is_float_type = is_float(op.type);
  const bool by_constant = op.num_src > 1 && op.src[1].is_literal() && op.src[1].launch_constant == kNone;
  switch (opcode) {
    case Opcode::kMov:
      if (op.type == Type::kPred) return 1;
      if (op.num_src == 0) return 1;  // a special register
      if (type2 != Type::kNone) return parts(op, type2);
      if (!wide) return 1;
      return op.src[0].is_literal() && op.src[0].bits == 0 ? 1 : 2;
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return wide ? halves(op) : 1;
    case Opcode::kCvt:
      // Rounding away from zero is integer arithmetic: ptxas 13 writes 96 x 3 instructions for 96 of them.
      if (op.type == Type::kTF32) return (op.modifiers & kModNan) != 0 ? 3 : 1;
      if (is_integer(op.type) && is_integer(type2)) {
        if (type_bytes(type2) == 8) return 0;
        return type_bytes(op.type) == 8 && only_added(op.dst[0]) ? 0 : 1;
      }
      return 1;
    case Opcode::kNot:
      return op.type == Type::kPred ? 0 : wide ? 2 : 1;
    case Opcode::kNeg:
    case Opcode::kAbs:
      if (is_float_type) return readers_.signed_only[op.dst[0]] ? 0 : 1;
      if (!wide) return 1;
      return opcode == Opcode::kAbs ? 5 : 2;
    case Opcode::kDiv:
    case Opcode::kRem:
      return division(op, by_constant);
    case Opcode::kSqrt:
      if ((variant & kVarApprox) != 0) return (variant & kVarFtz) != 0 ? 1 : 4;
      return sequence(op.key, op.op_class, op.type == Type::kF64 ? Sequence{30, 33} : Sequence{16, 16});
    case Opcode::kRcp:
      if ((variant & kVarApprox) != 0) return (variant & kVarFtz) != 0 || op.type == Type::kF64 ? 1 : 7;
      return sequence(op.key, op.op_class, op.type == Type::kF64 ? Sequence{18, 37} : Sequence{16, 47});
    case Opcode::kRsqrt:
      if (op.type == Type::kF64) return sequence(op.key, op.op_class, {17, 34});
      [[fallthrough]];
    case Opcode::kEx2:
    case Opcode::kLg2:
      return op.type == Type::kF32 && (variant & kVarFtz) == 0 ? 4 : 1;
    case Opcode::kSin:
    case Opcode::kCos:  // the argument in turns is computed once for both
      return op.src[0].is_literal() || turns_.insert(op.src[0].var).second ? 2 : 1;
    case Opcode::kMul:
    case Opcode::kMad:
      if (is_float_type || !wide) return 1;
      if ((variant & kVarHi) == 0) return product_of_64_bits(op);
      return is_signed(op.type) ? 16 : 7;
    case Opcode::kMin:
    case Opcode::kMax:
      return op.type == Type::kF64 ? 8 : wide ? 4 : 1;
    case Opcode::kShl:
      if (by_constant && !wide && readers_.shared_bases[op.dst[0]] && op.src[1].bits >= 2 &&
          op.src[1].bits <= 4)
        return 0;
      if (by_constant && wide && op.src[1].bits < 32 && only_added(op.dst[0])) return 0;
      [[fallthrough]];
    case Opcode::kShr:
      if (!wide) return 1;
      if (!by_constant || op.src[1].bits < 32) return 2;
      return (op.src[1].bits > 32 ? 1 : 0) + (opcode == Opcode::kShr && is_signed(op.type) ? 1 : 0);
    case Opcode::kClz:
      return wide ? 6 : 2;
    case Opcode::kBfe:
    case Opcode::kBfi: {
      const size_t position = opcode == Opcode::kBfe ? 1 : 2;
      if (op.src[position].is_literal()) return 2;
      return opcode == Opcode::kBfe ? 5 : 6;
    }
    case Opcode::kPopc:
      return wide ? 3 : 1;
    case Opcode::kSet:
      return wide ? 3 : 2;
    default:
      return wide && !is_float_type ? 2 : 1;
  }
}

uint32_t MachineCounter::product_of_64_bits(const Op& op) const {
  uint32_t crosswise = 0;
  for (int i = 0; i < 2; ++i) {
    const Value& v = op.src[i];
    const bool word = v.is_literal() ? v.launch_constant == kNone && v.bits >> 32 == 0 : is_word(v.var);
    crosswise += word ? 0 : 1;
  }
  return crosswise == 0 ? 1 : 2 + crosswise;
}

uint32_t MachineCounter::parts(const Op& op, Type part) const {
  if (type_bytes(part) == 4) return 0;
  const bool apart = (op.key & kVarHi) != 0;
  const auto halves = [&](Var v) { return v == kNoVar || readers_.all[v] == readers_.halves[v]; };
  return apart && type_bytes(part) == 2 && std::all_of(op.dst.begin(), op.dst.begin() + op.num_dst, halves)
             ? 0
             : 1;
}

uint32_t MachineCounter::halves(const Op& op) {
  const Value& v = op.src[1];
  if (!v.is_literal() || v.launch_constant != kNone) return 2;
  const bool keeps = static_cast<Opcode>(op.opcode()) == Opcode::kAnd;
  uint32_t n = 0;
  for (const uint32_t half : {static_cast<uint32_t>(v.bits), static_cast<uint32_t>(v.bits >> 32)})
    n += half != 0 && (!keeps || half != ~0u) ? 1 : 0;
  return n;
}

uint32_t MachineCounter::division(const Op& op, bool by_constant) {
  const bool remainder = static_cast<Opcode>(op.opcode()) == Opcode::kRem;
  const bool is_signed_type = is_signed(op.type);
  if (op.type == Type::kF32) {
    if ((op.key & (kVarApprox | kVarFull)) != 0) return approximate_division(op);
    return sequence(op.key, op.op_class, {16, 96});
  }
  if (op.type == Type::kF64) return sequence(op.key, op.op_class, {25, 82});
  if (type_bytes(op.type) == 8 && by_constant) return 3 + (is_signed_type ? 1 : 0) + (remainder ? 1 : 0);
  if (type_bytes(op.type) == 8) return sequence(op.key, op.op_class, {6, is_signed_type ? 82u : 66u});
  if (prepared(op)) return remainder ? (is_signed_type ? 11 : 9) : is_signed_type ? 14 : 10;
  if (by_constant) return remainder ? (is_signed_type ? 16 : 13) : is_signed_type ? 18 : 14;
  return remainder ? (is_signed_type ? 22 : 17) : is_signed_type ? 24 : 18;
}

uint32_t MachineCounter::approximate_division(const Op& op) {
  const bool ftz = (op.key & kVarFtz) != 0, full = (op.key & kVarFull) != 0;
  const uint32_t all = full ? 8 : ftz ? 2 : 5, product = full ? 3 : ftz ? 1 : 2;
  const bool again = prepared(op);
  if (op.op_class != OpClass::kFp32Mul) return all;
  return again || only_executed_ ? product : all;
}

bool MachineCounter::prepared(const Op& op) {
  const Value& d = op.src[1];
  const uint32_t which = d.is_literal() ? d.launch_constant : d.var;
  return !divisors_.emplace(d.is_literal(), which, d.is_literal() ? d.bits : 0, is_signed(op.type)).second;
}

}  // namespace gpusim::isa::lir
