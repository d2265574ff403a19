// Rules of half precision and of packed 16-bit integers: which modifiers and type pairs PTX has for .f16,
// .bf16 and their packed forms. PTX ISA manual, 9.7.4, 9.7.7 and the tables of cvt and atom.
#include <fmt/format.h>

#include "isa/ptx/verifier/verifier_impl.h"

namespace gpusim::isa {
namespace {

using enum Opcode;

bool is_pair(Type t) { return t == Type::kU16x2 || t == Type::kS16x2; }

/// Types that a set with this destination compares.
bool set_takes(Type to, Type from) {
  const bool narrow = to == Type::kU16 || to == Type::kS16, word = to == Type::kU32 || to == Type::kS32;
  if (is_packed16(from)) return to == from || word;
  if (is_packed16(to)) return false;
  if (is_half(from)) return to == from || narrow || word || (to == Type::kBF16 && from == Type::kF16);
  return !narrow;
}

}  // namespace

void FunctionVerifier::check_half(const Instruction& i) {
  const Modifiers& m = i.mods;
  if (i.opcode == kCvt) return check_half_cvt(i);
  if (i.opcode == kSet && !set_takes(m.type, m.type2)) {
    return error(
        fmt::format("'{}' cannot compare .{} into .{}", name(), type_name(m.type2), type_name(m.type)));
  }
  if (i.opcode == kMin || i.opcode == kMax) check_extreme(i);
  if (m.type == Type::kF32x2 && (m.sat || m.relu || m.cc))
    error(fmt::format("'{}': .f32x2 has roundings and .ftz only", name()));
  if ((is_half(m.type) || is_pair(m.type)) && i.opcode != kAtom && i.opcode != kRed) check_half_arithmetic(i);
  const Type compared = i.opcode == kSet ? m.type2 : m.type;
  if ((i.opcode == kSet || i.opcode == kSetp) && m.ftz && is_bfloat(compared))
    error(fmt::format("'{}': .ftz is not for .bf16", name()));
  if (i.opcode != kSetp || i.operands.empty() || !is_half(m.type)) return;
  if (is_packed16(m.type) != (i.operands[0].reg2 != kNoRegister)) {
    error(i.operands[0].loc,
          is_packed16(m.type) ? fmt::format("'{}' writes two predicates", name())
                              : fmt::format("'{}' writes one predicate", name()),
          is_packed16(m.type) ? "such as %p1|%p2" : "");
  }
}

/// Rounding, .ftz, .sat and .relu of arithmetic on halves.
void FunctionVerifier::check_half_arithmetic(const Instruction& i) {
  const Modifiers& m = i.mods;
  if (m.rounding != Rounding::kNone && (m.rounding != Rounding::kRn || is_pair(m.type)))
    error(fmt::format("'{}': .{} is rounded to nearest even only", name(), type_name(m.type)));
  if (m.cc) error(fmt::format("'{}': .cc is for 32- and 64-bit integers", name()));
  if (m.sat && !(m.type == Type::kF16 || m.type == Type::kF16x2))
    error(fmt::format("'{}': .sat is not for .{}", name(), type_name(m.type)));
  if (m.sat && m.relu) error(fmt::format("'{}': .sat and .relu exclude each other", name()));
  if (i.opcode == kEx2) {
    if (m.ftz != is_bfloat(m.type))
      error(fmt::format("'{}': .ftz goes with .bf16 and .bf16x2 only, and they need it", name()));
  } else if (m.ftz && (is_bfloat(m.type) || is_pair(m.type))) {
    error(fmt::format("'{}': .ftz is not for .{}", name(), type_name(m.type)));
  }
}

/// min and max of any type: .NaN, .xorsign.abs, .relu and the form with three sources.
void FunctionVerifier::check_extreme(const Instruction& i) {
  const Modifiers& m = i.mods;
  const bool marked = m.nan || m.xorsign || m.abs;
  if (marked && m.type != Type::kF32 && !is_half(m.type))
    error(fmt::format("'{}': .NaN, .xorsign and .abs are for .f32 and half precision", name()));
  if (m.relu && m.type != Type::kS32 && m.type != Type::kS16x2)
    error(fmt::format("'{}': .relu is for .s32 and .s16x2", name()));
  const bool three = i.operands.size() == 4;
  if (three && m.type != Type::kF32) error(fmt::format("'{}' takes 3 operands, found 4", name()));
  if (m.xorsign && (three || !m.abs)) error(fmt::format("'{}': .xorsign.abs goes with two sources", name()));
  if (m.abs && !m.xorsign && !three)
    error(fmt::format("'{}': .abs goes with three sources or with .xorsign", name()));
}

void FunctionVerifier::check_half_cvt(const Instruction& i) {
  const Modifiers& m = i.mods;
  const bool from_single = m.type2 == Type::kF32 && is_half(m.type);
  const bool near_or_zero = m.rounding == Rounding::kRn || m.rounding == Rounding::kRz;
  if (is_packed16(m.type) || is_packed16(m.type2)) {
    if (!is_half(m.type) || m.type2 != Type::kF32 || !near_or_zero || m.ftz || m.sat) {
      return error(fmt::format("'{}': a packed conversion is cvt.rn or cvt.rz to .f16x2 or .bf16x2 from .f32",
                               name()));
    }
    if (i.operands.size() != 3) {
      return error(fmt::format("'{}' takes 3 operands, found {}", name(), i.operands.size()),
                   "the first source goes to the upper half");
    }
  }
  if ((m.relu || m.satfinite) && (!from_single || !near_or_zero || m.ftz))
    error(fmt::format("'{}': .relu and .satfinite go with .rn or .rz from .f32 to half precision", name()));
  if (!is_half(m.type) && !is_half(m.type2)) return;
  if (m.sat && (is_bfloat(m.type) || is_bfloat(m.type2)))
    error(fmt::format("'{}': .sat is not for .bf16", name()));
  if (m.ftz && m.type != Type::kF32 && m.type2 != Type::kF32)
    error(fmt::format("'{}': .ftz goes with .f32", name()));
  const Type other = is_bfloat(m.type) ? m.type2 : is_bfloat(m.type2) ? m.type : Type::kNone;
  if (other != Type::kNone && type_bytes(other) == 1)
    error(fmt::format("'{}': there is no conversion between .bf16 and 8-bit integers", name()));
}

}  // namespace gpusim::isa
