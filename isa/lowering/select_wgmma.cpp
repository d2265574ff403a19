// Selection of wgmma (isa/ptx/wgmma.h): for each 16 columns (with a sparse A: for each 8) one load of B's
// registers, then the operations that mma consists of: 16 x 8 results, or with elements of 8 bits and of one,
// and if A is sparse, two of 8 x 8. They are done in
// the order in which they are issued, and who reads a result waits for it. On the hardware the four warps
// multiply together: at fences and waits, the warps of a group wait for each other, so that what one of them
// has stored is there for all, and none stores to what another one has still to read. A wait
// for groups also takes until their last step is done.
#include <bit>

#include "isa/exec/wgmma.h"
#include "isa/lowering/select.h"
#include "isa/ptx/unsupported_spellings.h"
#include "isa/ptx/wgmma.h"

namespace gpusim::isa::lir {

/// `count` registers of a matrix in shared memory.
std::vector<Value> Selector::wgmma_load(const Value& descriptor, const WgmmaTile& tile, size_t count) {
  Op op;
  op.kind = OpKind::kLoad;
  op.op_class = OpClass::kWgmmaLoad;
  op.mem = &execute_wgmma_load;
  op.memory.space = Space::kShared;
  op.memory.is_volatile = true;  // no other access knows what it reads
  op.memory.element_bytes = 4;
  op.whole_warp = true;
  op.imm = std::bit_cast<uint64_t>(tile);
  op.src[op.num_src++] = descriptor;
  std::vector<Value> registers;
  for (size_t i = 0; i < count; ++i) {
    op.dst[op.num_dst++] = program_.new_var(VarClass::kRow32);
    registers.push_back(Value{op.dst[i], false, 0});
  }
  emit(op);
  return registers;
}

void Selector::wgmma(Frame& frame, const Instruction& inst) {
  constexpr Value kAllLanes{kNoVar, false, ~0u};
  const std::string_view action = instruction_words(inst)[1];
  if (action == "commit_group") {
    Op op;
    op.kind = OpKind::kFence;
    op.op_class = OpClass::kNop;
    op.imm = kCommitsMatrices;
    emit(op);
    return;
  }
  if (action != "mma_async") {
    Op op;
    op.kind = OpKind::kBarrier;
    op.op_class = OpClass::kBarrier;
    op.imm = kBarrierOfWarpgroup;
    if (action == "wait_group")
      op.imm |= kBarrierAfterMatrices | static_cast<uint64_t>(inst.operands[0].imm) << kMatrixGroupsShift;
    emit(op);
    return;
  }
  const std::optional<WgmmaForm> form = wgmma_form(inst);
  if (!form || inst.operands.size() != form->operands()) return unsupported(inst, "this form");
  gather(kAllLanes);
  const auto flag = [&](size_t operand) { return static_cast<int64_t>(inst.operands[operand].imm); };
  const size_t order = form->signs() + 2;
  const bool a_transposed = form->has_order && !form->a_in_registers && flag(order) != 0;
  const bool b_transposed = form->has_order && flag(inst.operands.size() - 1) != 0;
  const bool wide = form->a == Type::kF16 || form->a == Type::kBF16 || form->a == Type::kTF32;
  const bool in_halves = form->sparse || !wide;

  WmmaSum sum = mma_sum(inst.mods, form->a, module_.target_sm);
  sum.satfinite = form->satfinite ? 1 : 0;
  sum.negated = form->has_signs && (flag(form->signs()) < 0) != (flag(form->signs() + 1) < 0) ? 1 : 0;
  const uint32_t variant = (form->a == form->b ? 0 : kMmaOtherSign) | (form->sparse ? kMmaSparse : 0);
  if (form->sparse)
    sum.lane =
        static_cast<uint8_t>(static_cast<size_t>(flag(WgmmaForm::kSelector)) * form->place_lanes() % 4);
  std::optional<Op> step = matrix_step(form_key(Opcode::kWgmma, form->a, form->d, variant), form->d, sum);
  if (!step) return unsupported(inst, "this form");
  Op& op = *step;

  const Operand& scale = inst.operands[form->scale()];
  const bool constant = scale.kind == Operand::Kind::kImmediate;
  const bool clears = constant && scale.imm == 0;
  if (!constant) op.pred_src[0] = predicate(frame, scale);
  op.pred_negated[0] = scale.negated;

  std::vector<Value> a;
  if (form->a_in_registers) {
    for (const Operand& o : inst.operands[1].elements) a.push_back(value(frame, o, Type::kB32));
  } else {
    WgmmaTile tile;
    tile.of_a = true;
    tile.transposed = a_transposed;
    a = wgmma_load(value(frame, inst.operands[1], Type::kB64), tile, 4);
  }
  const std::vector<Operand> parts = elements(frame, inst.operands[0]);
  if (a.size() != 4 || parts.size() != form->d_registers()) return unsupported(inst, "these registers");
  std::vector<Value> sums;
  std::vector<Var> results;
  for (const Operand& p : parts) {
    sums.push_back(clears ? Value{kNoVar, false, 0} : value(frame, p, Type::kB32));
    results.push_back(destination(frame, p, Type::kB32));
  }
  const Value descriptor = value(frame, inst.operands[2], Type::kB64);
  const Value places =
      form->sparse ? value(frame, inst.operands[WgmmaForm::kPlaces], Type::kB32) : Value{kNoVar, false, 0};
  const size_t tiles = form->columns / 8, per_tile = parts.size() / tiles, halves = in_halves ? 2 : 1;
  std::vector<Value> b;
  for (size_t t = 0; t < tiles; ++t) {
    if (form->sparse || t % 2 == 0) {
      WgmmaTile tile;
      tile.block = static_cast<uint8_t>(t);
      tile.transposed = b_transposed;
      tile.wide = form->sparse;
      b = wgmma_load(descriptor, tile, form->sparse || t + 1 < tiles ? 4 : 2);
    }
    for (size_t h = 0; h < halves; ++h) {
      Op part = op;
      sum.lower = static_cast<uint8_t>(h);
      part.imm = std::bit_cast<uint64_t>(sum);
      for (size_t i = h; i < 4; i += halves) part.src[part.num_src++] = a[i];
      for (size_t i = 0; i < (form->sparse ? 4 : 2); ++i)
        part.src[part.num_src++] = b[form->sparse ? i : t % 2 * 2 + i];
      const size_t count = per_tile / halves;
      for (size_t i = t * per_tile + h * count; i < t * per_tile + (h + 1) * count; ++i) {
        part.src[part.num_src++] = sums[i];
        part.dst[part.num_dst++] = results[i];
      }
      if (form->sparse) part.src[part.num_src++] = places;
      emit(part);
    }
  }
  for (size_t i = 0; i < parts.size(); ++i) write_back(frame, parts[i], Type::kB32, results[i]);
}

}  // namespace gpusim::isa::lir
