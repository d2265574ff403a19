// Selection of loads, stores and atomics, and of the parameters of inlined calls.
#include <fmt/format.h>

#include <algorithm>

#include "isa/lowering/select.h"

namespace gpusim::isa::lir {
namespace {

OpClass memory_class(OpKind kind, Space space) {
  const bool load = kind == OpKind::kLoad, atomic = kind == OpKind::kAtomic;
  switch (space) {
    case Space::kShared:
      return atomic ? OpClass::kAtomShared : load ? OpClass::kLoadShared : OpClass::kStoreShared;
    case Space::kLocal:
      return load ? OpClass::kLoadLocal : OpClass::kStoreLocal;
    case Space::kConst:
      return OpClass::kLoadConst;
    case Space::kParam:
      return OpClass::kLoadParam;
    default:
      return atomic ? OpClass::kAtomGlobal : load ? OpClass::kLoadGlobal : OpClass::kStoreGlobal;
  }
}

/// Elements of one memory operation.
constexpr size_t kMaxElements = 4;

/// Address bits that are zero in a naturally aligned vector of `count` elements.
uint8_t whole_mask(Type element, size_t count) {
  return static_cast<uint8_t>(static_cast<size_t>(type_bytes(element)) * count - 1);
}

/// Key type of an element: signed only where a wider lane needs the sign.
Type element_type(Type t, bool wide_lanes) {
  const int bytes = type_bytes(t);
  if (!is_signed(t) || bytes == 8 || (bytes == 4 && !wide_lanes)) return unsigned_of(t);
  return t;
}

}  // namespace

Op Selector::memory_op(OpKind kind, Space space, Type element, bool wide_lanes, const Address& address,
                       int count) {
  Op op;
  op.kind = kind;
  op.op_class = memory_class(kind, space);
  op.type = element;
  op.memory.space = space;
  op.memory.type = element;
  op.memory.element_bytes = static_cast<uint8_t>(type_bytes(element));
  op.memory.elements = static_cast<uint8_t>(count);
  op.memory.has_base = address.has_base;
  op.memory.base_is_64 = address.has_base && address.base.wide;
  op.memory.offset = address.offset;
  op.memory.object = address.object;
  if (address.has_base) op.src[op.num_src++] = address.base;
  if (kind != OpKind::kAtomic) {
    const Type t = kind == OpKind::kLoad ? element_type(element, wide_lanes) : unsigned_of(element);
    op.key =
        form_key(kind == OpKind::kLoad ? Opcode::kLd : Opcode::kSt, t, wide_lanes ? Type::kB64 : Type::kB32);
    if (const SemanticRow* row = find_form(op.key, level_)) op.mem = row->mem;
  }
  return op;
}

/// See isa/exec/stack.h.
void Selector::emit_stack(StackOp what, std::optional<Value> source, Var result, uint32_t align) {
  StackPlace place = plan_.stack;
  place.align = static_cast<uint16_t>(align);
  Op op;
  op.kind = OpKind::kAtomic;
  op.op_class = OpClass::kAtomGlobal;
  op.mem = stack_function(what);
  op.type = result != kNoVar && program_.vars[result] == VarClass::kRow64 ? Type::kU64 : Type::kU32;
  op.imm = place.packed();
  op.memory.space = Space::kGeneric;
  op.memory.type = Type::kB32;
  op.memory.element_bytes = 4;
  if (source) op.src[op.num_src++] = *source;
  if (result != kNoVar) op.dst[op.num_dst++] = result;
  emit(op);
}

void Selector::stack(Frame& frame, const Instruction& inst) {
  const Type type = mapped(inst.mods.type);
  if (inst.opcode == Opcode::kStackrestore) {
    const Value saved = resized(value(frame, inst.operands[0], type), true);
    return emit_stack(StackOp::kRestore, saved, kNoVar);
  }
  const Var result = destination(frame, inst.operands[0], type);
  if (inst.opcode == Opcode::kStacksave) {
    emit_stack(StackOp::kSave, std::nullopt, result);
  } else {
    constexpr uint64_t kUsualAlign = 8, kMostAlign = 1 << 15;
    uint64_t align = kUsualAlign;
    if (inst.operands.size() > 2) align = inst.operands[2].imm;
    if (align == 0 || (align & (align - 1)) != 0 || align > kMostAlign)
      return error(inst.loc, "the alignment of alloca must be a power of two");
    emit_stack(StackOp::kAlloca, resized(value(frame, inst.operands[1], type), true), result,
               static_cast<uint32_t>(align));
  }
  write_back(frame, inst.operands[0], type, result);
}

void Selector::load_store(Frame& frame, const Instruction& inst) {
  const bool store = inst.opcode == Opcode::kSt;
  if (inst.operands.size() < 2) return unsupported(inst, "this instruction");
  const Operand& target = inst.operands[store ? 0 : 1];
  const Operand& data = inst.operands[store ? 1 : 0];
  if (!target.symbol.empty()) {
    const auto slot = frame.slots.find(target.symbol);
    if (slot != frame.slots.end() && slot->second.var != kNoVar)
      return param_slot_access(frame, inst, slot->second);
  }
  Type type = mapped(inst.mods.type);
  size_t elements_wanted = inst.mods.vector;
  if (type == Type::kB128 && elements_wanted == 1) {  // two halves
    type = Type::kB64;
    elements_wanted = 2;
  }
  if (type_bytes(type) > 8 || type == Type::kPred) return unsupported(inst, "this vector or type");
  const auto where = address(frame, target, inst.mods.space);
  if (!where) return;
  if (store && (where->space == Space::kConst || where->space == Space::kParam)) {
    return error(inst.loc, fmt::format("{} space cannot be written", space_name(where->space)));
  }
  const std::vector<Operand> parts = elements(frame, data);
  if (parts.size() != elements_wanted) {
    if (data.kind == Operand::Kind::kRegister && inst.mods.vector == 1)
      return unsupported(inst, "a .b128 register for fewer bits");
    return error(data.loc, fmt::format("expected {} registers, found {}", elements_wanted, parts.size()));
  }
  // The lanes are as wide as the (first) register: a narrow element extends to it.
  bool wide = type_bytes(type) == 8;
  for (const Operand& p : parts) {
    const Var v = register_var(frame, p);
    if (v != kNoVar && program_.vars[v] == VarClass::kRow64) wide = true;
  }
  const Type lanes = wide ? Type::kB64 : Type::kB32;
  std::vector<Value> sources;
  std::vector<Var> results;
  for (const Operand& p : parts) {
    if (!store)
      results.push_back(destination(frame, p, lanes));
    else if (p.kind == Operand::Kind::kImmediate)
      sources.push_back(resized(literal(p, type), wide));
    else
      sources.push_back(value(frame, p, lanes));
  }
  // Eight elements are two accesses; the first must leave the base register alone.
  std::vector<Var> targets = results;
  for (Var& v : targets) {
    if (targets.size() > kMaxElements && where->has_base && v == where->base.var)
      v = program_.new_var(class_of(lanes));
  }
  if (store) fence_before_release(inst, where->space);
  for (size_t first = 0; first < parts.size(); first += kMaxElements) {
    const size_t count = std::min(parts.size() - first, kMaxElements);
    Address part = *where;
    part.offset += static_cast<int64_t>(first) * type_bytes(type);
    Op op = memory_op(store ? OpKind::kStore : OpKind::kLoad, part.space, type, wide, part,
                      static_cast<int>(count));
    op.memory.is_volatile =
        inst.mods.semantics != Semantics::kNone && inst.mods.semantics != Semantics::kWeak;
    op.memory.bypasses_l1 =
        op.memory.is_volatile || inst.mods.cache == CacheOp::kCg || inst.mods.cache == CacheOp::kCv;
    op.memory.read_only = inst.mods.nc;
    op.memory.cluster = inst.mods.cluster;
    // The whole access is aligned to its size, not only this part of it; the first part says so.
    if (first == 0) op.memory.align_mask = whole_mask(type, parts.size());
    if (!store)
      op.imm = inst.unused_bytes >> std::min<size_t>(first * static_cast<size_t>(type_bytes(type)), 31);
    for (size_t i = first; store && i < first + count; ++i) op.src[op.num_src++] = sources[i];
    for (size_t i = first; !store && i < first + count; ++i) op.dst[op.num_dst++] = targets[i];
    if (op.mem == nullptr) return unsupported(inst, "this form");
    emit(op);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const Value loaded{targets[i], wide, 0};
    if (targets[i] != results[i]) emit_form(form_key(Opcode::kMov, lanes), {results[i]}, {&loaded, 1});
    write_back(frame, parts[i], lanes, results[i]);
  }
}

/// st.param / ld.param of a scalar call parameter: a move, extended like a load of that type.
void Selector::param_slot_access(Frame& frame, const Instruction& inst, const ParamSlot& slot) {
  const bool store = inst.opcode == Opcode::kSt;
  const Operand& target = inst.operands[store ? 0 : 1];
  const Operand& data = inst.operands[store ? 1 : 0];
  const Type type = mapped(inst.mods.type);
  if (target.offset != 0 || inst.mods.vector > 1 || class_of(type) != program_.vars[slot.var]) {
    return unsupported(inst, "an access to part of a scalar parameter");
  }
  const Type moved = is_float(type) || type_bytes(type) >= 4 ? untyped(type) : type;
  if (store) {
    const Value v = value(frame, data, type);
    emit_form(form_key(Opcode::kMov, untyped(type)), {slot.var}, {&v, 1});
    return;
  }
  const Value v{slot.var, type_bytes(type) == 8, 0};
  const Var dst = destination(frame, data, type);
  if (is_integer(moved) || type_bytes(moved) < 4) {
    const Type t = is_signed(moved) ? moved : unsigned_of(moved);
    emit_form(form_key(Opcode::kCvt, is_signed(t) ? Type::kS32 : Type::kU32, t), {dst}, {&v, 1});
  } else {
    emit_form(form_key(Opcode::kMov, moved), {dst}, {&v, 1});
  }
  write_back(frame, data, type, dst);
}

/// One atomic access; the old value goes to `old` unless that is kNoVar.
void Selector::atomic_element(const Instruction& inst, const Address& where, std::span<const Value> sources,
                              Var old, uint8_t align_mask) {
  const Type type = mapped(inst.mods.type);
  const AtomOp operation = inst.mods.atom;
  const bool bitwise = operation >= AtomOp::kAnd;
  const Type key_type = bitwise ? untyped(type) : is_untyped(type) ? unsigned_of(type) : type;
  Op op = memory_op(OpKind::kAtomic, where.space, type, false, where, 1);
  op.key = form_key(Opcode::kAtom, key_type, Type::kNone, atom_variant(operation));
  if (const SemanticRow* row = find_form(op.key, level_)) op.mem = row->mem;
  if (op.mem == nullptr) return unsupported(inst, "this form");
  op.memory.align_mask = align_mask;
  op.memory.cluster = inst.mods.cluster;
  op.modifiers = static_cast<uint8_t>(operation);  // for who watches loops
  if (inst.mods.scope == Scope::kSys && where.space != Space::kShared) op.imm = kSystemScope;
  for (const Value& v : sources) op.src[op.num_src++] = v;
  if (old != kNoVar) op.dst[op.num_dst++] = old;
  emit(op);
}

/// atom d, [a], b {, c}; red [a], b. A vector is atomic by element (PTX ISA, atom): one access each, whose
/// results are written when all are done.
void Selector::atomic(Frame& frame, const Instruction& inst) {
  const size_t at = inst.opcode == Opcode::kRed ? 0 : 1;
  const bool swap = inst.mods.atom == AtomOp::kCas;
  if (inst.operands.size() < at + (swap ? 3 : 2)) return unsupported(inst, "this instruction");
  const Type type = mapped(inst.mods.type);
  const auto where = address(frame, inst.operands[at], inst.mods.space);
  if (!where) return;
  fence_before_release(inst, where->space);
  if (type == Type::kB128) return atomic_pair(frame, inst, *where);
  std::vector<Value> sources;
  for (const Operand& o : elements(frame, inst.operands[at + 1])) sources.push_back(value(frame, o, type));
  const size_t count = sources.size();
  if (swap) sources.push_back(value(frame, inst.operands[at + 2], type));
  std::vector<Operand> results(count);
  if (at == 1) results = elements(frame, inst.operands[0]);
  results.resize(count);
  std::vector<Var> old(count, kNoVar);
  Address element = *where;
  for (size_t i = 0; i < count; ++i, element.offset += type_bytes(type)) {
    if (results[i].kind == Operand::Kind::kRegister)
      old[i] = count == 1 ? destination(frame, results[i], type) : program_.new_var(class_of(type));
    atomic_element(inst, element, std::span(sources).subspan(i, swap ? 2 : 1), old[i],
                   i == 0 ? whole_mask(type, count) : uint8_t{0});
  }
  for (size_t i = 0; i < count; ++i) {
    if (old[i] == kNoVar) continue;
    Var dst = old[i];
    if (count > 1) {
      const Value v{old[i], type_bytes(type) == 8, 0};
      dst = destination(frame, results[i], type);
      emit_form(form_key(Opcode::kMov, untyped(type)), {dst}, {&v, 1});
    }
    write_back(frame, results[i], type, dst);
  }
}

/// atom.exch and atom.cas of 128 bits: the halves of each value are sources and results of one access.
void Selector::atomic_pair(Frame& frame, const Instruction& inst, const Address& where) {
  Op op = memory_op(OpKind::kAtomic, where.space, Type::kB64, true, where, 2);
  op.memory.cluster = inst.mods.cluster;
  op.key = form_key(Opcode::kAtom, Type::kB128, Type::kNone, atom_variant(inst.mods.atom));
  if (const SemanticRow* row = find_form(op.key, level_)) op.mem = row->mem;
  if (op.mem == nullptr) return unsupported(inst, "this form");
  for (size_t i = 2; i < inst.operands.size() && i < 4; ++i) {
    const std::vector<Operand> halves = elements(frame, inst.operands[i]);
    if (halves.size() != 2) return unsupported(inst, "this operand");
    for (const Operand& half : halves) op.src[op.num_src++] = value(frame, half, Type::kB64);
  }
  const bool unread = inst.operands[0].kind == Operand::Kind::kSink;
  for (const Operand& half : elements(frame, inst.operands[0])) {
    if (!unread) op.dst[op.num_dst++] = destination(frame, half, Type::kB64);
  }
  emit(op);
}

}  // namespace gpusim::isa::lir
