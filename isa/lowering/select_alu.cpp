// Selection of arithmetic, moves, comparisons and predicate logic.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "isa/lowering/select.h"
#include "isa/ptx/verifier/verifier.h"

namespace gpusim::isa::lir {

namespace {

/// What set writes where the comparison holds.
uint64_t true_value(Type t) {
  switch (t) {
    case Type::kF32:
      return 0x3f800000;
    case Type::kF16:
      return 0x3c00;
    case Type::kBF16:
      return 0x3f80;
    case Type::kF16x2:
      return 0x3c003c00;
    case Type::kBF16x2:
      return 0x3f803f80;
    case Type::kU16:
      return 0xffff;
    default:
      return 0xffffffff;
  }
}

}  // namespace

/// One destination register, plain sources: everything that alu_form() knows.
void Selector::alu(Frame& frame, const Instruction& inst) {
  if ((inst.opcode == Opcode::kMin || inst.opcode == Opcode::kMax) && inst.operands.size() == 4)
    return extreme_of_three(frame, inst);
  Modifiers mods = inst.mods;
  mods.type = mapped(mods.type);
  mods.type2 = mapped(mods.type2);
  const size_t halves = !mixes_precision(inst) ? 0 : inst.opcode == Opcode::kFma ? 2 : 1;
  const auto form = alu_form(mods, inst.opcode, legacy_);
  if (!form || inst.operands.empty()) return unsupported(inst, "this instruction");
  std::vector<Value> sources;
  for (size_t i = 0; i < form->src.size() && form->src[i] != Type::kNone; ++i) {
    if (i + 1 >= inst.operands.size())
      return error(inst.loc, fmt::format("'{}' has too few operands", inst.text));
    sources.push_back(i < halves ? widened_half(frame, inst.operands[i + 1], mods.type2)
                                 : value(frame, inst.operands[i + 1], form->src[i]));
  }
  const Var dst = destination(frame, inst.operands[0], form->dst);
  Op* op = emit_form(form->key, {dst}, sources);
  if (op == nullptr) return;
  op->imm = form->imm;
  op->modifiers = form->modifiers;
  op->contractible = is_float(mods.type) && mods.rounding == Rounding::kNone;
  write_back(frame, inst.operands[0], form->dst, dst);
}

/// A source of half precision of an f32 operation (add.f32.f16).
Value Selector::widened_half(Frame& frame, const Operand& operand, Type half) {
  const Value narrow = value(frame, operand, half);
  const Var wide = program_.new_var(VarClass::kRow32);
  emit_form(form_key(Opcode::kCvt, Type::kF32, half, kVarDirected), {wide}, {&narrow, 1});
  return Value{wide, false, 0};
}

/// min and max of three (f32): two operations of two.
void Selector::extreme_of_three(Frame& frame, const Instruction& inst) {
  const auto form = alu_form(inst.mods, inst.opcode, legacy_);
  if (!form || inst.mods.type != Type::kF32) return unsupported(inst, "this instruction");
  Value sources[3];
  for (size_t i = 0; i < 3; ++i) sources[i] = value(frame, inst.operands[i + 1], Type::kF32);
  const Var first = program_.new_var(VarClass::kRow32);
  emit_form(form->key, {first}, std::span(sources, 2));
  const Value rest[2] = {Value{first, false, 0}, sources[2]};
  const Var dst = destination(frame, inst.operands[0], Type::kF32);
  emit_form(form->key, {dst}, rest);
  write_back(frame, inst.operands[0], Type::kF32, dst);
}

/// The elements move at once: one that another would overwrite first is read before.
void Selector::move_elements(Frame& frame, const std::vector<Operand>& to, const std::vector<Operand>& from,
                             Type type) {
  const size_t n = std::min(to.size(), from.size());
  const auto overwritten = [&](size_t at) {
    const auto same = [&from = from[at]](const Operand& o) {
      return o.kind == Operand::Kind::kRegister && o.reg == from.reg && o.component == from.component;
    };
    return from[at].kind == Operand::Kind::kRegister &&
           std::any_of(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(at), same);
  };
  std::vector<std::optional<Value>> kept(n);
  for (size_t i = 0; i < n; ++i) {
    if (!overwritten(i)) continue;
    const Value v = value(frame, from[i], type);
    const Var copy = program_.new_var(class_of(type));
    emit_form(form_key(Opcode::kMov, untyped(type)), {copy}, {&v, 1});
    kept[i] = Value{copy, v.wide, 0};
  }
  for (size_t i = 0; i < n; ++i) {
    const Var dst = destination(frame, to[i], type);
    const bool direct = from[i].kind == Operand::Kind::kSpecial && type_bytes(type) >= 2;
    const Value v = kept[i]  ? *kept[i]
                    : direct ? special(from[i], type_bytes(type) == 8, dst)
                             : value(frame, from[i], type);
    if (v.var != dst || !direct) emit_form(form_key(Opcode::kMov, untyped(type)), {dst}, {&v, 1});
    write_back(frame, to[i], type, dst);
  }
}

/// mov: register, constant, address, special register, predicate; {a, b} packs and unpacks; vectors copy by
/// component.
void Selector::move(Frame& frame, const Instruction& inst) {
  if (inst.operands.size() < 2) return unsupported(inst, "this instruction");
  const Operand& to = inst.operands[0];
  const Operand& from = inst.operands[1];
  Type type = mapped(inst.mods.type);
  if (type == Type::kPred) return predicate_logic(frame, inst);
  if (type == Type::kB128) type = Type::kB64;  // both sides are two halves
  const std::vector<Operand> to_parts = elements(frame, to), from_parts = elements(frame, from);
  const bool pack = to_parts.size() == 1 && from_parts.size() > 1,
             unpack = to_parts.size() > 1 && from_parts.size() == 1;
  if (!pack && !unpack) return move_elements(frame, to_parts, from_parts, type);
  const size_t n = pack ? from_parts.size() : to_parts.size();
  const int part_bytes = type_bytes(type) / static_cast<int>(n);
  const Type part = part_bytes == 4 ? Type::kB32 : part_bytes == 2 ? Type::kB16 : Type::kB8;
  if (pack) {
    std::vector<Value> sources;
    sources.reserve(from_parts.size());
    for (const Operand& o : from_parts) sources.push_back(value(frame, o, part));
    if (n > 4) return unsupported(inst, "this vector size");
    const Var dst = destination(frame, to, type);
    emit_form(form_key(Opcode::kMov, untyped(type), part), {dst}, sources);
    return write_back(frame, to, type, dst);
  }
  const Value v = value(frame, from, type);
  if (n > 4) return unsupported(inst, "this vector size");
  std::vector<Var> dst;
  dst.reserve(to_parts.size());
  for (const Operand& o : to_parts) dst.push_back(destination(frame, o, part));
  Op* op = emit_form(form_key(Opcode::kMov, untyped(type), part, kVarHi), {}, {&v, 1});
  if (op == nullptr) return;
  op->imm = (uint64_t{1} << n) - 1;
  for (const Var d : dst) op->dst[op->num_dst++] = d;
  for (size_t i = 0; i < n; ++i) write_back(frame, to_parts[i], part, dst[i]);
}

/// setp p|q, a, b {, c}; set d, a, b {, c}.
void Selector::compare(Frame& frame, const Instruction& inst) {
  const Modifiers& m = inst.mods;
  const bool to_predicate = inst.opcode == Opcode::kSetp;
  if (inst.operands.size() < 3) return unsupported(inst, "this instruction");
  Type type = mapped(to_predicate ? m.type : m.type2);
  CompareOp op = m.compare;
  if (is_untyped(type)) type = unsigned_of(type);
  switch (op) {  // the unsigned spellings
    case CompareOp::kLo:
      op = CompareOp::kLt;
      type = unsigned_of(type);
      break;
    case CompareOp::kLs:
      op = CompareOp::kLe;
      type = unsigned_of(type);
      break;
    case CompareOp::kHi:
      op = CompareOp::kGt;
      type = unsigned_of(type);
      break;
    case CompareOp::kHs:
      op = CompareOp::kGe;
      type = unsigned_of(type);
      break;
    default:
      break;
  }
  const bool ftz = type == Type::kF32 && (m.ftz || legacy_);
  const Value sources[2] = {value(frame, inst.operands[1], type), value(frame, inst.operands[2], type)};
  Var source_predicate = kNoVar;
  if (m.bool_op != BoolOp::kNone && inst.operands.size() > 3)
    source_predicate = predicate(frame, inst.operands[3]);
  const Operand& d = inst.operands[0];
  Var dst = kNoVar;
  if (!to_predicate) dst = destination(frame, d, Type::kU32);
  Op* o = emit_form(form_key(inst.opcode, type, Type::kNone, compare_variant(op) | (ftz ? kVarFtz : 0)), {},
                    sources);
  if (o == nullptr) return;
  o->imm = source_predicate == kNoVar ? 0 : static_cast<uint64_t>(m.bool_op);
  if (is_half(type) && m.ftz) o->modifiers = kModFtz;
  o->pred_src[0] = source_predicate;
  if (source_predicate != kNoVar) o->pred_negated[0] = inst.operands[3].negated;
  if (!to_predicate) {
    o->imm |= true_value(mapped(m.type)) << 32;
    o->dst[o->num_dst++] = dst;
    return write_back(frame, d, Type::kU32, dst);
  }
  o->pred_dst[0] = register_var(frame, d);
  if (d.reg2 != kNoRegister) o->pred_dst[1] = frame.registers[d.reg2];
}

/// and, or, xor, not, mov on predicates; mov.pred may take a constant.
void Selector::predicate_logic(Frame& frame, const Instruction& inst) {
  const size_t sources = inst.operands.size() - 1;
  std::array<Var, 2> source{kNoVar, kNoVar};
  uint64_t constants = 0;
  for (size_t i = 0; i < sources && i < 2; ++i) {
    const Operand& o = inst.operands[i + 1];
    if (o.kind == Operand::Kind::kImmediate)
      constants |= uint64_t{(o.imm != 0) != o.negated} << i;
    else
      source[i] = predicate(frame, o);
  }
  Op* op = emit_form(form_key(inst.opcode, Type::kPred), {}, {});
  if (op == nullptr) return;
  op->imm = constants;
  op->pred_dst[0] = register_var(frame, inst.operands[0]);
  for (size_t i = 0; i < 2; ++i) {
    op->pred_src[i] = source[i];
    if (source[i] != kNoVar) op->pred_negated[i] = inst.operands[i + 1].negated;
  }
}

/// add.cc, addc, addc.cc and the sub and mad forms: the carry flag is a predicate variable of the function.
void Selector::carry_arithmetic(Frame& frame, const Instruction& inst) {
  const Modifiers& m = inst.mods;
  Opcode opcode = inst.opcode;
  const bool carry_in = opcode == Opcode::kAddc || opcode == Opcode::kSubc || opcode == Opcode::kMadc;
  if (opcode == Opcode::kAdd) opcode = Opcode::kAddc;
  if (opcode == Opcode::kSub) opcode = Opcode::kSubc;
  if (opcode == Opcode::kMad) opcode = Opcode::kMadc;
  const Type type = is_untyped(m.type) ? unsigned_of(m.type) : m.type;
  std::vector<Value> sources;
  for (size_t i = 1; i < inst.operands.size() && i < 4; ++i)
    sources.push_back(value(frame, inst.operands[i], type));
  const Var dst = destination(frame, inst.operands[0], type);
  const uint32_t variant = m.part == MulPart::kHi ? kVarHi : 0;
  Op* op = emit_form(form_key(opcode, type, Type::kNone, variant), {dst}, sources);
  if (op == nullptr) return;
  if (carry_in) op->pred_src[0] = frame.carry;
  if (m.cc) op->pred_dst[0] = frame.carry;
  write_back(frame, inst.operands[0], type, dst);
}

void Selector::select_predicate(Frame& frame, const Instruction& inst) {
  if (inst.operands.size() < 4) return unsupported(inst, "this instruction");
  const Type type = mapped(inst.mods.type);
  const Value sources[2] = {value(frame, inst.operands[1], type), value(frame, inst.operands[2], type)};
  const Var p = predicate(frame, inst.operands[3]);
  const Var dst = destination(frame, inst.operands[0], type);
  Op* op = emit_form(form_key(Opcode::kSelp, untyped(type)), {dst}, sources);
  if (op == nullptr) return;
  op->pred_src[0] = p;
  op->pred_negated[0] = inst.operands[3].negated;
  write_back(frame, inst.operands[0], type, dst);
}

/// cvta adds the window of the space (see isa/exec/executor.h), cvta.to takes it off; global and const
/// addresses are generic.
void Selector::convert_address(Frame& frame, const Instruction& inst) {
  if (inst.operands.size() < 2) return unsupported(inst, "this instruction");
  const Type type = inst.mods.type == Type::kU32 ? Type::kU32 : Type::kU64;
  Value v = value(frame, inst.operands[1], type);
  uint64_t window = 0;
  switch (inst.mods.space) {
    case Space::kShared:
      window = kSharedWindowBase;
      break;
    case Space::kLocal:
      window = kLocalWindowBase;
      break;
    case Space::kParam:
      window = kParamWindowBase;
      break;
    case Space::kGlobal:
    case Space::kConst:
      break;
    default:
      return unsupported(inst, "the generic address of this space");
  }
  const Var dst = destination(frame, inst.operands[0], type);
  if (window == 0) {
    emit_form(form_key(Opcode::kMov, untyped(type)), {dst}, {&v, 1});
  } else {
    const Value sources[2] = {v, Value{kNoVar, type == Type::kU64, window}};
    emit_form(form_key(inst.mods.to ? Opcode::kSub : Opcode::kAdd, type), {dst}, sources);
  }
  write_back(frame, inst.operands[0], type, dst);
}

/// testp and isspacep write a predicate.
void Selector::test_value(Frame& frame, const Instruction& inst) {
  if (inst.operands.size() < 2) return unsupported(inst, "this instruction");
  const bool space_test = inst.opcode == Opcode::kIsspacep;
  Type type = mapped(inst.mods.type);
  if (space_test) type = module_.address_size == 32 ? Type::kU32 : Type::kU64;
  if (space_test && inst.operands[1].kind == Operand::Kind::kRegister) {
    const Var v = register_var(frame, inst.operands[1]);
    if (v != kNoVar) type = program_.vars[v] == VarClass::kRow64 ? Type::kU64 : Type::kU32;
  }
  const Value v = value(frame, inst.operands[1], type);
  Op* op = emit_form(form_key(inst.opcode, type), {}, {&v, 1});
  if (op == nullptr) return;
  op->imm = space_test ? static_cast<uint64_t>(inst.mods.space) | (inst.mods.cluster ? kOfCluster : 0)
                       : static_cast<uint64_t>(inst.mods.testp);
  op->pred_dst[0] = register_var(frame, inst.operands[0]);
}

/// lop3: the truth table is the fourth source, a constant. lop3.BoolOp d|p, ..., q also sets p to
/// (d != 0) BoolOp q.
void Selector::lookup(Frame& frame, const Instruction& inst) {
  const bool has_predicate = inst.mods.bool_op != BoolOp::kNone;
  if (inst.operands.size() != (has_predicate ? 6u : 5u) ||
      inst.operands[4].kind != Operand::Kind::kImmediate) {
    return unsupported(inst, "this form of lop3");
  }
  Value sources[3];
  for (size_t i = 0; i < 3; ++i) sources[i] = value(frame, inst.operands[i + 1], Type::kB32);
  const Var dst = destination(frame, inst.operands[0], Type::kB32);
  Op* op = emit_form(form_key(Opcode::kLop3, Type::kB32), {dst}, sources);
  if (op != nullptr) op->imm = inst.operands[4].imm & 0xff;
  if (has_predicate && inst.operands[0].reg2 != kNoRegister) {
    const Value compared[2] = {Value{dst, false, 0}, Value{kNoVar, false, 0}};
    const Var q = predicate(frame, inst.operands[5]);
    Op* test = emit_form(form_key(Opcode::kSetp, Type::kU32, Type::kNone, compare_variant(CompareOp::kNe)),
                         {}, compared);
    if (test == nullptr) return;
    test->imm = static_cast<uint64_t>(inst.mods.bool_op);
    test->pred_src[0] = q;
    test->pred_negated[0] = inst.operands[5].negated;
    test->pred_dst[0] = frame.registers[inst.operands[0].reg2];
  }
  write_back(frame, inst.operands[0], Type::kB32, dst);
}

}  // namespace gpusim::isa::lir
