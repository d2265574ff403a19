// Which table form a PTX arithmetic statement maps to: modifiers normalised by target (sm_1x flushes
// denormals and has approximate division) and reduced to what selects a function. PTX ISA 9.7.1 - 9.7.9.
#include "isa/lowering/select.h"

namespace gpusim::isa::lir {

Type unsigned_of(Type t) {
  switch (type_bytes(t)) {
    case 1:
      return Type::kU8;
    case 2:
      return Type::kU16;
    case 4:
      return Type::kU32;
    default:
      return Type::kU64;
  }
}
Type untyped(Type t) {
  switch (type_bytes(t)) {
    case 1:
      return t == Type::kPred ? t : Type::kB8;
    case 2:
      return Type::kB16;
    case 4:
      return Type::kB32;
    case 16:
      return Type::kB128;
    default:
      return Type::kB64;
  }
}

namespace {

Type wide_of(Type t) {
  switch (t) {
    case Type::kU16:
      return Type::kU32;
    case Type::kS16:
      return Type::kS32;
    case Type::kU32:
      return Type::kU64;
    default:
      return Type::kS64;
  }
}
/// Integer arithmetic on an untyped operand counts as unsigned.
Type arithmetic_type(Type t) { return is_untyped(t) ? unsigned_of(t) : t; }

uint8_t runtime_modifiers(const Modifiers& m, bool ftz) {
  uint8_t mode = kModRn;
  switch (m.rounding) {
    case Rounding::kRz:
    case Rounding::kRzi:
      mode = kModRz;
      break;
    case Rounding::kRm:
    case Rounding::kRmi:
      mode = kModRm;
      break;
    case Rounding::kRp:
    case Rounding::kRpi:
      mode = kModRp;
      break;
    default:
      break;
  }
  return static_cast<uint8_t>(mode | (ftz ? kModFtz : 0) | (m.sat ? kModSat : 0) | (m.relu ? kModRelu : 0) |
                              (m.nan ? kModNan : 0) | (m.xorsign ? kModXorsign : 0) |
                              (m.satfinite ? kModSatfinite : 0));
}
bool directed(Rounding r) { return r == Rounding::kRz || r == Rounding::kRm || r == Rounding::kRp; }

AluForm simple(Opcode op, Type key_type, uint32_t variant, Type dst, std::initializer_list<Type> src) {
  AluForm f;
  f.key = form_key(op, key_type, Type::kNone, variant);
  f.dst = dst;
  size_t i = 0;
  for (const Type t : src) f.src[i++] = t;
  return f;
}

/// add sub mul fma mad div rcp sqrt min max abs neg and the approximate functions on f32 and f64.
std::optional<AluForm> float_form(const Modifiers& m, Opcode op, bool legacy) {
  const Type t = m.type;
  const bool f32 = t == Type::kF32, ftz = f32 && (m.ftz || legacy);
  if (!f32 && t != Type::kF64) return std::nullopt;
  uint32_t variant = (ftz ? kVarFtz : 0) | (m.sat ? kVarSat : 0);
  int sources = 2;
  switch (op) {
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
      break;
    case Opcode::kMin:
    case Opcode::kMax:
      variant |= (m.nan ? kVarNan : 0) | (m.xorsign ? kVarXorsign : m.abs ? kVarAbs : 0);
      break;
    case Opcode::kDiv:
      if (m.approx)
        variant |= kVarApprox;
      else if (m.full || (f32 && legacy && m.rounding == Rounding::kNone))
        variant |= kVarFull;
      break;
    case Opcode::kMad:
    case Opcode::kFma:
      sources = 3;
      if (op == Opcode::kMad && f32 && legacy && m.rounding == Rounding::kNone) {
        return simple(op, t, kVarLegacy | (m.sat ? kVarSat : 0), t, {t, t, t});
      }
      op = Opcode::kFma;
      break;
    case Opcode::kRcp:
    case Opcode::kSqrt:
      sources = 1;
      if (m.approx || (f32 && legacy && m.rounding == Rounding::kNone)) variant |= kVarApprox;
      break;
    case Opcode::kRsqrt:
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kLg2:
    case Opcode::kEx2:
    case Opcode::kTanh:
      sources = 1;
      variant |= kVarApprox;
      break;
    case Opcode::kAbs:
    case Opcode::kNeg:
      sources = 1;
      break;
    case Opcode::kCopysign:
      variant = 0;
      break;
    default:
      return std::nullopt;
  }
  AluForm f = simple(op, t, variant, t, {t, sources > 1 ? t : Type::kNone, sources > 2 ? t : Type::kNone});
  if (directed(m.rounding) && (variant & (kVarApprox | kVarFull)) == 0) {
    f.key = form_key(op, t, Type::kNone, kVarDirected);
    f.modifiers = runtime_modifiers(m, ftz);
  }
  return f;
}

/// The form of an operation on half precision or pairs of f32: one function per type reads the modifiers at
/// run time.
std::optional<AluForm> runtime_form(const Modifiers& m, Opcode op) {
  const Type t = m.type;
  AluForm f;
  switch (op) {
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kMin:
    case Opcode::kMax:
      f = simple(op, t, 0, t, {t, t});
      break;
    case Opcode::kFma:
      f = simple(op, t, m.oob ? kVarOob : 0, t, {t, t, t});
      break;
    case Opcode::kNeg:
    case Opcode::kAbs:
    case Opcode::kEx2:
    case Opcode::kTanh:
      f = simple(op, t, 0, t, {t});
      break;
    default:
      return std::nullopt;
  }
  f.modifiers = runtime_modifiers(m, m.ftz);
  return f;
}

/// Arithmetic on integers whose operands all have the operation's type, and the multiplications.
std::optional<AluForm> integer_form(const Modifiers& m, Opcode op) {
  const Type t = arithmetic_type(m.type);
  const uint32_t sat = m.sat ? kVarSat : 0;
  const uint32_t part = m.part == MulPart::kHi ? kVarHi : m.part == MulPart::kWide ? kVarWide : 0;
  const Type wide = part == kVarWide ? wide_of(t) : t;
  if (!is_integer(t) && !is_packed16(t)) return std::nullopt;
  switch (op) {
    case Opcode::kAdd:
    case Opcode::kSub:
      return simple(op, t, sat, t, {t, t});
    case Opcode::kMin:
    case Opcode::kMax:
      return simple(op, t, m.relu ? kVarRelu : 0, t, {t, t});
    case Opcode::kDiv:
    case Opcode::kRem:
      return simple(op, t, 0, t, {t, t});
    case Opcode::kMul:
    case Opcode::kMul24:
      return simple(op, t, part, wide, {t, t});
    case Opcode::kMad:
    case Opcode::kMad24:
      return simple(op, t, part | sat, wide, {t, t, wide});
    case Opcode::kSad:
      return simple(op, t, 0, t, {t, t, t});
    case Opcode::kAbs:
    case Opcode::kNeg:
      return simple(op, t, 0, t, {t});
    default:
      return std::nullopt;
  }
}

std::optional<AluForm> bit_form(const Modifiers& m, Opcode op) {
  const Type t = m.type, b = untyped(t), u32 = Type::kU32;
  const Type shifted = is_signed(t) ? t : b;
  switch (op) {
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return simple(op, b, 0, b, {b, b});
    case Opcode::kNot:
    case Opcode::kCnot:
      return simple(op, b, 0, b, {b});
    case Opcode::kShl:
      return simple(op, b, 0, b, {b, u32});
    case Opcode::kShr:
      return simple(op, shifted, 0, t, {t, u32});
    case Opcode::kPopc:
    case Opcode::kClz:
      return simple(op, b, 0, u32, {b});
    case Opcode::kBrev:
      return simple(op, b, 0, b, {b});
    case Opcode::kBfind:
      return simple(op, arithmetic_type(t), m.shiftamt ? kVarFull : 0, u32, {t});
    case Opcode::kBfe:
      return simple(op, arithmetic_type(t), 0, t, {t, u32, u32});
    case Opcode::kBfi:
      return simple(op, b, 0, b, {b, b, u32, u32});
    case Opcode::kFns:
      return simple(op, Type::kB32, 0, u32, {u32, u32, Type::kS32});
    case Opcode::kPrmt: {
      AluForm f = simple(op, Type::kB32, 0, b, {b, b, u32});
      f.imm = static_cast<uint64_t>(m.prmt);
      return f;
    }
    case Opcode::kShf:
      return simple(op, Type::kB32, (m.right ? kVarHi : 0) | (m.wrap ? kVarFull : 0), b, {b, b, u32});
    case Opcode::kBmsk:
    case Opcode::kSzext: {
      AluForm f = simple(op, op == Opcode::kBmsk ? Type::kB32 : t, 0, t, {t, u32});
      f.imm = m.wrap ? 1 : 0;
      return f;
    }
    case Opcode::kSlct: {
      const Type c = m.type2 == Type::kF32 ? Type::kF32 : Type::kS32;
      AluForm f = simple(op, b, 0, b, {b, b, c});
      f.key = form_key(op, b, c, c == Type::kF32 && m.ftz ? kVarFtz : 0);
      return f;
    }
    case Opcode::kDp4a:
    case Opcode::kDp2a: {
      const Type second = m.type2 == Type::kNone ? t : m.type2;
      const Type d = is_signed(t) || is_signed(second) ? Type::kS32 : Type::kU32;
      AluForm f = simple(op, t, 0, d, {t, second, d});
      f.key = form_key(op, t, second);
      f.imm = m.part == MulPart::kHi;
      return f;
    }
    default:
      return std::nullopt;
  }
}

std::optional<AluForm> convert_form(const Modifiers& m, bool legacy) {
  if (m.type == Type::kTF32) {
    AluForm f = simple(Opcode::kCvt, Type::kTF32, 0, Type::kB32, {Type::kF32});
    f.key = form_key(Opcode::kCvt, Type::kTF32, Type::kF32);
    f.modifiers = runtime_modifiers(m, false);
    if (m.rounding == Rounding::kRna) f.modifiers |= kModNan;
    return f;
  }
  if (is_float8(m.type) || is_float8(m.type2)) {
    AluForm f = is_float8(m.type2) ? simple(Opcode::kCvt, m.type, 0, Type::kB32, {Type::kB16})
                : m.type2 == Type::kF16x2
                    ? simple(Opcode::kCvt, m.type, 0, Type::kB16, {Type::kB32})
                    : simple(Opcode::kCvt, m.type, 0, Type::kB16, {Type::kF32, Type::kF32});
    f.key = form_key(Opcode::kCvt, m.type, m.type2);
    f.modifiers = runtime_modifiers(m, false);
    return f;
  }
  const Type d = arithmetic_type(m.type), s = m.type2 == Type::kNone ? d : arithmetic_type(m.type2);
  const bool ftz = (m.ftz || legacy) && (d == Type::kF32 || s == Type::kF32);
  if (((m.relu || m.satfinite) && !is_half(d)) || m.rounding == Rounding::kRna) return std::nullopt;
  uint32_t variant = 0;
  const bool to_float = is_float(d), from_float = is_float(s);
  const bool integral = m.rounding == Rounding::kRni || m.rounding == Rounding::kRzi ||
                        m.rounding == Rounding::kRmi || m.rounding == Rounding::kRpi;
  if (is_half(d) || is_half(s)) {
    variant = d == s && integral ? kVarFull : kVarDirected;
  } else if (!to_float && !from_float) {
    variant = m.sat ? kVarSat : 0;
  } else if (to_float && !from_float) {
    variant = directed(m.rounding) ? kVarDirected : m.sat ? kVarSat : 0;
  } else if (!to_float) {
    variant = m.rounding == Rounding::kNone || m.rounding == Rounding::kRzi ? 0 : kVarDirected;
  } else if (d == s) {
    variant = integral ? kVarFull : kVarDirected;
  } else if (d == Type::kF64) {
    variant = ftz ? kVarFtz : 0;
  } else {
    variant = directed(m.rounding) || m.sat ? kVarDirected : ftz ? kVarFtz : 0;
  }
  AluForm f = simple(Opcode::kCvt, d, variant, d, {s, is_packed16(d) ? s : Type::kNone});
  f.key = form_key(Opcode::kCvt, d, s, variant);
  f.modifiers = runtime_modifiers(m, ftz);
  return f;
}

}  // namespace

std::optional<AluForm> alu_form(const Modifiers& mods, Opcode opcode, bool legacy) {
  if (opcode == Opcode::kCvt) return convert_form(mods, legacy);
  if (opcode == Opcode::kCvtPack) {
    const Type rest = type_bytes(mods.type) == 1 ? Type::kU32 : Type::kNone;
    return simple(opcode, mods.type, mods.pack_bits, Type::kU32, {Type::kS32, Type::kS32, rest});
  }
  if (is_half(mods.type) || mods.type == Type::kF32x2) return runtime_form(mods, opcode);
  if (mods.type == Type::kF32 || mods.type == Type::kF64) {
    if (auto f = float_form(mods, opcode, legacy)) return f;
  }
  if (auto f = bit_form(mods, opcode)) return f;
  return integer_form(mods, opcode);
}

}  // namespace gpusim::isa::lir
