#include "isa/lowering/unroll_cost.h"

#include <algorithm>

namespace gpusim::isa::lir {
namespace {

/// Up to `trips` iterations of at most `cost`, of loops of FMA, and of FMA with loads from shared or global
/// memory; the same for sm_75 and sm_90.
struct FullyUnrolled {
  uint32_t cost, trips;
};
constexpr FullyUnrolled kFullyUnrolled[] = {{2, 1099}, {3, 814}, {4, 519}, {6, 277}, {8, 173}, {10, 120},
                                            {12, 89},  {16, 52}, {20, 37}, {24, 29}, {32, 18}, {40, 12},
                                            {48, 9},   {64, 6},  {96, 4},  {120, 3}, {144, 2}};

/// Of an access; of a load of bytes or halves of a word; of an atomic operation that warps may do as one.
constexpr uint32_t kAccess = 2, kNarrowLoad = 3, kIntegerAtomic = 11;

/// Of an operation that is no access.
uint32_t arithmetic_cost(const Op& op) {
  const bool scales = op.type == Type::kF32 && (static_cast<uint32_t>(op.key) & kVarFtz) == 0;
  const bool by_constant = op.num_src > 1 && op.src[1].is_literal() && op.src[1].launch_constant == kNone;
  switch (static_cast<Opcode>(op.opcode())) {
    case Opcode::kMov:
      return op.num_src != 0 && op.type != Type::kPred && op.guard == kNoVar ? 0 : 1;
    case Opcode::kNeg:
    case Opcode::kAbs:
      return is_float(op.type) ? 0 : 1;
    case Opcode::kFma:
    case Opcode::kMad:  // also what will be one, which is a product and a sum until later
      return is_half(op.type) || (static_cast<uint32_t>(op.key) & kVarSeparate) != 0 ? 2 : 1;
    case Opcode::kRsqrt:
    case Opcode::kEx2:
    case Opcode::kLg2:
    case Opcode::kSqrt:
      return scales ? 6 : 1;
    case Opcode::kRcp:
      return scales ? 7 : 1;
    case Opcode::kDiv:
      if (is_float(op.type)) return op.op_class == OpClass::kFp32Div ? 12 : scales ? 7 : 2;
      return is_signed(op.type) ? by_constant ? 23 : 27 : by_constant ? 18 : 21;
    case Opcode::kRem:
      return is_signed(op.type) ? by_constant ? 20 : 25 : by_constant ? 16 : 19;
    case Opcode::kBfe:
    case Opcode::kBfi:
      return 2;
    default:
      return is_half(op.type) || (op.op_class == OpClass::kIntMul24 && type_bytes(op.type) == 2) ? 2 : 1;
  }
}

}  // namespace

uint32_t operation_cost(const Op& op) {
  // A branch was there for those that have a guard since it went.
  const uint32_t guard = op.guard != kNoVar && !op.counts_guarded && op.kind != OpKind::kBranch ? 1 : 0;
  switch (op.kind) {
    case OpKind::kNop:
      return 0;
    case OpKind::kAlu:
      return arithmetic_cost(op) + guard;
    case OpKind::kLoad:
    case OpKind::kStore:
      if (op.memory.space == Space::kParam) return guard;
      return (op.memory.element_bytes < 4 && op.kind == OpKind::kLoad ? kNarrowLoad : kAccess) + guard;
    case OpKind::kAtomic:
      return (is_integer(op.type) ? kIntegerAtomic : kAccess) + guard;
    case OpKind::kBarrier:
      return 2;
    default:
      return 1;
  }
}

/// With n times as much that goes, ptxas unrolls n times as many iterations.
uint32_t most_trips(const UnrolledCost& each) {
  const auto* const row = std::ranges::lower_bound(kFullyUnrolled, each.left, {}, &FullyUnrolled::cost);
  return row == std::end(kFullyUnrolled) ? 0 : row->trips * each.gone / UnrolledCost{}.gone;
}

}  // namespace gpusim::isa::lir
