// What a .target allows: the first sm_ version of each opcode or form. PTX ISA manual, "Target ISA Notes" of
// each instruction.
#include <fmt/format.h>

#include "isa/verifier_impl.h"

namespace gpusim::isa {
namespace {

using enum Opcode;

struct TargetRule {
  Opcode opcode;
  int sm;
  bool (*applies)(const Modifiers&);  // null: always
};

bool is_64(const Modifiers& m) { return type_bytes(m.type) == 8; }
bool is_half(const Modifiers& m) { return m.type == Type::kF16 || m.type == Type::kF16x2; }
bool is_bfloat(const Modifiers& m) { return m.type == Type::kBF16 || m.type == Type::kBF16x2; }
bool is_generic(const Modifiers& m) { return m.space == Space::kGeneric; }
bool is_ordered(const Modifiers& m) { return m.semantics >= Semantics::kRelaxed; }

// The row with the highest sm that applies decides; rows of one opcode may stand in any order.
constexpr TargetRule kRules[] = {
    {kFma, 20, [](const Modifiers& m) { return m.type == Type::kF32; }},
    {kFma, 53, is_half},
    {kFma, 80, is_bfloat},
    {kAdd, 53, is_half},
    {kSub, 53, is_half},
    {kMul, 53, is_half},
    {kAdd, 90, is_bfloat},
    {kSub, 90, is_bfloat},
    {kMul, 90, is_bfloat},
    {kMin, 80, is_half},
    {kMax, 80, is_half},
    {kMin, 80, is_bfloat},
    {kMax, 80, is_bfloat},
    {kEx2, 75, is_half},
    {kEx2, 90, is_bfloat},
    {kTanh, 75, nullptr},
    {kSet, 53, is_half},
    {kSetp, 53, is_half},
    {kSetp, 90, is_bfloat},
    {kMadc, 20, nullptr},
    {kPopc, 20, nullptr},
    {kClz, 20, nullptr},
    {kBfind, 20, nullptr},
    {kBrev, 20, nullptr},
    {kBfe, 20, nullptr},
    {kBfi, 20, nullptr},
    {kPrmt, 20, nullptr},
    {kCopysign, 20, nullptr},
    {kTestp, 20, nullptr},
    {kFns, 30, nullptr},
    {kBmsk, 70, nullptr},
    {kSzext, 70, nullptr},
    {kDp4a, 61, nullptr},
    {kDp2a, 61, nullptr},
    {kLop3, 50, nullptr},
    {kShf, 32, nullptr},
    {kShfl, 30, nullptr},
    {kMatch, 70, nullptr},
    {kActivemask, 30, nullptr},
    {kRedux, 80, nullptr},
    {kElect, 90, nullptr},
    {kNanosleep, 70, nullptr},
    {kFence, 70, nullptr},
    {kLd, 20, is_generic},
    {kSt, 20, is_generic},
    {kLd, 70, is_ordered},
    {kSt, 70, is_ordered},
    {kLd, 32, [](const Modifiers& m) { return m.nc; }},
    {kLdu, 20, nullptr},
    {kPrefetch, 20, nullptr},
    {kPrefetchu, 20, nullptr},
    {kCvta, 20, nullptr},
    {kIsspacep, 20, nullptr},
    {kAtom, 11, nullptr},
    {kAtom, 12, is_64},
    {kAtom, 20, is_generic},
    {kAtom, 12, [](const Modifiers& m) { return m.space == Space::kShared; }},
    {kAtom, 20, [](const Modifiers& m) { return m.space == Space::kShared && is_64(m); }},
    {kAtom, 20, [](const Modifiers& m) { return m.type == Type::kF32; }},
    {kAtom, 60, [](const Modifiers& m) { return m.type == Type::kF64; }},
    {kAtom, 60, is_half},
    {kAtom, 90, is_bfloat},
    {kAtom, 70, is_ordered},
    {kRed, 11, nullptr},
    {kRed, 12, is_64},
    {kRed, 20, is_generic},
    {kRed, 12, [](const Modifiers& m) { return m.space == Space::kShared; }},
    {kRed, 20, [](const Modifiers& m) { return m.space == Space::kShared && is_64(m); }},
    {kRed, 20, [](const Modifiers& m) { return m.type == Type::kF32; }},
    {kRed, 60, [](const Modifiers& m) { return m.type == Type::kF64; }},
    {kVote, 12, nullptr},
    {kVote, 20, [](const Modifiers& m) { return m.lane_op == LaneOp::kBallot; }},
    {kVote, 30, [](const Modifiers& m) { return m.sync; }},
    {kBar, 20, [](const Modifiers& m) { return m.red || m.arrive; }},
    {kBar, 30, [](const Modifiers& m) { return m.warp; }},
    {kBarrier, 30, nullptr},
    {kBrx, 30, nullptr},
    {kBrkpt, 11, nullptr},
    {kDiscard, 80, nullptr},
    {kApplypriority, 80, nullptr},
    {kGriddepcontrol, 90, nullptr},
    {kSetmaxnreg, 90, nullptr},
};

bool only_moves(Opcode op) {
  return op == kMov || op == kLd || op == kSt || op == kLdu || op == kSelp || op == kSlct;
}

}  // namespace

void FunctionVerifier::check_target(const Instruction& i) {
  const int target = module_.target_sm;
  if (target == 0) return;  // reported once for the module
  int needed = 10;
  for (const TargetRule& rule : kRules) {
    if (rule.opcode == i.opcode && rule.sm > needed && (rule.applies == nullptr || rule.applies(i.mods)))
      needed = rule.sm;
  }
  const bool is_double = i.mods.type == Type::kF64 || i.mods.type2 == Type::kF64;
  if (is_double && !only_moves(i.opcode) && !module_.map_f64_to_f32 && needed < 13) {
    if (target < 13) {
      error(fmt::format("'{}' needs .target sm_13 or higher for double precision, the file has sm_{}", name(),
                        target),
            "or '.target sm_10, map_f64_to_f32'");
      return;
    }
  }
  if (target < needed)
    error(fmt::format("'{}' needs .target sm_{} or higher, the file has sm_{}", name(), needed, target));
}

}  // namespace gpusim::isa
