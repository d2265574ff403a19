// Machines below compute capability 2.0 have pointers of 32 bits, for which their compiler makes 32-bit code.
// PTX with .address_size 64 computes its addresses in 64 bits all the same; here what computes nothing but
// addresses costs what 32-bit operations cost, and one register. The values keep their 64 bits.
// From 7.0 on the same holds for addresses of local, shared and constant memory, which have 32 bits there.
// And values of 64 bits whose upper half is zero take one register: ptxas makes two operations of one on 64
// bits before it gives out registers, and the one on the upper halves reads the zero register.
#include <bit>

#include "isa/lowering/dominance.h"
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

bool is_near(Space s) { return s == Space::kLocal || s == Space::kShared || s == Space::kConst; }

/// The variables of 64 bits that nothing but addresses of memory accesses is made of; `near`: of accesses to
/// local, shared and constant memory, by operations that could have 32 bits.
std::vector<bool> address_parts(const Program& program, bool near) {
  std::vector<bool> part(program.vars.size(), false);
  for (Var v = 0; v < program.vars.size(); ++v) part[v] = program.vars[v] == VarClass::kRow64;
  for (const Block& block : program.blocks) {
    for (const Op& op : block.ops) {
      if (near && !passes_on(op)) for_each_def(op, [&](Var v) { part[v] = false; });
    }
  }
  std::vector<std::vector<Var>> made_of(program.vars.size());
  std::vector<Var> fallen;
  const auto drop = [&](Var v) {
    if (part[v]) fallen.push_back(v);
    part[v] = false;
  };
  for (const Block& block : program.blocks) {
    for (const Op& op : block.ops) {
      const bool on = passes_on(op) && part[op.dst[0]];
      for (int i = 0; i < op.num_src; ++i) {
        if (op.src[i].is_literal()) continue;
        const bool base =
            op.is_memory() && op.memory.has_base && i == 0 && (!near || is_near(op.memory.space));
        if (on)
          made_of[op.dst[0]].push_back(op.src[i].var);
        else if (!base)
          drop(op.src[i].var);
      }
    }
  }
  while (!fallen.empty()) {  // what it is made of is part of something else, too
    const Var v = fallen.back();
    fallen.pop_back();
    for (const Var source : made_of[v]) drop(source);
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

/// The upper half of its result is zero.
bool extends_with_zero(const Op& op) {
  if (op.kind != OpKind::kAlu || op.num_dst != 1 || op.guard != kNoVar || op.folded != kNone) return false;
  const bool by_constant = op.num_src > 1 && op.src[1].is_literal() && op.src[1].launch_constant == kNone &&
                           op.src[1].object == kNoObject;
  switch (static_cast<Opcode>(op.opcode())) {
    case Opcode::kCvt: {
      const auto from = static_cast<Type>((op.key >> 32) & 0xff);
      return is_integer(op.type) && is_integer(from) && !is_signed(from) && type_bytes(from) <= 4;
    }
    case Opcode::kShr:
      return by_constant && !is_signed(op.type) && op.src[1].bits >= 32;
    case Opcode::kAnd:
      return by_constant && op.src[1].bits >> 32 == 0;
    default:
      return false;
  }
}

/// Values of 64 bits that nothing but arithmetic reads, and whose upper half is zero: who stores them, takes
/// them as an address or gives them to a function needs both halves.
std::vector<bool> extended_with_zero(const Program& program, const Flow& flow) {
  const SsaValues ssa(program, flow);
  std::vector<bool> extended(program.vars.size(), false);
  for (const Block& block : program.blocks) {
    for (const Op& op : block.ops) {
      if (extends_with_zero(op) && program.vars[op.dst[0]] == VarClass::kRow64 && ssa.is_value(op.dst[0]))
        extended[op.dst[0]] = true;
    }
  }
  for (const Block& block : program.blocks) {
    for (const Op& op : block.ops) {
      if (op.kind == OpKind::kAlu && op.folded == kNone && !op.whole_warp) continue;
      for_each_use(op, [&](Var v) { extended[v] = false; });
    }
  }
  return extended;
}

/// What computes a part of an address has 32 bits.
void time_parts(Program& program, const std::vector<bool>& part) {
  for (Block& block : program.blocks) {
    for (Op& op : block.ops) {
      if (passes_on(op) && part[op.dst[0]]) op.op_class = narrow_class(op);
    }
  }
}

}  // namespace

void narrow_addresses(Program& program) {
  program.narrow = address_parts(program, false);
  time_parts(program, program.narrow);
}

void narrow_values(Program& program, const Flow& flow) {
  program.narrow = address_parts(program, true);
  time_parts(program, program.narrow);
  const std::vector<bool> extended = extended_with_zero(program, flow);
  for (Var v = 0; v < extended.size(); ++v) program.narrow[v] = program.narrow[v] || extended[v];
}

}  // namespace gpusim::isa::lir
