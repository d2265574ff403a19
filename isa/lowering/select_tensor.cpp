// Selection of cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and tensormap (isa/exec/tensor_copy.h).
#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "isa/exec/tensor_copy.h"
#include "isa/exec/tensor_map.h"
#include "isa/lowering/select.h"
#include "isa/ptx/unsupported_spellings.h"

namespace gpusim::isa::lir {

/// Values of 16 bits in one of 64, the first one lowest; what is no operand is 0.
Value Selector::packed_halves(Frame& frame, std::span<const Operand> operands) {
  Value packed{kNoVar, true, 0};
  const auto combined = [&](Opcode opcode, const Value& a, const Value& b) {
    const Var result = program_.new_var(VarClass::kRow64);
    const Value parts[] = {a, b};
    emit_form(form_key(opcode, Type::kB64), {result}, parts);
    return Value{result, true, 0};
  };
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].kind == Operand::Kind::kNone) continue;
    const Value half = combined(Opcode::kAnd, resized(value(frame, operands[i], Type::kU32), true),
                                Value{kNoVar, true, 0xffff});
    packed = combined(Opcode::kOr, packed, combined(Opcode::kShl, half, Value{kNoVar, false, 16 * i}));
  }
  return packed;
}

/// A loop of steps, each of which moves pieces of one lane's box.
void Selector::tensor_copy(Frame& frame, const Instruction& inst) {
  const bool loads = has_word(inst, "mbarrier::complete_tx::bytes");
  const bool im2col = has_word(inst, "im2col") || has_word(inst, "im2col_no_offs");
  const bool reduces = instruction_words(inst)[1] == "reduce",
             multicast = has_word(inst, "multicast::cluster");
  const Operand& tensor = inst.operands[loads ? 1 : 0];
  const std::vector<Operand>& coordinates = tensor.elements[0].elements;
  Op op;
  op.kind = loads ? OpKind::kLoad : reduces ? OpKind::kAtomic : OpKind::kStore;
  op.op_class = loads ? OpClass::kLoadGlobal : reduces ? OpClass::kAtomGlobal : OpClass::kStoreGlobal;
  op.mem = &execute_tensor_step;
  op.memory.space = Space::kGlobal;
  op.memory.asynchronous = true;
  op.memory.is_volatile = true;  // no other access knows what it reads and writes
  op.memory.bypasses_l1 = true;
  op.memory.element_bytes = 4;
  op.memory.elements = reduces ? 1 : 4;
  op.imm = (loads ? kTensorLoads : 0) | (multicast ? kTensorMulticast : 0) | (im2col ? kTensorIm2col : 0) |
           static_cast<uint64_t>(reduces ? named_reduction(inst) : AtomOp::kNone) << kTensorOperation |
           coordinates.size() << kTensorRank;
  const uint32_t after = new_block();
  const bool jumps = jump_over_call(after);
  const auto shared = whole_address(frame, inst.operands[loads ? 0 : 1], Space::kShared);
  const auto map = whole_address(frame, tensor, Space::kGeneric);
  if (!shared || !map) return;
  const Var moved = program_.new_var(VarClass::kRow32), more = program_.new_var(VarClass::kPredicate);
  for (const Value& v : {*shared, *map, Value{moved, false, 0}}) op.src[op.num_src++] = v;
  for (const Operand& c : coordinates) op.src[op.num_src++] = value(frame, c, Type::kU32);
  if (loads) {
    const auto barrier = whole_address(frame, inst.operands[2], Space::kShared);
    if (!barrier) return;
    op.src[op.num_src++] = *barrier;
  }
  if (loads && im2col) {
    std::vector<Operand> halves = inst.operands[3].elements;
    halves.insert(halves.begin(), multicast ? inst.operands[4] : Operand{});
    op.src[op.num_src++] = packed_halves(frame, halves);
  } else if (multicast) {
    op.src[op.num_src++] = value(frame, inst.operands[3], Type::kU32);
  }
  copy_loop(inst, op, moved, more);
  if (!jumps) emit_control(OpKind::kNop, OpClass::kNop);
  place(after);
  reachable_ = true;
}

namespace {

using Field = TensorMap::Field;
constexpr std::pair<std::string_view, Field> kFields[] = {{"global_address", Field::kAddress},
                                                          {"rank", Field::kRank},
                                                          {"box_dim", Field::kBox},
                                                          {"global_dim", Field::kSize},
                                                          {"global_stride", Field::kStride},
                                                          {"element_stride", Field::kStep},
                                                          {"elemtype", Field::kElement},
                                                          {"interleave_layout", Field::kInterleave},
                                                          {"swizzle_mode", Field::kSwizzle},
                                                          {"fill_mode", Field::kFill}};

}  // namespace

/// tensormap.replace [map], {dimension,} value; tensormap.cp_fenceproxy [to], [from], 128.
void Selector::tensor_map(Frame& frame, const Instruction& inst) {
  const bool copies = has_word(inst, "cp_fenceproxy");
  const Space space = copies || has_word(inst, "global") ? Space::kGlobal
                      : has_word(inst, "shared::cta")    ? Space::kShared
                                                         : Space::kGeneric;
  const auto where = address(frame, inst.operands[0], space);
  if (!where) return;
  Op op = memory_op(copies ? OpKind::kStore : OpKind::kAtomic, where->space, copies ? Type::kB32 : Type::kB64,
                    !copies, *where, 1);
  op.key = 0;
  op.memory.is_volatile = true;  // no other access knows what it reads and writes
  if (copies) {
    const auto from = whole_address(frame, inst.operands[1], Space::kShared);
    if (!from) return;
    op.src[op.num_src++] = *from;
    op.op_class = OpClass::kStoreGlobal;
    op.mem = &execute_tensormap_copy;
    op.whole_warp = true;
    emit(op);
    return emit_control(OpKind::kFence, OpClass::kFence);
  }
  const auto* const field =
      std::ranges::find_if(kFields, [&](const auto& f) { return has_word(inst, f.first); });
  if (field == std::end(kFields)) return unsupported(inst, "this field");
  const bool wide = field->second == Field::kAddress || field->second == Field::kStride;
  op.op_class = space == Space::kShared ? OpClass::kAtomShared : OpClass::kAtomGlobal;
  op.mem = &execute_tensormap_replace;
  op.imm = static_cast<uint64_t>(field->second) << kTensorField |
           (inst.operands.size() > 2 ? inst.operands[1].imm : 0);
  op.src[op.num_src++] = resized(value(frame, inst.operands.back(), wide ? Type::kU64 : Type::kU32), true);
  emit(op);
}

}  // namespace gpusim::isa::lir
