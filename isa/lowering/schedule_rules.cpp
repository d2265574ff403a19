#include "isa/lowering/schedule_rules.h"

namespace gpusim::isa::lir {
namespace {

/// Of arithmetic, and of special functions, conversions and bit counts.
constexpr uint32_t kFixedLatency = 5, kSpecialLatency = 16;

/// Of mma and wmma: products, and the accesses and moves of their operands.
bool handles_matrices(const Op& op) {
  if (!op.whole_warp) return false;
  switch (op.op_class) {
    case OpClass::kMmaHalf:
    case OpClass::kMmaInt8:
    case OpClass::kMmaFp64:
      return true;
    default:
      return op.is_memory() || (op.kind == OpKind::kAlu && op.op_class == OpClass::kWarp);
  }
}

}  // namespace

bool branches_inside(const Op& op) {
  switch (op.op_class) {
    case OpClass::kFp32DivRn:
    case OpClass::kFp32RcpRn:
    case OpClass::kFp32SqrtRn:
    case OpClass::kFp64Sqrt:
    case OpClass::kIntDiv64:
      return true;
    case OpClass::kFp64Div:  // an approximate reciprocal is one instruction
      return static_cast<Opcode>(op.opcode()) != Opcode::kRcp ||
             (static_cast<uint32_t>(op.key) & kVarApprox) == 0;
    default:
      return false;
  }
}

uint32_t guard_latency(int capability) { return capability >= 80 ? 13 : 12; }

uint32_t latency(const Op& op) {
  switch (op.op_class) {
    case OpClass::kLoadGlobal:
    case OpClass::kLoadLocal:
    case OpClass::kAtomGlobal:
    case OpClass::kTexture:
      return kGlobalLatency;
    case OpClass::kBarrier:  // before what is as ready
    case OpClass::kLoadShared:
    case OpClass::kWgmmaLoad:
    case OpClass::kAtomShared:
    case OpClass::kWarp:
    case OpClass::kLoadConst:
      return 24;
    case OpClass::kIntDivU32:
    case OpClass::kIntDivS32:
    case OpClass::kIntDiv64:
    case OpClass::kFp32DivRn:
    case OpClass::kFp32SqrtRn:
    case OpClass::kFp32RcpRn:
    case OpClass::kFp64Div:
    case OpClass::kFp64Sqrt:
      return 100;
    case OpClass::kSfuRcp:
    case OpClass::kSfuRsqrt:
    case OpClass::kSfuSqrt:
    case OpClass::kSfuSin:
    case OpClass::kFp32Div:
    case OpClass::kCvt:
    case OpClass::kCvt64:
    case OpClass::kBitCount:
      return kSpecialLatency;
    case OpClass::kMmaHalf:
    case OpClass::kMmaInt8:
    case OpClass::kMmaFp64:
    case OpClass::kWgmmaHalf:
    case OpClass::kWgmmaInt8:
      return 32;
    case OpClass::kFp64:
      return 16;
    case OpClass::kLoadParam:
      return 8;
    default:
      return kFixedLatency;
  }
}

bool writes(const Op& op, Var var) {
  bool found = false;
  for_each_def(op, [&](Var v) { found = found || v == var; });
  return found;
}

uint32_t latency(const Op& op, const Op& reader, int capability) {
  const uint32_t own = latency(op);
  if (capability < 70 || own != kFixedLatency) return own;
  if (reader.guard != kNoVar && writes(op, reader.guard)) return guard_latency(capability);
  const bool newer = capability >= 80;
  if (reader.is_memory() || reader.op_class == OpClass::kWarp) return newer ? 5 : 8;
  return latency(reader) == kSpecialLatency ? (newer ? 5 : 6) : own;
}

bool is_barrier(const Op& op) {
  if (op.kind == OpKind::kSync) return op.exec == nullptr && !op.only_gathers;
  const auto action = static_cast<BarrierAction>(op.modifiers);
  return op.kind == OpKind::kBarrier && (op.imm & kBarrierOfWarpgroup) == 0 &&
         action != BarrierAction::kClusterArrive && action != BarrierAction::kClusterWait;
}

bool is_wall(const Op& op, int capability) {
  if (op.whole_warp && (capability < 70 || !handles_matrices(op))) return true;
  if (op.op_class == OpClass::kSpecial) return true;
  if (is_barrier(op)) return capability < 70;
  return op.kind != OpKind::kAlu && !op.is_memory() && op.kind != OpKind::kSync;
}

bool heeds_barriers(const Op& op, const Op* access) {
  if (access != nullptr)
    return access->kind != OpKind::kLoad || access->memory.is_volatile ||
           !(access->memory.space == Space::kParam || access->memory.space == Space::kConst ||
             access->memory.read_only);
  return op.kind == OpKind::kSync && !op.only_gathers;
}

bool is_ordered(const Op& op) {
  return op.kind == OpKind::kAtomic || (op.memory.is_volatile && !op.whole_warp);
}

}  // namespace gpusim::isa::lir
