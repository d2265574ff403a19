// Modifiers of PTX opcodes (".wide", ".ftz", ".global", ".u32"): one table of names, and per opcode the
// groups of names it takes. They are read as a set, because files vary their order. PTX ISA manual, chapter
// 9, syntax of each instruction.
#pragma once
#include <string_view>

#include "isa/ptx/opcodes.h"

namespace gpusim::isa {

/// What an opcode makes of a modifier.
enum class ModifierFit : uint8_t {
  kGood,
  kNotTaken,
  kSecond,     ///< another one of the kind stands before it: two roundings, two state spaces
  kMisplaced,  ///< it is part of the name, such as .wide of mul.wide, and must stand right behind the opcode
};

/// Adds one modifier (without its dot) to `mods`. mods.unknown names the first that `op` does not take, or
/// not yet. Opcodes that are not supported yet take every modifier.
ModifierFit apply_modifier(Opcode op, std::string_view name, Modifiers& mods);

/// The opcode of a name of two parts, "pack" behind cvt or "load" behind wmma; kInvalid if `name` is a
/// modifier.
[[nodiscard]] Opcode joined_opcode(Opcode op, std::string_view name);

/// Fills what is implied when nothing is written: the generic space of ld, st, atom and red.
void finish_modifiers(Opcode op, Modifiers& mods);

/// An opcode as written, "mul.wide.s32". opcode is kInvalid if the base name is unknown.
struct ParsedOpcode {
  Opcode opcode = Opcode::kInvalid;
  Modifiers mods;
};
[[nodiscard]] ParsedOpcode parse_opcode(std::string_view text);

/// True if some opcode takes this modifier.
[[nodiscard]] bool is_known_modifier(std::string_view name);

/// True for modifiers and types that PTX has for `op` and that gpusim does not execute yet (cvt to ".tf32"):
/// a statement with one parses, with Modifiers::unknown set.
[[nodiscard]] bool is_unsupported_modifier(Opcode op, std::string_view name);

/// The modifier or type that `op` takes and that is nearest to `name`; empty if none is near.
[[nodiscard]] std::string_view nearest_modifier(Opcode op, std::string_view name);

}  // namespace gpusim::isa
