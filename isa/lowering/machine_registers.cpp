// Registers per thread of the code that ptxas makes: what is alive, what the sequences and constants of
// operations need besides, and what it takes on top because there are enough. From 8.0 on, what it takes is
// in assign_registers.cpp.
#include <algorithm>

#include "isa/exec/device_services.h"
#include "isa/lowering/liveness.h"
#include "isa/lowering/machine_count.h"

namespace gpusim::isa::lir {

bool calls_system(const Op& op) {
  return (op.kind == OpKind::kAtomic && is_system_call(op.mem)) ||
         (op.kind == OpKind::kTrap && op.num_src == kAssertSources);
}

uint32_t least_registers(const Program& program) {
  constexpr uint32_t kWithSystemCalls = 24;
  for (const Block& block : program.blocks) {
    if (std::ranges::any_of(block.ops, calls_system)) return kWithSystemCalls;
  }
  return 0;
}

uint32_t own_registers(const Op& op) {
  constexpr uint32_t kOfTheSystem = 14;  // which it may overwrite
  if (op.kind == OpKind::kAtomic && calls_system(op)) return kOfTheSystem;
  if (op.kind != OpKind::kAlu) return 0;
  switch (op.op_class) {
    case OpClass::kIntDivU32:
    case OpClass::kIntDivS32:
      return op.src[1].is_literal() && op.src[1].launch_constant == kNone ? 1 : 5;
    case OpClass::kFp32DivRn:
    case OpClass::kFp32RcpRn:
      return 7;
    case OpClass::kFp32SqrtRn:
      return 3;
    case OpClass::kIntDiv64:
      return 13;
    // ptxas 13.0 for 7.5 gives 13 registers to a kernel with one reciprocal or reciprocal root of a double.
    case OpClass::kFp64Div:
      return static_cast<Opcode>(op.opcode()) == Opcode::kRcp ? 4 : 13;
    case OpClass::kFp64Sqrt:
      return static_cast<Opcode>(op.opcode()) == Opcode::kRsqrt ? 3 : 10;
    default:
      return 0;
  }
}

bool holds_constant(const Op& op, int source) {
  if (op.kind != OpKind::kAlu || op.op_class == OpClass::kWarp || own_registers(op) != 0) return false;
  const auto is_constant = [&op](int i) {
    return op.src[i].is_literal() && (op.src[i].bits != 0 || op.src[i].launch_constant != kNone);
  };
  // The one of the launch is the operand, or the last one.
  int operand = -1;
  for (int i = 0; i < op.num_src; ++i) {
    if (is_constant(i) && (operand < 0 || op.src[operand].launch_constant == kNone)) operand = i;
  }
  return is_constant(source) && source != operand;
}

uint32_t scratch_registers(const Op& op) {
  uint32_t registers = own_registers(op);
  for (int i = 0; i < op.num_src; ++i) registers += holds_constant(op, i) ? 1 : 0;
  return registers;
}

namespace {

/// The stack pointer; and what a kernel has that does nothing.
constexpr uint32_t kReserved = 1, kFewest = 4;
/// Code that calls through the stack: the registers that its calling convention hands to the callee.
constexpr uint32_t kWithCalls = 26;
/// So many registers are used before one is used again: what is written next does not wait for what reads it.
constexpr uint32_t kFresh = 12;
/// Of kernels that need no more than kFew: free registers in any case, and how many more are used before one
/// is used again, as long as there are so many values. Least mean error over the 60 such kernels that were
/// studied (docs/studies/compiler_history.md).
constexpr uint32_t kFew = 8, kFewFree = 4, kFewFresh = 6, kUncounted = 3;
/// With more values than that it goes on, slowly: one more for so many further ones, up to a limit.
constexpr uint32_t kPerFurther = 12, kFurther = 6;

/// Registers if each value had its own.
uint32_t without_reuse(const Program& program) {
  std::vector<bool> seen(program.vars.size(), false);
  uint32_t sum = 0;
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops)
      for_each_def(op, [&](Var v) {
        if (seen[v]) return;
        seen[v] = true;
        sum += register_width(program, v);
      });
  return sum;
}

}  // namespace

uint32_t block_registers(const Program& program, const std::vector<Op>& ops,
                         const std::vector<Segment>& segments, uint32_t through) {
  const std::vector<uint32_t> pressure = pressure_of(program, segments, through, 0, ops.size());
  uint32_t needed = 0;
  for (size_t i = 0; i < pressure.size(); ++i) {
    const uint32_t scratch = i / 2 < ops.size() ? scratch_registers(ops[i / 2]) : 0;
    needed = std::max(needed, pressure[i] + scratch + kReserved);
  }
  return needed;
}

uint32_t machine_registers(const Program& program, const Flow& flow) {
  return machine_registers(program, compute_liveness(program, flow));
}

uint32_t machine_registers(const Program& program, const Liveness& live) {
  uint32_t needed = 0;
  bool calls = program.is_function;
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    const std::vector<uint32_t> pressure = block_pressure(program, live, b);
    const std::vector<Op>& ops = program.blocks[b].ops;
    for (size_t i = 0; i < pressure.size(); ++i)
      needed = std::max(needed, pressure[i] + (i / 2 < ops.size() ? scratch_registers(ops[i / 2]) : 0));
    for (const Op& op : ops) calls = calls || op.kind == OpKind::kCall;
  }
  const uint32_t all = without_reuse(program) + kReserved;
  const uint32_t few =
      std::max(needed + kFewFree, std::min({all - std::min(all, kUncounted), needed + kFewFresh, kFresh}));
  const uint32_t fresh =
      std::min(all, kFresh) + std::min((all - std::min(all, kFresh)) / kPerFurther, kFurther);
  const bool small = program.machine_capability >= 70 && needed > 0 && needed <= kFew && !calls;
  return small ? few : std::max({needed + kReserved, fresh, kFewest, calls ? kWithCalls : 0});
}

}  // namespace gpusim::isa::lir
