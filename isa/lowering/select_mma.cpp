// Selection of ldmatrix, stmatrix, movmatrix (isa/exec/matrix_move.h) and mma (isa/ptx/mma.h).
#include <bit>

#include "isa/exec/matrix_move.h"
#include "isa/lowering/select.h"
#include "isa/ptx/mma.h"
#include "isa/ptx/unsupported_spellings.h"

namespace gpusim::isa::lir {

void Selector::matrix_move(Frame& frame, const Instruction& inst) {
  constexpr Value kAllLanes{kNoVar, false, ~0u};
  gather(kAllLanes);
  if (inst.opcode == Opcode::kMovmatrix) {
    Op op;
    op.kind = OpKind::kAlu;
    op.op_class = OpClass::kWarp;
    op.exec = &execute_movmatrix;
    op.type = Type::kB32;
    op.whole_warp = true;
    op.src[op.num_src++] = value(frame, inst.operands[1], Type::kB32);
    op.dst[op.num_dst++] = destination(frame, inst.operands[0], Type::kB32);
    const Var result = op.dst[0];
    emit(op);
    return write_back(frame, inst.operands[0], Type::kB32, result);
  }
  const bool store = inst.opcode == Opcode::kStmatrix;
  const bool shared = has_word(inst, "shared") || has_word(inst, "shared::cta");
  const auto where = address(frame, inst.operands[store ? 0 : 1], shared ? Space::kShared : Space::kGeneric);
  if (!where) return;
  Op op = memory_op(store ? OpKind::kStore : OpKind::kLoad, where->space, Type::kB64, true, *where, 2);
  op.op_class = store ? OpClass::kStoreShared : OpClass::kLoadShared;
  op.mem = store ? &execute_stmatrix : &execute_ldmatrix;
  op.key = 0;
  op.memory.is_volatile = true;  // lanes read what others give the address of
  op.modifiers = has_word(inst, "trans") ? 1 : 0;
  op.whole_warp = true;
  const std::vector<Operand> parts = elements(frame, inst.operands[store ? 1 : 0]);
  if (parts.size() > op.dst.size()) return unsupported(inst, "these registers");
  for (const Operand& p : parts) {
    if (store)
      op.src[op.num_src++] = value(frame, p, Type::kB32);
    else
      op.dst[op.num_dst++] = destination(frame, p, Type::kB32);
  }
  const std::array<Var, 4> results = op.dst;
  emit(op);
  for (size_t i = 0; i < parts.size() && !store; ++i) write_back(frame, parts[i], Type::kB32, results[i]);
}

/// One micro-op of 16 x 8 results; m16n8k32 of 8-bit integers is two, along k. So that .satfinite clamps
/// once, the products are then summed up alone, which no 32 bits overflow, and saturating additions follow.
void Selector::mma(Frame& frame, const Instruction& inst) {
  const std::optional<MmaForm> form = mma_form(inst);
  if (!form) return unsupported(inst, "this form");
  constexpr Value kAllLanes{kNoVar, false, ~0u};
  gather(kAllLanes);
  const bool doubles = form->multiplicand == Type::kF64;
  const bool integers = form->multiplicand == Type::kU8 || form->multiplicand == Type::kS8;
  const Type word = doubles ? Type::kB64 : Type::kB32;
  const auto values = [&](size_t operand) {
    std::vector<Value> list;
    for (const Operand& o : elements(frame, inst.operands[operand])) list.push_back(value(frame, o, word));
    return list;
  };
  if (inst.operands.size() != 4) return unsupported(inst, "this instruction");
  std::vector<Value> a = values(1), b = values(2), sums = values(3);
  if (a.size() != form->a_registers || b.size() != form->b_registers || sums.size() != form->c_registers)
    return unsupported(inst, "these registers");
  if (!integers && !doubles) {  // what a smaller k lacks is zero
    const Value zero{kNoVar, false, 0};
    a.resize(4, zero);
    b.resize(2, zero);
  }
  const size_t steps = integers && form->a_registers == 4 ? 2 : 1;
  const bool clamps_behind = form->satfinite && steps == 2;
  WmmaSum sum = mma_sum(inst.mods, form->multiplicand, module_.target_sm);
  const std::vector<Value> addends = sums;
  if (clamps_behind) {
    sum.satfinite = 0;
    sums.assign(sums.size(), Value{kNoVar, false, 0});
  }
  const std::optional<Op> op =
      matrix_step(form_key(Opcode::kWmmaMma, form->multiplicand, form->d,
                           static_cast<uint32_t>(form->c) | (form->other_sign ? kMmaOtherSign : 0)),
                  form->d, sum);
  if (!op) return unsupported(inst, "this form");
  std::vector<Operand> parts = elements(frame, inst.operands[0]);
  if (parts.size() != form->d_registers) return unsupported(inst, "these registers");
  std::vector<Var> results;
  for (const Operand& p : parts) results.push_back(destination(frame, p, word));
  for (size_t s = 0; s < steps; ++s) {
    const bool last = s + 1 == steps;
    Op part = *op;
    const auto add = [&part](const std::vector<Value>& from, size_t first, size_t count) {
      for (size_t i = 0; i < count; ++i) part.src[part.num_src++] = from[first + i];
    };
    add(a, s * a.size() / steps, a.size() / steps);
    add(b, s * b.size() / steps, b.size() / steps);
    add(sums, 0, sums.size());
    for (size_t i = 0; i < results.size(); ++i)
      part.dst[part.num_dst++] = last && !clamps_behind ? results[i] : program_.new_var(class_of(word));
    for (size_t i = 0; i < results.size(); ++i) sums[i] = Value{part.dst[i], doubles, 0};
    emit(part);
  }
  // All before any result is written, which may be another one's addend.
  for (size_t i = 0; i < results.size() && clamps_behind; ++i) {
    const Value both[2] = {sums[i], addends[i]};
    const Var clamped = program_.new_var(class_of(word));
    emit_form(form_key(Opcode::kAdd, Type::kS32, Type::kNone, kVarSat), {clamped}, both);
    sums[i] = Value{clamped, false, 0};
  }
  for (size_t i = 0; i < results.size() && clamps_behind; ++i)
    emit_form(form_key(Opcode::kMov, word), {results[i]}, {&sums[i], 1});
  for (size_t i = 0; i < parts.size(); ++i) write_back(frame, parts[i], word, results[i]);
}

}  // namespace gpusim::isa::lir
