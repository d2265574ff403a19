// Kernel parameters and the sizes of block and grid as operands: what is the same for all threads of a launch
// stands in a constant bank (compute capability 2.0 and up), and an arithmetic instruction reads one source
// from there at no cost. Such a source becomes a literal whose value is filled in at the launch
// (isa/lowering/launch_constants.h). A load of the value stays for those who need it in a register:
// addresses, stored values, and operations with another constant.
#include <algorithm>

#include "isa/lowering/dominance.h"
#include "isa/lowering/lir.h"

namespace gpusim::isa::lir {
namespace {

/// Index into Program::launch_constants, or kNone if `op` gives no such value.
class Constants {
 public:
  explicit Constants(Program& program) : program_(program) {}

  uint32_t of(const Op& op) {
    if (op.guard != kNoVar || op.num_dst != 1) return kNone;
    const bool wide = program_.vars[op.dst[0]] == VarClass::kRow64;
    if (op.kind == OpKind::kLoad) {
      const MemoryOperand& m = op.memory;
      if (m.space != Space::kParam || m.has_base || m.is_volatile || m.elements != 1 ||
          m.element_bytes != (wide ? 8 : 4))
        return kNone;
      return number({LaunchConstant::Source::kParameter, wide, static_cast<uint32_t>(m.offset)});
    }
    const bool special = op.kind == OpKind::kAlu && static_cast<Opcode>(op.opcode()) == Opcode::kMov &&
                         op.num_src == 0 && (op.key & kVarFull) != 0;
    const auto r = static_cast<SpecialRegister>(op.imm);
    const bool size = (r >= SpecialRegister::kNtidX && r <= SpecialRegister::kNtidZ) ||
                      (r >= SpecialRegister::kNctaidX && r <= SpecialRegister::kNctaidZ);
    if (!special || !size || wide) return kNone;
    return number({LaunchConstant::Source::kSpecial, false, static_cast<uint32_t>(op.imm)});
  }

 private:
  uint32_t number(const LaunchConstant& wanted) {
    std::vector<LaunchConstant>& list = program_.launch_constants;
    const auto same = std::find_if(list.begin(), list.end(), [&](const LaunchConstant& c) {
      return c.source == wanted.source && c.wide == wanted.wide && c.from == wanted.from;
    });
    if (same != list.end()) return static_cast<uint32_t>(same - list.begin());
    list.push_back(wanted);
    return static_cast<uint32_t>(list.size() - 1);
  }

  Program& program_;
};

bool takes_constant(const Op& op) {
  return op.kind == OpKind::kAlu && op.folded == kNone && op.op_class != OpClass::kWarp && !op.whole_warp;
}

/// base + index * size: the base is a parameter more often than not, and the size stays in a register.
bool is_address_product(const Op& op) {
  return static_cast<Opcode>(op.opcode()) == Opcode::kMad && (op.key & kVarWide) != 0 &&
         type_bytes(op.type) == 4;
}

}  // namespace

void bind_operands(Program& program, const Flow& flow) {
  const SsaValues ssa(program, flow);
  Constants constants(program);
  std::vector<uint32_t> constant(program.vars.size(), kNone), readers(program.vars.size(), 0);
  for (const Block& block : program.blocks) {
    for (const Op& op : block.ops) {
      if (op.num_dst == 1 && ssa.is_value(op.dst[0])) constant[op.dst[0]] = constants.of(op);
    }
  }
  for (Block& block : program.blocks) {
    for (Op& op : block.ops) {
      uint32_t taken = kNone;
      bool free = takes_constant(op);
      for (int i = 0; i < op.num_src; ++i) {
        if (op.src[i].is_literal() && op.src[i].bits != 0 && !is_address_product(op)) free = false;
      }
      for (int i = 0; free && i < op.num_src; ++i) {
        Value& v = op.src[i];
        if (v.is_literal() || constant[v.var] == kNone) continue;
        if (taken != kNone && taken != constant[v.var]) continue;
        taken = constant[v.var];
        v = Value{kNoVar, v.wide, 0, taken};
      }
      for_each_use(op, [&](Var v) { ++readers[v]; });
    }
  }
  for (Block& block : program.blocks) {
    for (Op& op : block.ops) {
      if (op.num_dst == 1 && constant[op.dst[0]] != kNone && readers[op.dst[0]] == 0) op.kind = OpKind::kNop;
    }
    drop_nops(block);
  }
}

}  // namespace gpusim::isa::lir
