// Operands of statements: registers, literals, special registers, symbols and addresses as values of
// micro-ops.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "isa/lowering/select.h"

namespace gpusim::isa::lir {

Type Selector::mapped(Type t) const { return f64_as_f32_ && t == Type::kF64 ? Type::kF32 : t; }

VarClass Selector::class_of(Type t) {
  if (t == Type::kPred) return VarClass::kPredicate;
  return type_bytes(t) == 8 ? VarClass::kRow64 : VarClass::kRow32;
}

Var Selector::register_var(const Frame& frame, const Operand& operand) const {
  if (operand.kind != Operand::Kind::kRegister || operand.reg == kNoRegister) return kNoVar;
  if (operand.reg >= frame.registers.size()) return kNoVar;
  return frame.registers[operand.reg] + static_cast<Var>(operand.component > 0 ? operand.component : 0);
}

/// Raw bits of an immediate as a value of `type`.
Value Selector::literal(const Operand& operand, Type type) const {
  Value v;
  v.wide = type_bytes(type) == 8;
  v.bits = operand.imm;
  const bool as_double = operand.imm_kind == Operand::ImmKind::kF64;
  const bool as_single = operand.imm_kind == Operand::ImmKind::kF32;
  if (as_double && type_bytes(type) == 4) {
    v.bits = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(operand.imm)));
  } else if (as_single && type == Type::kF64) {
    v.bits = std::bit_cast<uint64_t>(double{std::bit_cast<float>(static_cast<uint32_t>(operand.imm))});
  } else if (!as_double && !as_single && type == Type::kF32) {
    v.bits = std::bit_cast<uint32_t>(static_cast<float>(static_cast<int64_t>(operand.imm)));
  } else if (!as_double && !as_single && type == Type::kF64) {
    v.bits = std::bit_cast<uint64_t>(static_cast<double>(static_cast<int64_t>(operand.imm)));
  }
  if (!v.wide) v.bits &= 0xffffffffu;
  return v;
}

/// A value in lanes of the asked width: literals at once, variables through a conversion.
Value Selector::resized(Value v, bool wide) {
  if (v.is_literal()) {
    if (!wide) v.bits &= 0xffffffffu;
    v.wide = wide;
    return v;
  }
  if (v.wide == wide) return v;
  const Var t = program_.new_var(wide ? VarClass::kRow64 : VarClass::kRow32);
  const Type to = wide ? Type::kU64 : Type::kU32, from = wide ? Type::kU32 : Type::kU64;
  emit_form(form_key(Opcode::kCvt, to, from), {t}, {{v}});
  return Value{t, wide, 0};
}

Value Selector::special(const Operand& operand, bool wide, Var into) {
  const SpecialRegister r = operand.special;
  if (r == SpecialRegister::kWarpSz || r == SpecialRegister::kZero) {
    return Value{kNoVar, wide, r == SpecialRegister::kWarpSz ? uint64_t{kWarpSize} : 0};
  }
  if (r == SpecialRegister::kReservedSmem)
    return Value{kNoVar, wide, value_of(static_cast<ReservedSmem>(operand.imm))};
  const bool per_lane = r <= SpecialRegister::kTidZ || r == SpecialRegister::kLaneid ||
                        (r >= SpecialRegister::kLanemaskEq && r <= SpecialRegister::kLanemaskGt);
  const bool clock = r >= SpecialRegister::kClock && r <= SpecialRegister::kGlobaltimerHi;
  const Var t = into != kNoVar ? into : program_.new_var(wide ? VarClass::kRow64 : VarClass::kRow32);
  Op* op = emit_form(
      form_key(Opcode::kMov, wide ? Type::kU64 : Type::kU32, per_lane ? Type::kB32 : Type::kU32, kVarFull),
      {t}, {});
  if (op != nullptr) {
    op->imm = static_cast<uint64_t>(r);
    if (r == SpecialRegister::kEnvreg) op->imm |= operand.imm << kEnvregShift;
    if (clock) op->op_class = OpClass::kSpecial;
  }
  return Value{t, wide, 0};
}

