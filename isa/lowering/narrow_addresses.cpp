// Machines below compute capability 2.0 have pointers of 32 bits, for which their compiler makes 32-bit code.
// PTX with .address_size 64 computes its addresses in 64 bits all the same; here what computes nothing but
// addresses costs what 32-bit operations cost, and one register. The values keep their 64 bits.
#include <bit>

#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {
namespace {

/// Whether `op` computes a 64-bit value from what is part of an address as well, if its result is.
bool passes_on(const Op& op) {
  if (op.kind != OpKind::kAlu || op.num_dst != 1 || is_float(op.type)) return false;
  switch (static_cast<Opcode>(op.opcode())) {
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kMad:
    case Opcode::kShl:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kSelp:
    case Opcode::kMov:
      return (op.key & (kVarHi | kVarCarryIn | kVarCarryOut | kVarFull)) == 0;
    case Opcode::kCvt: {
      const auto from = static_cast<Type>((op.key >> 32) & 0xff);
      return is_integer(op.type) && is_integer(from) && static_cast<uint32_t>(op.key) == 0;
    }
    default:
      return false;
  }
}

/// The variables of 64 bits that nothing but addresses of memory accesses is made of.
std::vector<bool> address_parts(const Program& program) {
  std::vector<bool> part(program.vars.size(), false);
  for (Var v = 0; v < program.vars.size(); ++v) part[v] = program.vars[v] == VarClass::kRow64;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto block = program.blocks.rbegin(); block != program.blocks.rend(); ++block) {
      for (auto op = block->ops.rbegin(); op != block->ops.rend(); ++op) {
        const bool on = passes_on(*op) && part[op->dst[0]];
        for (int i = 0; i < op->num_src; ++i) {
          const Value& v = op->src[i];
          const bool base = op->is_memory() && op->memory.has_base && i == 0;
          if (v.is_literal() || !part[v.var] || on || base) continue;
          part[v.var] = false;
          changed = true;
        }
      }
    }
  }
  return part;
}

OpClass narrow_class(const Op& op) {
  switch (op.op_class) {
    case OpClass::kInt64:
    case OpClass::kCvt64:
      return OpClass::kInt;
    case OpClass::kIntMul64:
      for (int i = 0; i < 2; ++i) {  // by a shift
        if (op.src[i].is_literal() && std::has_single_bit(op.src[i].bits)) return OpClass::kInt;
      }
      return OpClass::kIntMul;
    default:
      return op.op_class;
  }
}

}  // namespace

void narrow_addresses(Program& program) {
  std::vector<bool> part = address_parts(program);
  for (Block& block : program.blocks) {
    for (Op& op : block.ops) {
      if (passes_on(op) && part[op.dst[0]]) op.op_class = narrow_class(op);
    }
  }
  program.narrow = std::move(part);
}

}  // namespace gpusim::isa::lir
