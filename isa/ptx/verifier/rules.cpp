// Rules of single opcodes: types, operand counts and the modifiers that must be there. PTX ISA manual,
// chapter 9.
#include <fmt/format.h>

#include "isa/ptx/modifier_groups.h"
#include "isa/ptx/verifier/verifier_impl.h"

namespace gpusim::isa {
namespace {

using enum Opcode;

bool has_type(uint64_t mask, Type t) { return ((mask >> static_cast<int>(t)) & 1u) != 0; }

std::string list_types(uint64_t mask) {
  std::string text;
  for (int t = 1; t <= static_cast<int>(Type::kF32x2); ++t) {
    if (has_type(mask, static_cast<Type>(t))) text += fmt::format(" .{}", type_name(static_cast<Type>(t)));
  }
  return text;
}

/// How many types the opcode carries.
int type_count(const Instruction& i) {
  if (mixes_precision(i)) return 2;
  switch (i.opcode) {
    case kCvt:
    case kSet:
    case kSlct:
    case kDp4a:
    case kDp2a:
    case kTex:
      return 2;
    case kCvtPack:
      return i.operands.size() == 4 ? 3 : 2;
    case kBar:
    case kBarrier:
      return i.mods.red ? 1 : 0;
    default:
      return opcode_info(i.opcode).types != 0 ? 1 : 0;
  }
}

/// Types that the second one may be.
uint64_t second_types(const Instruction& i) {
  const auto bits = [](auto... types) { return ((uint64_t{1} << static_cast<int>(types)) | ...); };
  switch (i.opcode) {
    case kCvt:
      return opcode_info(kCvt).types & ~bits(Type::kTF32, Type::kE4M3x2, Type::kE5M2x2);
    case kSet:
      return opcode_info(kSetp).types;
    case kSlct:
      return bits(Type::kS32, Type::kF32);
    case kDp4a:
    case kDp2a:
      return bits(Type::kU32, Type::kS32);
    default:
      return ~uint64_t{0};
  }
}

std::string example_type(uint64_t mask) {
  for (const Type t : {Type::kS32, Type::kF32, Type::kB32, Type::kU32, Type::kU64, Type::kPred}) {
    if (has_type(mask, t)) return std::string(type_name(t));
  }
  return "u32";
}

/// Between floating-point types without loss.
bool cvt_is_exact(const Modifiers& m) {
  return !is_bfloat(m.type2) && (m.type == m.type2 || type_bytes(m.type) > type_bytes(m.type2));
}

/// Between integers: every value of the source is one of the destination.
bool cvt_keeps_values(const Modifiers& m) {
  const int to = 8 * type_bytes(m.type), from = 8 * type_bytes(m.type2);
  if (is_signed(m.type2)) return is_signed(m.type) && to >= from;
  return is_signed(m.type) ? to > from : to >= from;
}

}  // namespace

bool FunctionVerifier::check_types(const Instruction& i) {
  const OpcodeInfo& row = opcode_info(i.opcode);
  const int wanted = type_count(i), found = written_types(i.mods);
  if (wanted == 0 && found > 0) {
    error(fmt::format("'{}' takes no type", row.name));
    return false;
  }
  if (found < wanted) {
    if (wanted == 2) {
      error(fmt::format("'{}' requires two types, destination and source", row.name),
            fmt::format("for example '{}.u32.s32'", row.name));
    } else {
      error(fmt::format("'{}' requires a type", row.name),
            fmt::format("for example '{}.{}'", row.name, example_type(row.types)));
    }
    return false;
  }
  if (found > wanted) {
    error(fmt::format("'{}' has {} types, expected {}", name(), found, wanted));
    return false;
  }
  if (wanted > 0 && !has_type(row.types, i.mods.type)) {
    error(fmt::format("'{}' does not take type .{}", row.name, type_name(i.mods.type)),
          "it takes" + list_types(row.types));
    return false;
  }
  if (wanted == 2 && !has_type(second_types(i), i.mods.type2)) {
    error(fmt::format("'{}' does not take .{} as its second type", name(), type_name(i.mods.type2)),
          "it takes" + list_types(second_types(i)));
    return false;
  }
  return true;
}

bool FunctionVerifier::check_operand_count(const Instruction& i) {
  const OpcodeInfo& row = opcode_info(i.opcode);
  const size_t n = i.operands.size();
  if (n >= row.min_operands && n <= row.max_operands) return true;
  const std::string range =
      row.min_operands == row.max_operands
          ? fmt::format("{} operand{}", row.min_operands, row.min_operands == 1 ? "" : "s")
          : fmt::format("{} to {} operands", row.min_operands, row.max_operands);
  error(fmt::format("'{}' takes {}, found {}", name(), range, n));
  return false;
}

void FunctionVerifier::check_modifiers(const Instruction& i) {
  const Modifiers& m = i.mods;
  const bool integer = is_integer(m.type);
  switch (i.opcode) {
    case kMul:
    case kMad:
      if (integer && m.part == MulPart::kNone && !(i.opcode == kMad && m.cc)) {
        error(fmt::format("'{}' needs .lo, .hi or .wide", name()));
      }
      if (!integer && m.part != MulPart::kNone)
        error(fmt::format("'{}': .lo, .hi and .wide are for integers", name()));
      if (m.part == MulPart::kWide && type_bytes(m.type) == 8)
        error(fmt::format("'{}': .wide needs a 16- or 32-bit type", name()));
      break;
    case kMul24:
    case kMad24:
    case kMadc:
    case kDp2a:
      if (m.part != MulPart::kLo && m.part != MulPart::kHi)
        error(fmt::format("'{}' needs .lo or .hi", name()));
      break;
    case kShf:
      if (m.left == m.right) error(fmt::format("'{}' needs .l or .r", name()));
      if (m.wrap == m.clamp) error(fmt::format("'{}' needs .clamp or .wrap", name()));
      break;
    case kBmsk:
    case kSzext:
      if (m.wrap == m.clamp) error(fmt::format("'{}' needs .clamp or .wrap", name()));
      break;
    case kTestp:
      if (m.testp == 0)
        error(fmt::format("'{}' needs .finite, .infinite, .number, .notanumber, .normal or .subnormal",
                          name()));
      break;
    case kCvta:
    case kIsspacep:
      if (m.space == Space::kNone) error(fmt::format("'{}' needs a state space such as .global", name()));
      break;
    case kMembar:
      if (m.scope == Scope::kNone) error("'membar' needs .cta, .gl or .sys");
      break;
    case kSet:
    case kSetp:
      check_compare(i);
      break;
    case kCvt:
      check_cvt(i);
      break;
    case kCvtPack:
      if (!m.sat || m.type2 != Type::kS32 || (type_bytes(m.type) == 1) != (m.type3 == Type::kB32))
        error(fmt::format("'{}' is cvt.pack.sat from .s32, to 8 bits or fewer with a third source .b32",
                          name()));
      break;
    case kSetmaxnreg:
      check_setmaxnreg(i);
      break;
    case kBrx:
      if ((m.seen & kIdx) == 0) error("'brx' needs .idx", "write 'brx.idx'");
      break;
    case kLop3:
      if (m.bool_op == BoolOp::kXor) error(fmt::format("'{}' combines with .or or .and", name()));
      break;
    case kAtom:
    case kRed:
      check_atom(i);
      break;
    case kShfl:
    case kVote:
    case kMatch:
    case kRedux:
      check_warp_ops(i);
      break;
    case kBar:
    case kBarrier:
      check_bar(i);
      break;
    default:
      check_rounding(i);
  }
  if (i.opcode == kMad || i.opcode == kMul) check_rounding(i);
  check_memory_modifiers(i);
  check_half(i);
  check_arithmetic_modifiers(i);
  if (m.sat && m.cc) error(fmt::format("'{}': .sat and .cc exclude each other", name()));
  if (m.sat && integer && m.type != Type::kS32 && i.opcode != kCvt && i.opcode != kCvtPack) {
    error(fmt::format("'{}': .sat on integers needs type .s32", name()));
  }
  const Type flushed = i.opcode == kSet || i.opcode == kSlct ? m.type2 : m.type;
  if (m.ftz && (is_integer(flushed) || is_untyped(flushed) || flushed == Type::kF64) && i.opcode != kCvt &&
      i.opcode != kRcp && i.opcode != kRsqrt) {
    error(fmt::format("'{}': .ftz is for single and half precision", name()));
  }
}

/// .sat, .cc, .relu, .approx and .full against the type.
void FunctionVerifier::check_arithmetic_modifiers(const Instruction& i) {
  const Modifiers& m = i.mods;
  const bool integer = is_integer(m.type);
  if (m.cc && (!integer || type_bytes(m.type) < 4))
    error(fmt::format("'{}': .cc is for integers of 32 and 64 bits", name()));
  if (m.sat && m.type == Type::kF64 && i.opcode != kCvt)
    error(fmt::format("'{}': .sat is not for .f64", name()));
  if (m.sat && integer && m.part == MulPart::kLo) error(fmt::format("'{}': .sat goes with .hi", name()));
  if (m.relu && i.opcode == kFma && !is_half(m.type))
    error(fmt::format("'{}': .relu is for half precision", name()));
  if (m.oob && (!is_half(m.type) || m.ftz))
    error(fmt::format("'{}': .oob is for half precision, without .ftz", name()));
  if ((m.approx || m.full) && integer) error(fmt::format("'{}': .approx and .full are for .f32", name()));
  const bool double_approx = m.approx && m.type == Type::kF64;
  if ((i.opcode == kRcp && double_approx && !m.ftz) || (i.opcode == kSqrt && double_approx))
    error(fmt::format("'{}': in .f64 there are rcp.approx.ftz and rsqrt.approx", name()));
}

/// Roundings and .approx, which PTX 1.4 made mandatory; before it the approximate form was the default.
void FunctionVerifier::check_rounding(const Instruction& i) {
  const Modifiers& m = i.mods;
  const bool explicit_era = ptx_version(module_) >= 104;
  const bool rounded = m.rounding != Rounding::kNone;
  switch (i.opcode) {
    case kFma:
      if (!rounded) error(fmt::format("'{}' needs a rounding: .rn, .rz, .rm or .rp", name()));
      break;
    case kMad:
      if (!rounded && (m.type == Type::kF64 ? explicit_era
                                            : m.type == Type::kF32 && module_.target_sm >= 20 &&
                                                  ptx_version(module_) >= 302)) {
        error(fmt::format("'{}' needs a rounding: .rn, .rz, .rm or .rp", name()),
              m.type == Type::kF32 ? "it may be left out for targets below sm_20, and up to PTX 3.1" : "");
      }
      break;
    case kDiv:
      if (!explicit_era || is_integer(m.type)) break;
      if (m.type == Type::kF32 && !rounded && !m.approx && !m.full)
        error(fmt::format("'{}' needs .rn, .approx or .full", name()));
      if (m.type == Type::kF64 && !rounded)
        error(fmt::format("'{}' needs a rounding: .rn, .rz, .rm or .rp", name()));
      break;
    case kRcp:
    case kSqrt:
      if (explicit_era && !rounded && !m.approx)
        error(fmt::format("'{}' needs a rounding such as .rn, or .approx", name()));
      break;
    case kRsqrt:
    case kSin:
    case kCos:
    case kLg2:
    case kEx2:
    case kTanh:
      if (explicit_era && !m.approx) error(fmt::format("'{}' needs .approx", name()));
      break;
    default:
      break;
  }
  if (rounded && is_integer(m.type))
    error(fmt::format("'{}': a rounding is for floating-point types", name()));
  if (rounded + m.approx + m.full > 1)
    error(fmt::format("'{}': a rounding, .approx and .full exclude each other", name()));
}

void FunctionVerifier::check_cvt(const Instruction& i) {
  const Modifiers& m = i.mods;
  const bool to_float = is_float(m.type), from_float = is_float(m.type2);
  const bool integral = m.rounding >= Rounding::kRni;
  const bool rounded = m.rounding != Rounding::kNone;
  if (i.operands.size() > 2 && !is_packed16(m.type)) {
    error(fmt::format("'{}' takes 2 operands, found {}", name(), i.operands.size()));
  }
  const bool single = m.type == Type::kF32 || m.type2 == Type::kF32;
  if (m.sat && is_integer(m.type) && is_integer(m.type2) && cvt_keeps_values(m))
    error(fmt::format("'{}': every .{} value is a .{} value, so there is nothing for .sat to do", name(),
                      type_name(m.type2), type_name(m.type)),
          "leave .sat out");
  if (ptx_version(module_) < 104) return;
  if (m.ftz && !single) error(fmt::format("'{}': .ftz goes with .f32", name()));
  if (m.rounding == Rounding::kRna) error(fmt::format("'{}': .rna is for .tf32", name()));
  if (to_float && from_float && rounded && !integral && cvt_is_exact(m))
    error(fmt::format("'{}' is exact and takes no rounding", name()),
          "but .rni and the like between equal types");
  if (to_float && from_float && integral && m.type != m.type2)
    error(fmt::format("'{}': an integer rounding goes with equal types", name()));
  if (!to_float && !from_float && rounded)
    error(fmt::format("'{}': a rounding needs a floating-point type", name()));
  if (!to_float && from_float && !integral) {
    error(fmt::format("'{}' needs an integer rounding: .rni, .rzi, .rmi or .rpi", name()));
  }
  if (to_float && !from_float && (!rounded || integral)) {
    error(fmt::format("'{}' needs a rounding: .rn, .rz, .rm or .rp", name()));
  }
  if (to_float && from_float && type_bytes(m.type) < type_bytes(m.type2) && !rounded) {
    error(fmt::format("'{}' loses precision and needs a rounding: .rn, .rz, .rm or .rp", name()));
  }
}

void FunctionVerifier::check_compare(const Instruction& i) {
  const Modifiers& m = i.mods;
  const Type type = i.opcode == kSet ? m.type2 : m.type;
  if (m.compare == CompareOp::kNone) {
    error(fmt::format("'{}' needs a comparison such as .eq or .lt", name()));
    return;
  }
  const bool equality = m.compare == CompareOp::kEq || m.compare == CompareOp::kNe;
  const bool unsigned_only = m.compare >= CompareOp::kLo && m.compare <= CompareOp::kHs;
  const bool float_only = m.compare >= CompareOp::kEqu;
  if (is_untyped(type) && !equality) {
    error(fmt::format("'{}': .{} can only be compared with .eq and .ne", name(), type_name(type)));
  } else if (unsigned_only && !is_unsigned(type)) {
    error(fmt::format("'{}': .lo, .ls, .hi and .hs are for unsigned integers", name()));
  } else if (float_only && !is_float(type)) {
    error(fmt::format("'{}': this comparison is for floating-point types", name()));
  }
  const bool has_predicate = i.operands.size() == 4;
  if (has_predicate && m.bool_op == BoolOp::kNone)
    error(fmt::format("'{}' with 4 operands needs .and, .or or .xor", name()));
  if (!has_predicate && m.bool_op != BoolOp::kNone)
    error(fmt::format("'{}' needs a predicate as its 4th operand", name()));
}

void FunctionVerifier::check_atom(const Instruction& i) {
  const Modifiers& m = i.mods;
  if (m.atom == AtomOp::kNone) {
    error(fmt::format("'{}' needs an operation such as .add or .min", name()));
    return;
  }
  const bool swaps = m.atom == AtomOp::kCas || m.atom == AtomOp::kExch;
  if (m.vector > 1 && m.type != Type::kF32 && !is_half(m.type))
    error(fmt::format("'{}': vectors are for .f32 and half precision", name()));
  if (i.opcode == kRed && swaps) error(fmt::format("'{}': .exch and .cas are for 'atom'", name()));
  const size_t wanted = (i.opcode == kAtom ? 3u : 2u) + (m.atom == AtomOp::kCas ? 1u : 0u);
  if (i.operands.size() < wanted)
    error(fmt::format("'{}' takes {} operands, found {}", name(), wanted, i.operands.size()));
  if (is_half(m.type) != m.noftz)
    error(fmt::format("'{}': .noftz goes with half precision, which needs it", name()));
  if (m.vector == 1 && is_half(m.type) && (m.atom == AtomOp::kMin || m.atom == AtomOp::kMax))
    error(fmt::format("'{}': half precision has .min and .max on vectors only", name()));
  const bool bits = m.atom == AtomOp::kAnd || m.atom == AtomOp::kOr || m.atom == AtomOp::kXor || swaps;
  if (m.type == Type::kB128 && !swaps)
    error(fmt::format("'{}' does not take type .b128", name()), ".b128 has .exch and .cas only");
  const bool counts = m.atom == AtomOp::kInc || m.atom == AtomOp::kDec;
  const int smallest = m.atom == AtomOp::kCas ? 2 : 4;
  const bool extreme = m.atom == AtomOp::kMin || m.atom == AtomOp::kMax;
  if (extreme && (m.type == Type::kF32 || m.type == Type::kF64))
    error(fmt::format("'{}' does not take type .{}", name(), type_name(m.type)));
  if (bits && (!is_untyped(m.type) || type_bytes(m.type) < smallest)) {
    error(fmt::format("'{}' does not take type .{}", name(), type_name(m.type)), "use .b32 or .b64");
  } else if (m.atom == AtomOp::kAdd && m.type == Type::kS64) {
    error(fmt::format("'{}' does not take type .s64", name()), "use .u64");
  } else if (counts && m.type != Type::kU32) {
    error(fmt::format("'{}' does not take type .{}", name(), type_name(m.type)), "use .u32");
  } else if (!bits && (is_untyped(m.type) || type_bytes(m.type) < 2 ||
                       (is_integer(m.type) && type_bytes(m.type) < 4))) {
    error(fmt::format("'{}' does not take type .{}", name(), type_name(m.type)));
  }
  if (m.space != Space::kGlobal && m.space != Space::kShared && m.space != Space::kGeneric) {
    error(fmt::format("'{}': atomics work on .global and .shared only", name()));
  }
}

/// 256 bits at once: global memory only; eight elements have 32 bits each, or 8 (which ptxas accepts).
void FunctionVerifier::check_wide_access(const Instruction& i) {
  const Modifiers& m = i.mods;
  const bool is_load_or_store = i.opcode == kLd || i.opcode == kSt;
  if (is_load_or_store && m.vector == 8 && type_bytes(m.type) != 4 && type_bytes(m.type) != 1)
    error(fmt::format("'{}': .v8 is for types of 8 and 32 bits", name()));
  if (is_load_or_store && type_bytes(m.type) * m.vector == 32 && m.space != Space::kGlobal &&
      m.space != Space::kGeneric)
    error(fmt::format("'{}': accesses of 32 bytes are for .global memory", name()));
}

void FunctionVerifier::check_setmaxnreg(const Instruction& i) {
  constexpr uint64_t kLeast = 24, kMost = 256, kStep = 8;
  constexpr uint64_t kAll = kIncDec | kSync | kAligned;
  if ((i.mods.seen & kAll) != kAll) error(fmt::format("'{}' needs .inc or .dec, .sync and .aligned", name()));
  const Operand& count = i.operands[0];
  if (count.kind != Operand::Kind::kImmediate) return;
  if (count.imm < kLeast || count.imm > kMost || count.imm % kStep != 0)
    error(count.loc,
          fmt::format("a number of registers is a multiple of {} from {} to {}", kStep, kLeast, kMost));
}

/// Integers are added and compared, bits are combined, and .f32 is compared.
void FunctionVerifier::check_redux(const Instruction& i) {
  const Modifiers& m = i.mods;
  const bool extreme = m.atom == AtomOp::kMin || m.atom == AtomOp::kMax;
  const bool logic = m.atom == AtomOp::kAnd || m.atom == AtomOp::kOr || m.atom == AtomOp::kXor;
  if (m.atom == AtomOp::kNone) return error(fmt::format("'{}' needs an operation such as .add", name()));
  if (!logic && !extreme && m.atom != AtomOp::kAdd)
    return error(fmt::format("'{}': the operations are .add, .min, .max, .and, .or and .xor", name()));
  if (logic != (m.type == Type::kB32) || (m.type == Type::kF32 && !extreme))
    error(fmt::format("'{}' does not take type .{}", name(), type_name(m.type)),
          "bits are .b32, sums .u32 and .s32; .f32 has .min and .max");
}

void FunctionVerifier::check_warp_ops(const Instruction& i) {
  const Modifiers& m = i.mods;
  const size_t n = i.operands.size();
  if (i.opcode == kRedux) {
    return check_redux(i);
  }
  if (m.lane_op == LaneOp::kNone) {
    error(fmt::format("'{}' needs {}", name(),
                      i.opcode == kShfl   ? ".up, .down, .bfly or .idx"
                      : i.opcode == kVote ? ".all, .any, .uni or .ballot"
                                          : ".any or .all"));
    return;
  }
  if (i.opcode == kMatch) {
    if (!m.sync) error(fmt::format("'{}' needs .sync", name()));
    return;
  }
  const size_t plain = i.opcode == kShfl ? 4 : 2;
  if (n != plain + (m.sync ? 1 : 0)) {
    error(fmt::format("'{}' takes {} operands, found {}", name(), plain + (m.sync ? 1 : 0), n),
          m.sync ? "the last one is the mask of member lanes"
                 : "only the .sync form has a mask of member lanes");
  }
  if (!m.sync && module_.target_sm >= 70 && ptx_version(module_) >= 604) {
    error(fmt::format("'{}' without .sync is not available for sm_70 and higher", name()));
  }
  if (i.opcode == kVote && (m.lane_op == LaneOp::kBallot) != (m.type == Type::kB32)) {
    error(fmt::format("'{}': .ballot goes with .b32, the other forms with .pred", name()));
  }
}

void FunctionVerifier::check_bar(const Instruction& i) {
  const Modifiers& m = i.mods;
  const size_t n = i.operands.size();
  if (!m.sync && !m.arrive && !m.red) {
    error(fmt::format("'{}' needs .sync, .arrive or .red", name()));
  } else if (m.sync && (m.arrive || m.red)) {
    error(fmt::format("'{}': .sync, .arrive and .red exclude each other", name()));
  } else if (m.red) {
    if (m.atom == AtomOp::kNone) error(fmt::format("'{}' needs .popc, .and or .or", name()));
    if (m.popc != (m.type == Type::kU32))
      error(fmt::format("'{}': .popc goes with .u32, .and and .or with .pred", name()));
    if (n < 3) error(fmt::format("'{}' takes 3 to 4 operands, found {}", name(), n));
  } else if (m.atom != AtomOp::kNone) {
    error(fmt::format("'{}': .popc, .and and .or are for .red", name()));
  } else if (m.warp) {
    if (n != 1) error(fmt::format("'{}' takes 1 operand, found {}", name(), n), "the mask of member lanes");
  } else if (n < (m.arrive ? 2u : 1u) || n > 2) {
    error(fmt::format("'{}' takes {} operands, found {}", name(), m.arrive ? "2" : "1 to 2", n));
  }
}

}  // namespace gpusim::isa