Value Selector::value(Frame& frame, const Operand& operand, Type type) {
  const bool wide = type_bytes(type) == 8;
  switch (operand.kind) {
    case Operand::Kind::kRegister: {
      const Var v = register_var(frame, operand);
      if (v == kNoVar || program_.vars[v] == VarClass::kPredicate) break;
      return resized(Value{v, program_.vars[v] == VarClass::kRow64, 0}, wide);
    }
    case Operand::Kind::kImmediate:
      return literal(operand, type);
    case Operand::Kind::kSpecial:
      return special(operand, wide);
    case Operand::Kind::kSymbol: {
      const auto a = symbol_address(frame, operand.symbol, operand.loc);
      if (!a) return Value{kNoVar, wide, 0};
      Value offset = resized(Value{kNoVar, true, static_cast<uint64_t>(a->offset + operand.offset)}, wide);
      offset.object = a->object;
      if (!a->has_base) return offset;
      const Var sum = program_.new_var(wide ? VarClass::kRow64 : VarClass::kRow32);
      const Value parts[2] = {resized(a->base, wide), offset};
      emit_form(form_key(Opcode::kAdd, wide ? Type::kU64 : Type::kU32), {sum}, parts);
      return Value{sum, wide, 0};
    }
    default:
      break;
  }
  error(operand.loc, "this operand must be a register, a constant or the address of a variable");
  return Value{kNoVar, wide, 0};
}

/// A predicate source as a variable; constants go through a mov.pred.
Var Selector::predicate(Frame& frame, const Operand& operand) {
  if (operand.kind == Operand::Kind::kRegister) {
    const Var v = register_var(frame, operand);
    if (v != kNoVar && program_.vars[v] == VarClass::kPredicate) return v;
    error(operand.loc, "this operand must be a predicate register");
  }
  const Var t = program_.new_var(VarClass::kPredicate);
  if (operand.kind == Operand::Kind::kSpecial) {  // %is_explicit_cluster
    const Value compared[2] = {special(operand, false), Value{kNoVar, false, 0}};
    Op* test = emit_form(form_key(Opcode::kSetp, Type::kU32, Type::kNone, compare_variant(CompareOp::kNe)),
                         {}, compared);
    if (test != nullptr) test->pred_dst[0] = t;
    return t;
  }
  Op* op = emit_form(form_key(Opcode::kMov, Type::kPred), {}, {});
  if (op != nullptr) {
    op->pred_dst[0] = t;
    op->imm = operand.imm != 0 ? 1 : 0;
  }
  return t;
}

const Variable* Selector::find_variable(const Frame& frame, std::string_view name) const {
  if (const auto it = frame.names.find(name); it != frame.names.end()) return it->second;
  return module_.find_variable(name);
}

/// The block that is being written names the variable.
void Selector::note_shared(const Variable& variable) {
  if (named_in_ != current_) named_.clear();
  named_in_ = current_;
  if (named_.size() < Block::kMostNamed && std::ranges::find(named_, &variable) == named_.end())
    named_.push_back(&variable);
  uint8_t& named = program_.blocks[current_].shared_named;
  named = std::max(named, static_cast<uint8_t>(named_.size()));
}

/// The address of a variable in its own space; offset holds it.
std::optional<Selector::Address> Selector::symbol_address(Frame& frame, const std::string& name,
                                                          const SourceLoc& loc) {
  Address a;
  const Variable* v = find_variable(frame, name);
  if (v == nullptr) {
    const Function* f = plan_.find_function(name);
    if (f == nullptr) {
      error(loc, fmt::format("undefined variable '{}'", name));
      return std::nullopt;
    }
    a.offset = static_cast<int64_t>(function_address(module_.number_of(*f)));
    return a;
  }
  a.space = v->space;
  switch (v->space) {
    case Space::kShared: {
      const auto it = plan_.shared.find(v);
      a.offset = it != plan_.shared.end() ? it->second : plan_.dynamic_shared_offset;
      a.object = object_of(frame, *v);
      note_shared(*v);
      return a;
    }
    case Space::kLocal: {
      if (const auto place = plan_.local.find(v); place != plan_.local.end()) {
        a.offset = place->second;
        a.object = object_of(frame, *v);
        return a;
      }
      const auto it = frame.locals.find(v);
      if (it == frame.locals.end()) break;
      a = frame_address(it->second.offset);
      a.object = object_of(frame, *v);
      return a;
    }
    case Space::kGlobal:
    case Space::kConst:
    case Space::kTex:
      if (!options_.address_of) break;
      a.offset = static_cast<int64_t>(options_.address_of(*v));
      if (v->space == Space::kConst) program_.constants[static_cast<uint64_t>(a.offset)] = v->bytes;
      if (v->space == Space::kGlobal) program_.globals[static_cast<uint64_t>(a.offset)] = v->bytes;
      return a;
    case Space::kParam: {
      const auto it = frame.slots.find(name);
      if (it == frame.slots.end()) break;
      if (it->second.var == kNoVar && it->second.type == Type::kNone) {
        a.offset = it->second.local_offset;  // kernel parameter: offset in the parameter block
        return a;
      }
      if (it->second.var == kNoVar) {  // a structure passed by value: in local memory
        return frame_address(it->second.local_offset);
      }
      break;
    }
    default:
      break;
  }
  error(loc, fmt::format("the address of '{}' ({} space) cannot be used here", name, space_name(v->space)));
  return std::nullopt;
}

