// Selection of suld, sust, sured, suq and tld4 (PTX ISA, "Surface Instructions" and tld4).
#include <algorithm>

#include "isa/exec/surface.h"
#include "isa/lowering/select.h"
#include "isa/ptx/unsupported_spellings.h"

namespace gpusim::isa::lir {

namespace {

SurfaceEdge edge_of(const Instruction& inst) {
  if (has_word(inst, "clamp")) return SurfaceEdge::kClamp;
  return has_word(inst, "zero") ? SurfaceEdge::kZero : SurfaceEdge::kTrap;
}

SurfaceReduction reduction_of(const Instruction& inst) {
  if (has_word(inst, "min")) return SurfaceReduction::kMin;
  if (has_word(inst, "max")) return SurfaceReduction::kMax;
  if (has_word(inst, "and")) return SurfaceReduction::kAnd;
  return has_word(inst, "or") ? SurfaceReduction::kOr : SurfaceReduction::kAdd;
}

}  // namespace

/// Adds the coordinates of `[handle, {layer, x, y}]` to the sources, the layer last; false after an error.
bool Selector::add_coordinates(Frame& frame, const Instruction& inst, const Operand& place, Type type,
                               Op& op) {
  const TextureShape shape = inst.mods.texture;
  if (place.elements.empty()) {
    unsupported(inst, "this instruction");
    return false;
  }
  const std::vector<Operand> coordinates = elements(frame, place.elements[0]);
  const size_t first = is_array_shape(shape) ? 1 : 0;
  const auto dimensions = static_cast<size_t>(shape_dimensions(shape));
  if (coordinates.size() < first + dimensions) {
    unsupported(inst, "this coordinate vector");
    return false;
  }
  for (size_t d = 0; d < dimensions; ++d) op.src[op.num_src++] = value(frame, coordinates[first + d], type);
  if (first != 0) op.src[op.num_src++] = value(frame, coordinates[0], Type::kU32);
  return true;
}

void Selector::surface_access(Frame& frame, const Instruction& inst) {
  const bool reduces = inst.opcode == Opcode::kSured, store = reduces || inst.opcode == Opcode::kSust;
  const Operand& place = inst.operands[store ? 0 : 1];
  const auto handle = texture_handle_of(frame, place);
  if (!handle) return;
  SurfaceForm form;
  form.shape = inst.mods.texture;
  form.edge = edge_of(inst);
  form.element_bytes = static_cast<uint8_t>(type_bytes(inst.mods.type));
  form.elements = inst.mods.vector;
  form.formatted = has_word(inst, "p");
  form.reduction = reduction_of(inst);
  form.is_signed = is_signed(inst.mods.type);
  const MemFn function = reduces ? &execute_sured : store ? &execute_sust : &execute_suld;
  Op op = texture_op(inst, function, form.packed(), *handle);
  if (store) {
    op.kind = OpKind::kStore;
    op.op_class = OpClass::kStoreGlobal;
  }
  op.memory.is_volatile = true;  // another address may mean the same bytes
  op.memory.space = Space::kGeneric;
  if (!add_coordinates(frame, inst, place, Type::kS32, op)) return;
  const std::vector<Operand> parts = elements(frame, inst.operands[store ? 1 : 0]);
  if (parts.size() != form.elements) return unsupported(inst, "this vector");
  const bool wide_type = type_bytes(inst.mods.type) == 8;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Var v = register_var(frame, parts[i]);
    const bool wide = wide_type || (v != kNoVar && program_.vars[v] == VarClass::kRow64);
    op.modifiers = static_cast<uint8_t>(op.modifiers | (wide ? 1u << i : 0u));
    const Type lane = wide ? Type::kB64 : Type::kB32;
    if (store)
      op.src[op.num_src++] = value(frame, parts[i], lane);
    else
      op.dst[op.num_dst++] = destination(frame, parts[i], lane);
  }
  const std::array<Var, 4> results = op.dst;
  const uint8_t widths = op.modifiers;
  emit(op);
  for (size_t i = 0; i < parts.size() && !store; ++i)
    write_back(frame, parts[i], (widths >> i & 1) != 0 ? Type::kB64 : Type::kB32, results[i]);
}

/// suq asks what txq asks.
void Selector::surface_query(Frame& frame, const Instruction& inst) { texture_query(frame, inst); }

void Selector::texture_gather(Frame& frame, const Instruction& inst) {
  const Operand& source = inst.operands[1];
  const auto handle = texture_handle_of(frame, source);
  if (!handle) return;
  Op op = texture_op(inst, &execute_tld4, static_cast<uint64_t>(inst.mods.texture), *handle);
  op.memory.elements = 4;
  constexpr std::array<std::string_view, 4> kComponents{"r", "g", "b", "a"};
  for (uint8_t c = 0; c < kComponents.size(); ++c)
    if (has_word(inst, kComponents[c])) op.modifiers = c;
  if (!add_coordinates(frame, inst, source, Type::kF32, op) || !add_offsets(frame, inst, 2, op)) return;
  const std::vector<Operand> parts = elements(frame, inst.operands[0]);
  if (parts.size() != op.dst.size()) return unsupported(inst, "this result vector");
  for (const Operand& p : parts) op.dst[op.num_dst++] = destination(frame, p, Type::kB32);
  const std::array<Var, 4> results = op.dst;
  emit(op);
  for (size_t i = 0; i < parts.size(); ++i) write_back(frame, parts[i], Type::kB32, results[i]);
}

}  // namespace gpusim::isa::lir
