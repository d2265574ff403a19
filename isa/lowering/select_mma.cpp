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

namespace {

/// How the registers of a form lie in the operations that it consists of.
enum class Steps : uint8_t {
  kWhole,    ///< one of 16 x 8 results (wmma.inc)
  kDoubles,  ///< 8 x 8 results and four of k each, one along k behind the other
  kHalves,   ///< 8 x 8 results each (mma.inc)
  kQuads     ///< m8n8k4 of halves: four columns each
};

Steps steps_of(const MmaForm& f) {
  if (f.quads) return Steps::kQuads;
  if (f.multiplicand == Type::kF64) return Steps::kDoubles;
  const bool bytes = f.bits == 8 && !is_float8(f.multiplicand);
  const bool wide = f.bits >= 16 || (bytes && f.rows == 16 && f.a_registers == 2);
  return wide && !f.sparse ? Steps::kWhole : Steps::kHalves;
}

/// The operation of one step.
uint64_t key_of(const MmaForm& f, Steps steps, int target) {
  const uint32_t sign = f.other_sign ? kMmaOtherSign : 0;
  if (steps == Steps::kWhole || steps == Steps::kDoubles)
    return form_key(Opcode::kWmmaMma, f.multiplicand, f.d, static_cast<uint32_t>(f.c) | sign);
  if (steps == Steps::kQuads) return form_key(Opcode::kMma, f.multiplicand, f.d, static_cast<uint32_t>(f.c));
  // Only the tensor cores of sm_90 have 8-bit floating point for wgmma alone.
  constexpr int kOnlyGroups = 90;
  const bool native = is_float8(f.multiplicand) && !f.sparse && target != kOnlyGroups;
  return form_key(
      native ? Opcode::kWgmma : Opcode::kMma, f.multiplicand, f.d,
      sign | (f.bits == 4 ? kMmaFourBits : 0) | (f.sparse ? kMmaSparse : 0) | (f.differ ? kMmaXor : 0));
}

}  // namespace

/// The registers that a step takes: `a` from A and so on, with zeros for what a smaller k lacks.
struct Selector::MmaRegisters {
  std::vector<Value> a, b, sums, places;
  std::vector<Var> results;
};

void Selector::mma(Frame& frame, const Instruction& inst) {
  const std::optional<MmaForm> form = mma_form(inst);
  if (!form || inst.operands.size() != form->operands()) return unsupported(inst, "this form");
  constexpr Value kAllLanes{kNoVar, false, ~0u};
  gather(kAllLanes);
  const Type word = form->multiplicand == Type::kF64 ? Type::kB64 : Type::kB32;
  const auto values = [&](size_t operand) {
    std::vector<Value> list;
    for (const Operand& o : elements(frame, inst.operands[operand])) list.push_back(value(frame, o, word));
    return list;
  };
  MmaRegisters r{values(1), values(2), values(3), {}, {}};
  const std::vector<Operand> parts = elements(frame, inst.operands[0]);
  if (r.a.size() != form->a_registers || r.b.size() != form->b_registers ||
      r.sums.size() != form->c_registers || parts.size() != form->d_registers)
    return unsupported(inst, "these registers");
  constexpr size_t kPlaces = 4, kSelector = 5;
  if (form->sparse) r.places.push_back(value(frame, inst.operands[kPlaces], Type::kB32));
  for (const Operand& p : parts) r.results.push_back(destination(frame, p, word));

  const Steps steps = steps_of(*form);
  WmmaSum sum = mma_sum(inst.mods, form->multiplicand, module_.target_sm);
  sum.satfinite = form->satfinite ? 1 : 0;
  sum.layouts = (form->a_by_columns ? kAByColumns : 0) | (form->b_by_rows ? kBByRows : 0);
  if (form->sparse)
    sum.lane =
        static_cast<uint8_t>(static_cast<uint64_t>(inst.operands[kSelector].imm) * form->place_lanes % 4);
  const std::optional<Op> op = matrix_step(key_of(*form, steps, module_.target_sm), form->d, sum);
  if (!op) return unsupported(inst, "this form");
  if (steps == Steps::kWhole)
    wmma_emit({whole_step(*op, *form, r)}, r.results, false);
  else if (steps == Steps::kDoubles)
    wmma_emit(double_steps(*op, *form, r), r.results, true);
  else
    wmma_emit(half_steps(*op, *form, sum, r), r.results, false);
  for (size_t i = 0; i < parts.size(); ++i) write_back(frame, parts[i], word, r.results[i]);
}

Op Selector::whole_step(Op op, const MmaForm& form, const MmaRegisters& r) {
  constexpr Value kZero{kNoVar, false, 0};
  const bool floats = form.bits >= 16;
  const auto add = [&](const std::vector<Value>& from, size_t count) {
    for (size_t i = 0; i < count; ++i) op.src[op.num_src++] = i < from.size() ? from[i] : kZero;
  };
  add(r.a, floats ? 4 : 2);
  add(r.b, floats ? 2 : 1);
  add(r.sums, r.sums.size());
  for (const Var v : r.results) op.dst[op.num_dst++] = v;
  return op;
}

/// A's registers are eight rows, the eight below, then the same for further k; C's the two of eight rows.
std::vector<Op> Selector::double_steps(const Op& step, const MmaForm& form, const MmaRegisters& r) {
  std::vector<Op> ops;
  const size_t halves = form.rows / 8, count = r.b.size();
  for (size_t h = 0; h < halves; ++h) {
    Value sums[2] = {r.sums[2 * h], r.sums[2 * h + 1]};
    for (size_t k = 0; k < count; ++k) {
      Op op = step;
      for (const Value& v : {r.a[k * halves + h], r.b[k], sums[0], sums[1]}) op.src[op.num_src++] = v;
      for (size_t e = 0; e < 2; ++e) {
        op.dst[op.num_dst++] = k + 1 == count ? r.results[2 * h + e] : program_.new_var(VarClass::kRow64);
        sums[e] = Value{op.dst[e], true, 0};
      }
      ops.push_back(op);
    }
  }
  return ops;
}

/// Two operations, of which each has half of the results: eight rows, or (m8n8k4) four columns.
std::vector<Op> Selector::half_steps(const Op& step, const MmaForm& form, WmmaSum sum,
                                     const MmaRegisters& r) {
  constexpr Value kZero{kNoVar, false, 0};
  std::vector<Op> ops;
  const size_t halves = form.quads ? 2 : form.rows / 8;
  const size_t of_b = form.sparse ? 4 : 2, sums = r.sums.size() / halves, results = r.results.size() / halves;
  for (size_t h = 0; h < halves; ++h) {
    Op op = step;
    const auto add = [&](const std::vector<Value>& from, size_t i) {
      op.src[op.num_src++] = i < from.size() ? from[i] : kZero;
    };
    for (size_t i = 0; i < 2; ++i) add(r.a, form.quads ? i : i * halves + h);
    for (size_t i = 0; i < of_b; ++i) add(r.b, i);
    for (size_t i = 0; i < sums; ++i) add(r.sums, h * sums + i);
    if (form.sparse) add(r.places, 0);
    for (size_t i = 0; i < results; ++i) op.dst[op.num_dst++] = r.results[h * results + i];
    sum.lower = static_cast<uint8_t>(h);
    op.imm = std::bit_cast<uint64_t>(sum);
    ops.push_back(op);
  }
  return ops;
}

}  // namespace gpusim::isa::lir
