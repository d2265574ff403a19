// What a .target allows: the first sm_ version of each opcode or form. PTX ISA manual, "Target ISA Notes" of
// each instruction.
#include <fmt/format.h>

#include <algorithm>

#include "isa/ptx/modifier_groups.h"
#include "isa/ptx/unsupported_spellings.h"
#include "isa/ptx/verifier/verifier_impl.h"

namespace gpusim::isa {
namespace {

using enum Opcode;

struct TargetRule {
  Opcode opcode;
  int sm;
  bool (*applies)(const Modifiers&);  // null: always
};

bool is_64(const Modifiers& m) { return type_bytes(m.type) == 8; }
bool is_f16(const Modifiers& m) { return m.type == Type::kF16 || m.type == Type::kF16x2; }
bool is_bf16(const Modifiers& m) { return is_bfloat(m.type); }
bool is_pair(const Modifiers& m) { return m.type == Type::kU16x2 || m.type == Type::kS16x2; }
bool is_f32x2(const Modifiers& m) { return m.type == Type::kF32x2; }
/// f32 with sources of half precision.
bool is_mixed(const Modifiers& m) { return m.type == Type::kF32 && is_half(m.type2); }
bool has_relu(const Modifiers& m) { return m.relu; }
bool has_oob(const Modifiers& m) { return m.oob; }
bool has_nan(const Modifiers& m) { return m.nan; }
bool has_xorsign(const Modifiers& m) { return m.xorsign; }
bool is_packed_or_relu(const Modifiers& m) { return m.relu || is_packed16(m.type); }
/// Between bf16 and anything but f32.
bool is_bf16_general(const Modifiers& m) {
  return (is_bfloat(m.type) && m.type2 != Type::kF32) || (is_bfloat(m.type2) && m.type != Type::kF32);
}
bool is_cvt_bf16(const Modifiers& m) { return is_bfloat(m.type) || is_bfloat(m.type2); }
bool is_set_f16(const Modifiers& m) { return is_f16(m) || m.type2 == Type::kF16 || m.type2 == Type::kF16x2; }
bool is_vector(const Modifiers& m) { return m.vector > 1; }
bool is_16_bits(const Modifiers& m) { return type_bytes(m.type) == 2; }
bool has_cache_operator(const Modifiers& m) { return m.cache != CacheOp::kNone; }
bool is_generic(const Modifiers& m) { return m.space == Space::kGeneric; }

struct VersionRule {
  Opcode opcode;  // kInvalid: any
  int version;
  bool (*applies)(const Modifiers&);
};

constexpr VersionRule kVersions[] = {
    {kInvalid, 700, has_relu},
    {kInvalid, 700, has_nan},
    {kInvalid, 700, is_cvt_bf16},
    {kInvalid, 702, has_xorsign},
    {kInvalid, 704,
     [](const Modifiers& m) { return (m.seen & (kEvictL1 | kEvictL2 | kPrefetchSize | kCacheHint)) != 0; }},
    {kInvalid, 708, [](const Modifiers& m) { return m.scope == Scope::kCluster; }},
    {kInvalid, 803,
     [](const Modifiers& m) { return (m.seen & (kWindow | kParamFunc)) != 0 && m.space == Space::kParam; }},
    {kInvalid, 708, [](const Modifiers& m) { return (m.seen & kWindow) != 0 && m.space == Space::kShared; }},
    {kInvalid, 803, [](const Modifiers& m) { return m.type == Type::kB128; }},
    {kFma, 801, has_oob},
    {kShfl, 600, [](const Modifiers& m) { return m.sync; }},
    {kVote, 600, [](const Modifiers& m) { return m.sync; }},
    {kBar, 600, [](const Modifiers& m) { return m.warp; }},
    {kBar, 708, [](const Modifiers& m) { return (m.seen & kBarCta) != 0; }},
    {kBarrier, 708, [](const Modifiers& m) { return (m.seen & kBarCta) != 0; }},
    {kCvta, 707, [](const Modifiers& m) { return m.space == Space::kParam; }},
    {kIsspacep, 707, [](const Modifiers& m) { return m.space == Space::kParam; }},
    {kLop3, 802, [](const Modifiers& m) { return m.bool_op != BoolOp::kNone; }},
};

// The row with the highest sm that applies decides; rows of one opcode may stand in any order.
constexpr TargetRule kRules[] = {
    {kFma, 20, [](const Modifiers& m) { return m.type == Type::kF32; }},
    {kFma, 53, is_f16},
    {kFma, 80, is_bf16},
    {kAdd, 53, is_f16},
    {kSub, 53, is_f16},
    {kMul, 53, is_f16},
    {kAdd, 90, is_bf16},
    {kSub, 90, is_bf16},
    {kMul, 90, is_bf16},
    {kMin, 80, is_f16},
    {kMax, 80, is_f16},
    {kMin, 80, is_bf16},
    {kMax, 80, is_bf16},
    {kEx2, 75, is_f16},
    {kEx2, 90, is_bf16},
    {kAdd, 100, is_f32x2},
    {kSub, 100, is_f32x2},
    {kMul, 100, is_f32x2},
    {kFma, 100, is_f32x2},
    {kAdd, 100, is_mixed},
    {kSub, 100, is_mixed},
    {kFma, 100, is_mixed},
    {kAbs, 53, is_f16},
    {kNeg, 53, is_f16},
    {kAbs, 80, is_bf16},
    {kNeg, 80, is_bf16},
    {kFma, 80, has_relu},
    {kFma, 90, has_oob},
    {kMin, 80, has_nan},
    {kMax, 80, has_nan},
    {kMin, 86, has_xorsign},
    {kMax, 86, has_xorsign},
    {kAdd, 90, is_pair},
    {kMin, 90, is_pair},
    {kMax, 90, is_pair},
    {kMin, 90, has_relu},
    {kMax, 90, has_relu},
    {kCvtPack, 75, [](const Modifiers& m) { return m.pack_bits != 0; }},
    {kCvt, 80, is_packed_or_relu},
    {kCvt, 80, is_cvt_bf16},
    {kCvt, 90, is_bf16_general},
    {kCvt, 90, [](const Modifiers& m) { return m.ftz && m.type2 == Type::kBF16; }},
    {kTanh, 90, is_bf16},
    {kSet, 53, is_set_f16},
    {kSet, 90, is_cvt_bf16},
    {kLop3, 70, [](const Modifiers& m) { return m.bool_op != BoolOp::kNone; }},
    {kSetp, 53, is_f16},
    {kSetp, 90, is_bf16},
    {kTex, 20, [](const Modifiers& m) { return m.texture >= TextureShape::kA1d; }},
    {kLd, 20, is_generic},
    {kSt, 20, is_generic},
    {kLd, 20, has_cache_operator},
    {kSt, 20, has_cache_operator},
    {kLd, 70, is_ordered},
    {kSt, 70, is_ordered},
    {kLd, 32, [](const Modifiers& m) { return m.nc; }},
    {kCvta, 70, [](const Modifiers& m) { return m.space == Space::kParam; }},
    {kIsspacep, 70, [](const Modifiers& m) { return m.space == Space::kParam; }},
    {kAtom, 12, is_64},
    {kAtom, 20, is_generic},
    {kAtom, 12, [](const Modifiers& m) { return m.space == Space::kShared; }},
    {kAtom, 20, [](const Modifiers& m) { return m.space == Space::kShared && is_64(m); }},
    {kAtom, 20, [](const Modifiers& m) { return m.type == Type::kF32; }},
    {kAtom, 60, [](const Modifiers& m) { return m.type == Type::kF64; }},
    {kAtom, 60, is_f16},
    {kAtom, 70, is_16_bits},
    {kAtom, 90, is_vector},
    {kAtom, 90, [](const Modifiers& m) { return m.type == Type::kB128; }},
    {kAtom, 90, is_bf16},
    {kAtom, 70, is_ordered},
    {kRed, 12, is_64},
    {kRed, 20, is_generic},
    {kRed, 12, [](const Modifiers& m) { return m.space == Space::kShared; }},
    {kRed, 20, [](const Modifiers& m) { return m.space == Space::kShared && is_64(m); }},
    {kRed, 20, [](const Modifiers& m) { return m.type == Type::kF32; }},
    {kRed, 60, [](const Modifiers& m) { return m.type == Type::kF64; }},
    {kRed, 60, is_f16},
    {kRed, 70, is_16_bits},
    {kRed, 90, is_bf16},
    {kRed, 90, is_vector},
    {kVote, 20, [](const Modifiers& m) { return m.lane_op == LaneOp::kBallot; }},
    {kVote, 30, [](const Modifiers& m) { return m.sync; }},
    {kBar, 20, [](const Modifiers& m) { return m.red || m.arrive; }},
    {kBar, 30, [](const Modifiers& m) { return m.warp; }},
};

bool only_moves(Opcode op) {
  return op == kMov || op == kLd || op == kSt || op == kLdu || op == kSelp || op == kSlct;
}

}  // namespace

void FunctionVerifier::check_target(const Instruction& i) {
  for (const VersionRule& rule : kVersions) {
    if ((rule.opcode != i.opcode && rule.opcode != kInvalid) || ptx_version(module_) >= rule.version)
      continue;
    if (rule.applies == nullptr || rule.applies(i.mods))
      return error(
          fmt::format("'{}' needs PTX {}.{} or later", name(), rule.version / 100, rule.version % 100));
  }
  const OpcodeInfo& info = opcode_info(i.opcode);
  if (ptx_version(module_) < info.ptx_version)
    return error(
        fmt::format("'{}' needs PTX {}.{} or later", name(), info.ptx_version / 100, info.ptx_version % 100));
  const int target = module_.target_sm;
  if (target == 0) return;  // reported once for the module
  int needed = info.sm;
  for (const TargetRule& rule : kRules) {
    if (rule.opcode == i.opcode && rule.sm > needed && (rule.applies == nullptr || rule.applies(i.mods)))
      needed = rule.sm;
  }
  const bool three_sources = (i.opcode == kMin || i.opcode == kMax) && i.operands.size() == 4;
  if (three_sources) needed = 100;
  const bool in_cluster = i.text.find("::cluster") != std::string::npos || i.mods.scope == Scope::kCluster;
  if (in_cluster) needed = std::max(needed, 90);
  if ((i.mods.seen & (kEvictL1 | kPrefetchSize)) != 0)
    needed = std::max(needed, (i.mods.seen & kPrefetchSize) != 0 ? 75 : 70);
  if ((i.mods.seen & (kCacheHint | kLongPrefetch)) != 0) needed = std::max(needed, 80);
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
    return error(
        fmt::format("'{}' needs .target sm_{} or higher, the file has sm_{}", name(), needed, target));
  if (std::string wrong = letter_error(module_, i); !wrong.empty()) error(std::move(wrong));
}

}  // namespace gpusim::isa
