// Selection of what blocks of a cluster do with each other: mapa, getctarank, barrier.cluster.
#include "isa/exec/cluster.h"
#include "isa/lowering/select.h"
#include "isa/ptx/unsupported_spellings.h"

namespace gpusim::isa::lir {

/// mapa d, a, rank; getctarank d, a.
void Selector::cluster_address(Frame& frame, const Instruction& inst) {
  const bool maps = instruction_words(inst).front() == "mapa";
  const Type address = has_word(inst, "u64") ? Type::kU64 : Type::kU32;
  const Type result = maps ? address : Type::kU32;
  Op op;
  op.kind = OpKind::kAlu;
  op.op_class = OpClass::kInt;
  op.exec = maps ? &execute_mapa : &execute_getctarank;
  op.type = address;
  op.imm = cluster_window(has_word(inst, "shared::cluster"));
  op.modifiers = address == Type::kU64 ? 1 : 0;
  op.src[op.num_src++] = value(frame, inst.operands[1], address);
  if (maps) op.src[op.num_src++] = value(frame, inst.operands[2], Type::kU32);
  const Var to = destination(frame, inst.operands[0], result);
  op.dst[op.num_dst++] = to;
  emit(op);
  write_back(frame, inst.operands[0], result, to);
}

void Selector::cluster_barrier(const Instruction& inst) {
  Op op;
  op.kind = OpKind::kBarrier;
  op.op_class = OpClass::kBarrier;
  const bool arrives = has_word(inst, "arrive");
  op.modifiers = static_cast<uint8_t>(arrives ? BarrierAction::kClusterArrive : BarrierAction::kClusterWait);
  if (has_word(inst, "relaxed")) op.imm = kClusterRelaxed;
  emit(op);
}

}  // namespace gpusim::isa::lir
