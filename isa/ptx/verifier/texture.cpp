// Operands of tex and txq: PTX ISA, "Texture Instructions".
#include <fmt/format.h>

#include "isa/ptx/verifier/verifier_impl.h"

namespace gpusim::isa {

using Kind = Operand::Kind;

namespace {

/// Elements that the coordinate vector needs, the layer of an array included.
size_t coordinates_of(TextureShape shape) {
  switch (shape) {
    case TextureShape::kACube:
      return 4;
    case TextureShape::k3d:
    case TextureShape::kA2d:
    case TextureShape::kCube:
      return 3;
    case TextureShape::k2d:
    case TextureShape::kA1d:
      return 2;
    default:
      return 1;
  }
}

}  // namespace

size_t level_operands(const Instruction& i) {
  return i.mods.lod == TextureLod::kLevel ? 1 : i.mods.lod == TextureLod::kGrad ? 2 : 0;
}

bool compares_depth(const Instruction& i) {
  const size_t before = 2 + level_operands(i), found = i.operands.size();
  if (found <= before) return false;
  const bool one_dimension = i.mods.texture == TextureShape::k1d || i.mods.texture == TextureShape::kA1d;
  return found > before + 1 || (i.operands[before].kind != Kind::kVector && !one_dimension);
}

/// The name of a texture reference, or a register with a handle.
void FunctionVerifier::check_texture_name(const Operand& o) {
  if (o.kind != Kind::kAddress)
    return error(o.loc, fmt::format("'{}' needs a texture in brackets, found {}", name(), kind_name(o.kind)));
  if (o.offset != 0 || (o.symbol.empty() && o.reg == kNoRegister))
    return error(o.loc, fmt::format("'{}' needs a texture's name or a register with its handle", name()));
  if (o.symbol.empty()) {
    const Register& r = function_.registers[o.reg];
    if (r.vector > 1 || is_float(r.type) || type_bytes(r.type) != 8)
      error(
          o.loc,
          fmt::format("'{}' is a .{} register and cannot hold a texture's handle", r.name, type_name(r.type)),
          "it has 64 bits");
    return;
  }
  const Found f = find_symbol(o.symbol);
  if (f.variable == nullptr && f.function == nullptr) return undefined_symbol(o);
  if (f.variable == nullptr || !is_texture(*f.variable))
    error(o.loc, fmt::format("'{}' is not a texture reference", o.symbol.substr(0, 80)),
          "it must be declared .global .texref or .tex; a texture object is loaded into a register first");
}

void FunctionVerifier::check_coordinates(const Instruction& i, const Operand& o, Type coordinate) {
  const size_t needed = coordinates_of(i.mods.texture);
  const bool vector_register = o.kind == Kind::kRegister && o.reg != kNoRegister && o.component < 0 &&
                               function_.registers[o.reg].vector > 1;
  const size_t found = o.kind == Kind::kVector ? o.elements.size()
                       : vector_register       ? function_.registers[o.reg].vector
                                               : 1;
  if (found < needed || found > 4) {
    return error(o.loc, fmt::format("'{}' needs {} coordinate{}, found {}", name(), needed,
                                    needed == 1 ? "" : "s", found));
  }
  if (vector_register) return;
  const TextureShape shape = i.mods.texture;
  const bool array =
      shape == TextureShape::kA1d || shape == TextureShape::kA2d || shape == TextureShape::kACube;
  for (size_t k = 0; k < needed; ++k) {
    const Operand& e = o.kind == Kind::kVector ? o.elements[k] : o;
    check_source(i, e, array && k == 0 ? Type::kB32 : coordinate, false);
  }
}

void FunctionVerifier::check_tex(const Instruction& i) {
  const Modifiers& m = i.mods;
  if (m.texture == TextureShape::kNone)
    return error(fmt::format("'{}' needs a geometry", name()), ".1d, .2d, .3d, .a1d, .a2d, .cube or .acube");
  if (m.vector != 4) return error(fmt::format("'{}' needs .v4", name()));
  if (m.type2 != Type::kS32 && m.type2 != Type::kF32)
    return error(fmt::format("'{}': coordinates are .s32 or .f32, not .{}", name(), type_name(m.type2)));
  check_memory_value(i, i.operands[0], true);
  if (const RegisterId second = i.operands[0].reg2; second != kNoRegister) {
    const Register& resident = function_.registers[second];
    if (resident.type != Type::kPred)
      error(i.operands[0].loc, fmt::format("'{}' behind '|' is a .{} register, not a predicate",
                                           resident.name, type_name(resident.type)));
  }
  const Operand& source = i.operands[1];
  check_texture_name(source);
  if (source.kind != Kind::kAddress) return;
  if (source.elements.empty())
    return error(source.loc, fmt::format("'{}' needs coordinates behind the texture", name()), "[t, {x, y}]");
  check_coordinates(i, source.elements[0], m.type2);
  if (m.texture >= TextureShape::kCube && m.type2 != Type::kF32)
    error(fmt::format("'{}': a cube has .f32 coordinates", name()));
  check_lod(i);
}

/// {x, y} with texels to go from the coordinates, {x, y, z, unused} in three dimensions, x in one.
void FunctionVerifier::check_texture_offset(const Instruction& i, const Operand& o) {
  const TextureShape shape = i.mods.texture;
  if (shape >= TextureShape::kCube) return error(o.loc, fmt::format("'{}' has no offset", name()));
  if (o.kind != Kind::kVector) return check_source(i, o, Type::kB32, false);
  const size_t needed = shape == TextureShape::k3d                                  ? 4
                        : shape == TextureShape::k2d || shape == TextureShape::kA2d ? 2
                                                                                    : 1;
  if (o.elements.size() < needed)
    return error(o.loc, fmt::format("'{}' needs an offset of {} elements, found {}", name(), needed,
                                    o.elements.size()));
  for (const Operand& e : o.elements) check_source(i, e, Type::kB32, false);
}

/// The level, or the derivatives of the coordinates, behind the texture, and an offset.
void FunctionVerifier::check_lod(const Instruction& i) {
  const Modifiers& m = i.mods;
  const size_t found = i.operands.size() - 2, wanted = level_operands(i);
  if (found < wanted)
    return error(fmt::format("'{}' takes {} operands, found {}", name(), 2 + wanted, 2 + found));
  if (found > wanted) check_texture_offset(i, i.operands[2 + wanted]);
  if (m.lod == TextureLod::kLevel) return check_source(i, i.operands[2], m.type2, false);
  if (m.lod == TextureLod::kGrad && m.type2 != Type::kF32)
    return error(fmt::format("'{}': .grad goes with .f32 coordinates", name()));
  for (size_t k = 2; k < 2 + wanted; ++k) {
    const Operand& o = i.operands[k];
    if (o.kind != Kind::kVector) {
      check_source(i, o, Type::kF32, false);
      continue;
    }
    for (const Operand& e : o.elements)
      if (e.kind != Kind::kSink) check_source(i, e, Type::kF32, false);
  }
}

void FunctionVerifier::check_txq(const Instruction& i) {
  if (i.mods.query == TextureQuery::kNone)
    return error(fmt::format("'{}' does not say what it asks for", name()), "such as .width");
  const bool of_level = i.mods.lod == TextureLod::kLevel;
  const TextureQuery query = i.mods.query;
  if ((i.mods.lod != TextureLod::kNone && !of_level) ||
      (of_level && query != TextureQuery::kWidth && query != TextureQuery::kHeight &&
       query != TextureQuery::kDepth))
    return error(fmt::format("'{}' does not exist", name()), "a level has a .width, a .height and a .depth");
  const size_t wanted = of_level ? 3 : 2;
  if (i.operands.size() != wanted)
    return error(fmt::format("'{}' takes {} operands, found {}", name(), wanted, i.operands.size()));
  check_destination(i, i.operands[0], Type::kB32, false);
  check_texture_name(i.operands[1]);
  if (of_level) check_source(i, i.operands[2], Type::kU32, false);
}

}  // namespace gpusim::isa