std::optional<Selector::Address> Selector::address(Frame& frame, const Operand& operand, Space space) {
  Address a;
  a.space = space;
  a.offset = operand.offset;
  if (operand.kind != Operand::Kind::kAddress) {
    error(operand.loc, "expected an address in brackets");
    return std::nullopt;
  }
  if (!operand.symbol.empty()) {
    const auto symbol = symbol_address(frame, operand.symbol, operand.loc);
    if (!symbol) return std::nullopt;
    a.offset += symbol->offset;
    a.object = symbol->object;
    a.has_base = symbol->has_base;
    a.base = symbol->base;
    const bool own = space == Space::kGeneric || space == Space::kNone || space == Space::kParam;
    if (own && symbol->space != Space::kNone) a.space = symbol->space;
    return a;
  }
  if (operand.reg != kNoRegister) {
    Operand reg;
    reg.kind = Operand::Kind::kRegister;
    reg.reg = operand.reg;
    const Var v = register_var(frame, reg);
    if (v == kNoVar || program_.vars[v] == VarClass::kPredicate) {
      error(operand.loc, "the base of an address must be a 32- or 64-bit register");
      return std::nullopt;
    }
    a.has_base = true;
    a.base = Value{v, program_.vars[v] == VarClass::kRow64, 0};
    if (space == Space::kParam && !frame.function->is_entry) a.space = Space::kLocal;  // see symbol_address()
  }
  return a;
}

/// The parts of a vector operand: {a, b}, a vector register, the halves of a 128-bit one, or the operand
/// itself.
std::vector<Operand> Selector::elements(const Frame& frame, const Operand& operand) const {
  if (operand.kind == Operand::Kind::kVector) return operand.elements;
  std::vector<Operand> parts;
  if (operand.kind == Operand::Kind::kRegister && operand.reg != kNoRegister && operand.component < 0) {
    const Register& r = frame.function->registers[operand.reg];
    const uint8_t n = type_bytes(r.type) == 16 ? 2 : r.vector;
    for (uint8_t i = 0; n > 1 && i < n; ++i) {
      parts.push_back(operand);
      parts.back().component = static_cast<int8_t>(i);
    }
  }
  if (parts.empty()) parts.push_back(operand);
  return parts;
}

Var Selector::destination(Frame& frame, const Operand& operand, Type type) {
  const VarClass wanted = class_of(type);
  if (operand.kind == Operand::Kind::kSink ||
      (operand.kind == Operand::Kind::kRegister && operand.reg == kNoRegister)) {
    return program_.new_var(wanted);
  }
  const Var v = register_var(frame, operand);
  if (v == kNoVar) {
    error(operand.loc, "the destination must be a register");
    return program_.new_var(wanted);
  }
  const VarClass have = program_.vars[v];
  if (have == wanted) return v;
  if (have == VarClass::kPredicate || wanted == VarClass::kPredicate) {
    error(operand.loc, "the destination register has the wrong type");
  }
  return program_.new_var(wanted);
}

void Selector::write_back(Frame& frame, const Operand& operand, Type type, Var temporary) {
  const Var v = register_var(frame, operand);
  if (v == kNoVar || v == temporary || program_.vars[v] == program_.vars[temporary]) return;
  if (program_.vars[v] == VarClass::kPredicate || program_.vars[temporary] == VarClass::kPredicate) return;
  const bool widen = program_.vars[v] == VarClass::kRow64;
  const Type from = widen ? (is_signed(type) ? Type::kS32 : Type::kU32) : Type::kU64;
  emit_form(form_key(Opcode::kCvt, widen ? Type::kU64 : Type::kU32, from), {v},
            {{Value{temporary, !widen, 0}}});
}

}  // namespace gpusim::isa::lir
