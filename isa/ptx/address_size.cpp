// Width of the addresses of a text without .address_size, as ptxas finds it: 32 bits if anything in the text
// holds an address of global or generic memory in 32 bits, 64 bits otherwise. Addresses of the other state
// spaces say nothing, since 32 bits hold them in both.
#include <algorithm>

#include "isa/ptx/parser/parser.h"

namespace gpusim::isa {
namespace {

using Kind = Operand::Kind;

enum class Width : uint8_t { kUnknown, k32, k64 };

Width width_of(int bytes) { return bytes == 4 ? Width::k32 : bytes == 8 ? Width::k64 : Width::kUnknown; }

/// What one statement tells.
Width width_in(const Module& module, const Function& f, const Instruction& i) {
  const bool far = i.mods.space == Space::kGlobal || i.mods.space == Space::kGeneric;
  if (i.opcode == Opcode::kCvta) return width_of(type_bytes(i.mods.type));
  if (i.opcode == Opcode::kMov && i.operands.size() == 2 && i.operands[1].kind == Kind::kSymbol) {
    const Variable* v = module.find_variable(i.operands[1].symbol);
    const bool global = v != nullptr && v->space == Space::kGlobal;
    return global ? width_of(type_bytes(i.mods.type)) : Width::kUnknown;
  }
  for (const Operand& o : i.operands) {
    if (far && o.kind == Kind::kAddress && o.reg != kNoRegister && o.elements.empty())
      return width_of(type_bytes(f.registers[o.reg].type));
  }
  return Width::kUnknown;
}

}  // namespace

void infer_address_size(Module& module) {
  bool any_64 = false;
  for (const Function& f : module.functions) {
    for (const Instruction& i : f.body) {
      const Width width = width_in(module, f, i);
      any_64 = any_64 || width == Width::k64;
      if (width != Width::k32) continue;
      module.address_size = 32;
      return;
    }
  }
  module.address_size = 64;
  module.has_any_address_size = !any_64;
}

}  // namespace gpusim::isa
