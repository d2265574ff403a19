#include "isa/lowering/unroll_cost.h"

#include <algorithm>

namespace gpusim::isa::lir {
namespace {

/// Up to `trips` iterations of at most `cost`, of loops of FMA; the same for sm_75 and sm_80, on sm_90 up to
/// two operations less for 9 iterations and more.
struct FullyUnrolled {
  uint32_t cost, trips;
};
constexpr FullyUnrolled kFullyUnrolled[] = {
    {2, 1099}, {3, 1099}, {4, 800}, {5, 512}, {6, 400}, {8, 280}, {9, 200}, {11, 150},
    {12, 128}, {13, 100}, {16, 75}, {17, 64}, {20, 52}, {22, 40}, {26, 32}, {27, 28},
    {30, 24},  {34, 20},  {39, 16}, {42, 13}, {46, 12}, {47, 11}, {49, 10}, {55, 9},
    {57, 8},   {63, 7},   {72, 6},  {78, 5},  {97, 4},  {126, 3}, {194, 2}};

/// Of an access at an address as it is; of a load of bytes or halves of a word; of an atomic operation that
/// warps may do as one.
constexpr uint32_t kAccess = 1, kNarrowLoad = 2, kIntegerAtomic = 10;
/// Of a load of a place that is known, with what adds its offset.
constexpr uint32_t kKnownLoad = 2;

Type source_type(const Op& op) { return static_cast<Type>(op.key >> 32 & 0xff); }

/// Comparisons of half words extend what is no number.
uint32_t extensions(const Op& op) {
  if (!is_integer(op.type) || type_bytes(op.type) != 2) return 0;
  return static_cast<uint32_t>(std::count_if(op.src.begin(), op.src.begin() + op.num_src,
                                             [](const Value& v) { return !v.is_literal(); }));
}

/// Of an operation that is no access.
uint32_t arithmetic_cost(const Op& op) {
  const bool scales = op.type == Type::kF32 && (static_cast<uint32_t>(op.key) & kVarFtz) == 0;
  const bool by_constant = op.num_src > 1 && op.src[1].is_literal() && op.src[1].launch_constant == kNone;
  switch (static_cast<Opcode>(op.opcode())) {
    case Opcode::kMov:
      return op.num_src != 0 && op.type != Type::kPred && (op.guard == kNoVar || op.counts_guarded) ? 0 : 1;
    case Opcode::kNeg:
    case Opcode::kAbs:
      return is_float(op.type) ? 0 : 1;
    case Opcode::kCvt:  // to half a word, of which readers then take the low half
      return is_integer(op.type) && type_bytes(op.type) == 2 && is_integer(source_type(op)) ? 0 : 1;
    case Opcode::kSetp:
      return 1 + extensions(op);
    case Opcode::kMad:
      if ((static_cast<uint32_t>(op.key) & kVarWide) != 0 && op.joined == 0) return 4;
      [[fallthrough]];
    case Opcode::kFma:  // also what will be one, which is a product and a sum until later
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
      return op.src[1].is_literal() && op.src[2].is_literal() ? 1 : 2;
    case Opcode::kBfi:
    case Opcode::kClz:
      return 2;
    case Opcode::kAddc:
    case Opcode::kSubc:
      return op.pred_src[0] != kNoVar ? 2 : 1;  // with a carry before it
    default:
      return is_half(op.type) || (op.op_class == OpClass::kIntMul24 && type_bytes(op.type) == 2) ? 2 : 1;
  }
}

/// Each offset is added to its address, and an address that is a parameter is moved to a register.
uint32_t sums_of_addresses(const Op& op, bool at_parameter) {
  return op.accesses - (op.memory.has_base && op.memory.offset == 0 && !at_parameter ? 1 : 0);
}

}  // namespace

uint32_t operation_cost(const Op& op, bool at_parameter) {
  // A branch was there for those that have a guard since it went.
  const uint32_t guard = op.guard != kNoVar && !op.counts_guarded && op.kind != OpKind::kBranch ? 1 : 0;
  switch (op.kind) {
    case OpKind::kNop:
      return 0;
    case OpKind::kAlu:
      return arithmetic_cost(op) + op.joined + guard;
    case OpKind::kLoad:
    case OpKind::kStore: {
      if (op.memory.space == Space::kParam) return guard;
      const bool narrow = op.kind == OpKind::kLoad && op.memory.element_bytes < 4;
      return (narrow ? kNarrowLoad : kAccess) * op.accesses + sums_of_addresses(op, at_parameter) + guard;
    }
    case OpKind::kAtomic:
      return (is_integer(op.type) ? kIntegerAtomic : kAccess) + sums_of_addresses(op, at_parameter) + guard;
    default:
      return 1;
  }
}

/// Loops from which more goes than the counter's step, test and branch: at most as many iterations as make
/// left * trips * (left / counted + kCountedToo) = kMostOperations. That is within 15 % of what ptxas 13.0
/// does with 8 to 160 operations left and 1 to 48 more gone. A load of a place that is known counts for more
/// than an operation, but not what makes its address. In code with more than one loop, whatever the others
/// are, no more operations are left than kMostOfSeveral (3,300 to 4,100 with 3 to 32 in an iteration).
uint32_t most_trips(const UnrolledCost& each, bool several_loops) {
  constexpr double kMostOperations = 9000, kCountedToo = 0.26, kMostTried = 6000;
  constexpr uint32_t kMostOfSeveral = 3700;
  constexpr uint32_t kLoadOfKnown = 6, kFirstLoadOfKnown = 2;
  const auto* const row = std::ranges::lower_bound(kFullyUnrolled, each.left, {}, &FullyUnrolled::cost);
  const uint32_t trips = row == std::end(kFullyUnrolled) ? 0 : row->trips;
  const uint32_t gone =
      each.gone + (each.loads == 0 ? 0 : kFirstLoadOfKnown + kLoadOfKnown * (each.loads - 1));
  if (gone <= UnrolledCost{}.gone || each.left == 0) return trips;
  const double left = each.left, counted = gone - 1;
  const double most = kMostOperations / (left * (left / counted + kCountedToo));
  const auto alone = static_cast<uint32_t>(std::min(most, kMostTried));
  return std::max(trips, several_loops ? std::min(alone, kMostOfSeveral / each.left) : alone);
}

uint32_t cost_together(const UnrolledCost& each) {
  return each.left + each.gone - UnrolledCost{}.gone + kKnownLoad * each.loads;
}

/// ptxas takes the largest number of iterations that has, with what is left of `trips` when they are divided
/// by it, no more copies than these limits allow; by experiment with 10 to 74 FMA and 7 to 1000 iterations.
uint32_t iterations_together(uint32_t trips, uint32_t cost) {
  constexpr uint32_t kMostCost = 72, kMostOperations = 350;
  if (cost == 0 || cost > kMostCost) return 1;
  const uint32_t copies = kMostOperations / cost;
  uint32_t together = std::min(copies, trips);
  while (together > 1 && together + trips % together > copies) --together;
  return std::max(together, 1u);
}

}  // namespace gpusim::isa::lir
