// Selection of cp.async.bulk.tensor and cp.reduce.async.bulk.tensor (isa/exec/tensor_copy.h).
#include "isa/exec/tensor_copy.h"
#include "isa/lowering/select.h"
#include "isa/ptx/unsupported_spellings.h"

namespace gpusim::isa::lir {

/// A loop of steps, each of which moves pieces of one lane's box.
void Selector::tensor_copy(Frame& frame, const Instruction& inst) {
  const bool loads = has_word(inst, "mbarrier::complete_tx::bytes");
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
  op.imm = (loads ? kTensorLoads : 0) | (multicast ? kTensorMulticast : 0) |
           static_cast<uint64_t>(reduces ? operation_of(inst) : AtomOp::kNone) << kTensorOperation |
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
  if (multicast) op.src[op.num_src++] = value(frame, inst.operands[3], Type::kU32);
  copy_loop(inst, op, moved, more);
  if (!jumps) emit_control(OpKind::kNop, OpClass::kNop);
  place(after);
  reachable_ = true;
}

}  // namespace gpusim::isa::lir
