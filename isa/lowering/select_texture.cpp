// Selection of tex and txq (PTX ISA, "Texture Instructions"), unified mode: one handle names texture and
// sampler.
#include <fmt/format.h>

#include "isa/exec/texture.h"
#include "isa/lowering/select.h"

namespace gpusim::isa::lir {

/// The handle in `[name, ...]` or `[register, ...]`.
std::optional<Value> Selector::texture_handle_of(Frame& frame, const Operand& operand) {
  if (operand.symbol.empty()) {
    Operand reg;
    reg.kind = Operand::Kind::kRegister;
    reg.reg = operand.reg;
    reg.loc = operand.loc;
    return value(frame, reg, Type::kU64);
  }
  const Variable* v = find_variable(frame, operand.symbol);
  if (v == nullptr || !is_texture(*v)) {
    error(operand.loc, fmt::format("'{}' is not a texture reference", operand.symbol.substr(0, 80)),
          "it must be declared .global .texref or .tex; a texture object is loaded into a register first");
    return std::nullopt;
  }
  const uint64_t handle = options_.address_of ? options_.address_of(*v) : 0;
  if (handle == 0) {
    error(operand.loc, fmt::format("the texture reference '{}' is not bound", operand.symbol.substr(0, 80)),
          "the launch file needs a [[texture]] of that name");
    return std::nullopt;
  }
  return Value{kNoVar, true, handle};
}

Op Selector::texture_op(const Instruction& inst, MemFn function, uint64_t what, const Value& handle) {
  Op op;
  op.key = form_key(inst.opcode, inst.mods.type, inst.mods.type2);
  op.kind = OpKind::kLoad;
  op.op_class = OpClass::kTexture;
  op.mem = function;
  op.type = inst.mods.type;
  op.imm = what;
  op.memory.space = Space::kGlobal;
  op.memory.type = Type::kB32;
  op.memory.element_bytes = 4;
  op.src[op.num_src++] = handle;
  return op;
}

/// The offsets in texels behind the coordinates and the level, if the instruction has them; false after an
/// error.
bool Selector::add_offsets(Frame& frame, const Instruction& inst, size_t operand, Op& op) {
  if (operand >= inst.operands.size()) return true;
  const std::vector<Operand> steps = elements(frame, inst.operands[operand]);
  const auto dimensions = static_cast<size_t>(shape_dimensions(inst.mods.texture));
  if (op.num_src + dimensions > op.src.size()) {
    unsupported(inst, "an offset with gradients of three dimensions");
    return false;
  }
  if (steps.size() < dimensions) {
    unsupported(inst, "this offset");
    return false;
  }
  op.imm |= kTextureOffset;
  for (size_t d = 0; d < dimensions; ++d) op.src[op.num_src++] = value(frame, steps[d], Type::kS32);
  return true;
}

void Selector::texture_read(Frame& frame, const Instruction& inst) {
  if (inst.operands.size() < 2 || inst.operands[1].elements.empty())
    return unsupported(inst, "this instruction");
  const Operand& source = inst.operands[1];
  const auto handle = texture_handle_of(frame, source);
  if (!handle) return;
  const TextureShape shape = inst.mods.texture;
  const TextureLod lod = inst.mods.lod;
  Op op = texture_op(inst, &execute_tex,
                     static_cast<uint64_t>(shape) | static_cast<uint64_t>(lod) << kTextureLodShift, *handle);
  op.modifiers = inst.mods.type2 == Type::kS32 ? 1 : 0;
  op.memory.elements = 4;
  const std::vector<Operand> coordinates = elements(frame, source.elements[0]);
  const size_t first = is_array_shape(shape) ? 1 : 0;
  const auto dimensions = static_cast<size_t>(shape_dimensions(shape));
  if (coordinates.size() < first + dimensions) return unsupported(inst, "this coordinate vector");
  for (size_t d = 0; d < dimensions; ++d)
    op.src[op.num_src++] = value(frame, coordinates[first + d], inst.mods.type2);
  if (first != 0) op.src[op.num_src++] = value(frame, coordinates[0], Type::kU32);
  const size_t gradients = lod == TextureLod::kGrad ? 2 : 0;
  if (lod == TextureLod::kLevel) op.src[op.num_src++] = value(frame, inst.operands[2], inst.mods.type2);
  if (op.num_src + gradients * dimensions > op.src.size())
    return unsupported(inst, "gradients in cubes with layers");
  for (size_t g = 0; g < gradients; ++g) {
    const std::vector<Operand> steps = elements(frame, inst.operands[2 + g]);
    if (steps.size() < dimensions) return unsupported(inst, "this gradient");
    for (size_t d = 0; d < dimensions; ++d) op.src[op.num_src++] = value(frame, steps[d], Type::kF32);
  }
  if (!add_offsets(frame, inst, 2 + (lod == TextureLod::kLevel ? 1 : gradients), op)) return;
  const std::vector<Operand> parts = elements(frame, inst.operands[0]);
  if (parts.size() != op.dst.size()) return unsupported(inst, "this result vector");
  for (const Operand& p : parts) op.dst[op.num_dst++] = destination(frame, p, Type::kB32);
  const std::array<Var, 4> results = op.dst;
  emit(op);
  for (size_t i = 0; i < parts.size(); ++i) write_back(frame, parts[i], Type::kB32, results[i]);
  if (inst.operands[0].reg2 == kNoRegister) return;
  // Whether the memory of all texels is there: no texture is sparse.
  Op* const resident = emit_form(form_key(Opcode::kMov, Type::kPred), {}, {});
  if (resident == nullptr) return;
  resident->pred_dst[0] = frame.registers[inst.operands[0].reg2];
  resident->imm = 1;
}

void Selector::texture_query(Frame& frame, const Instruction& inst) {
  if (inst.operands.size() < 2) return unsupported(inst, "this instruction");
  const auto handle = texture_handle_of(frame, inst.operands[1]);
  if (!handle) return;
  Op op = texture_op(inst, &execute_txq, static_cast<uint64_t>(inst.mods.query), *handle);
  op.src[op.num_src++] =
      inst.operands.size() > 2 ? value(frame, inst.operands[2], Type::kU32) : Value{kNoVar, false, 0};
  const Var result = op.dst[op.num_dst++] = destination(frame, inst.operands[0], Type::kB32);
  emit(op);
  write_back(frame, inst.operands[0], Type::kB32, result);
}

}  // namespace gpusim::isa::lir
