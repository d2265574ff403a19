// Selection of warp-wide operations, barriers and control flow.
#include <fmt/format.h>

#include <algorithm>

#include "isa/exec/async.h"
#include "isa/lowering/select.h"

namespace gpusim::isa::lir {

namespace {
/// MicroOp::imm flag of vote, match and redux: a member mask is the last source.
constexpr uint64_t kHasMembers = 0x100;
}  // namespace

void Selector::vote(Frame& frame, const Instruction& inst) {
  const bool ballot = inst.mods.lane_op == LaneOp::kBallot, sync = inst.mods.sync && inst.operands.size() > 2;
  if (inst.operands.size() < 2) return unsupported(inst, "this instruction");
  const Operand& source = inst.operands[1];
  const bool constant = source.kind == Operand::Kind::kImmediate;
  const Var p = constant ? kNoVar : predicate(frame, source);
  std::vector<Value> sources;
  if (sync) sources.push_back(value(frame, inst.operands[2], Type::kU32));
  Var dst = kNoVar;
  if (ballot) dst = destination(frame, inst.operands[0], Type::kB32);
  Op* op = emit_form(form_key(Opcode::kVote, ballot ? Type::kB32 : Type::kPred), {}, sources);
  if (op == nullptr) return;
  if (sync) op->kind = sync_kind();
  op->modifiers = static_cast<uint8_t>(inst.mods.lane_op);
  op->imm = (sync ? kHasMembers : 0) | (constant && (source.imm != 0) != source.negated ? 1 : 0);
  op->pred_src[0] = p;
  op->pred_negated[0] = p != kNoVar && source.negated;
  if (!ballot) {
    op->pred_dst[0] = register_var(frame, inst.operands[0]);
    return;
  }
  op->dst[op->num_dst++] = dst;
  write_back(frame, inst.operands[0], Type::kB32, dst);
}

/// shfl{.sync} d|p, a, b, c {, members}.
void Selector::shuffle(Frame& frame, const Instruction& inst) {
  if (inst.operands.size() < 4) return unsupported(inst, "this instruction");
  Value sources[4];
  const size_t count = std::min<size_t>(inst.operands.size() - 1, 4);
  for (size_t i = 0; i < count; ++i) sources[i] = value(frame, inst.operands[i + 1], Type::kB32);
  const Operand& d = inst.operands[0];
  const Var dst = destination(frame, d, Type::kB32);
  Op* op = emit_form(form_key(Opcode::kShfl, Type::kB32), {dst}, {sources, count});
  if (op == nullptr) return;
  if (count == 4) op->kind = sync_kind();
  op->modifiers = static_cast<uint8_t>(inst.mods.lane_op);
  if (d.reg2 != kNoRegister) op->pred_dst[0] = frame.registers[d.reg2];
  write_back(frame, d, Type::kB32, dst);
}

void Selector::match_or_redux(Frame& frame, const Instruction& inst) {
  const Operand& d = inst.operands[0];
  if (inst.opcode == Opcode::kActivemask) {
    const Var mask = destination(frame, d, Type::kB32);
    emit_form(form_key(Opcode::kActivemask, Type::kB32), {mask}, {});
    return write_back(frame, d, Type::kB32, mask);
  }
  if (inst.operands.size() < 3) return unsupported(inst, "this instruction");
  const bool match = inst.opcode == Opcode::kMatch;
  const Type type = inst.mods.type, result = match ? Type::kB32 : type;
  const Value sources[2] = {value(frame, inst.operands[1], type), value(frame, inst.operands[2], Type::kU32)};
  const uint32_t variant = match && inst.mods.lane_op == LaneOp::kAll ? kVarFull : 0;
  const Var dst = destination(frame, d, result);
  Op* op =
      emit_form(form_key(inst.opcode, match ? untyped(type) : type, Type::kNone, variant), {dst}, sources);
  if (op == nullptr) return;
  op->kind = sync_kind();
  op->imm = kHasMembers;
  op->modifiers = static_cast<uint8_t>(inst.mods.atom);
  if (d.reg2 != kNoRegister) op->pred_dst[0] = frame.registers[d.reg2];
  write_back(frame, d, result, dst);
}

/// elect.sync d|p, members: all lanes get the leader's number, the leader alone the predicate.
void Selector::elect(Frame& frame, const Instruction& inst) {
  if (inst.operands.size() < 2) return unsupported(inst, "this instruction");
  const Operand& d = inst.operands[0];
  const Value members = value(frame, inst.operands[1], Type::kU32);
  const Var leader = destination(frame, d, Type::kB32);
  Op* op = emit_form(form_key(Opcode::kElect, Type::kNone), {leader}, {&members, 1});
  if (op == nullptr) return;
  op->kind = sync_kind();
  op->imm = kHasMembers;
  if (d.reg2 != kNoRegister) op->pred_dst[0] = frame.registers[d.reg2];
  write_back(frame, d, Type::kB32, leader);
}

OpKind Selector::sync_kind() const {
  return options_.machine_capability >= 70 ? OpKind::kSync : OpKind::kAlu;
}

/// bar.warp.sync members: lanes below capability 7 are in step wherever they meet it.
void Selector::warp_barrier(Frame& frame, const Instruction& inst) {
  if (sync_kind() != OpKind::kSync) return emit_control(OpKind::kNop, OpClass::kNop);
  gather(value(frame, inst.operands[0], Type::kU32), true);
}

/// nanosleep t: of the durations that PTX leaves open, from none to twice t, the one that was asked for.
void Selector::sleep(Frame& frame, const Instruction& inst) {
  Op op;
  op.kind = OpKind::kFence;
  op.op_class = OpClass::kNop;
  op.imm = kSleeps;
  op.src[op.num_src++] = value(frame, inst.operands[0], Type::kU32);
  emit(op);
}

void Selector::fence(const Instruction& inst) {
  emit_control(OpKind::kFence, inst.mods.scope == Scope::kCta ? OpClass::kFenceBlock : OpClass::kFence);
}

/// ptxas 13 puts membar before an access that releases. For other blocks only: the warp's own block sees its
/// accesses in order.
void Selector::fence_before_release(const Instruction& inst, Space space) {
  const Semantics order = inst.mods.semantics;
  if (order != Semantics::kRelease && order != Semantics::kAcqRel) return;
  if (inst.mods.scope == Scope::kCta || inst.mods.scope == Scope::kNone) return;
  if (space == Space::kGlobal || space == Space::kGeneric) emit_control(OpKind::kFence, OpClass::kFence);
}

/// Independent lanes wait for the members.
void Selector::gather(const Value& members, bool orders_accesses) {
  if (sync_kind() != OpKind::kSync) return;
  Op op;
  op.only_gathers = !orders_accesses;
  op.kind = OpKind::kSync;
  op.op_class = OpClass::kWarp;
  op.src[op.num_src++] = members;
  emit(op);
}

/// bar.sync a {, b}; bar.arrive a, b; bar.red.op d, a {, b}, {!}p: a barrier's number and a count of threads.
void Selector::barrier(Frame& frame, const Instruction& inst) {
  const Modifiers& m = inst.mods;
  if (m.warp) return warp_barrier(frame, inst);
  Op op;
  op.kind = OpKind::kBarrier;
  op.op_class = OpClass::kBarrier;
  std::span<const Operand> operands = inst.operands;
  if (m.red) {
    const Operand& source = operands.back();
    const bool constant = source.kind == Operand::Kind::kImmediate;
    if (constant && (source.imm != 0) != source.negated) op.imm |= kBarrierConstant;
    if (!constant) op.pred_src[0] = predicate(frame, source);
    op.pred_negated[0] = !constant && source.negated;
    operands = operands.subspan(1, operands.size() - 2);
  }
  if (!operands.empty() && operands[0].kind != Operand::Kind::kImmediate) {
    op.src[op.num_src++] = value(frame, operands[0], Type::kU32);
    op.imm |= kBarrierNumberInSource;
  } else if (!operands.empty()) {
    const uint64_t number = operands[0].imm;
    if (number >= kNumBarriers)
      return error(operands[0].loc, fmt::format("barrier {} does not exist, expected 0 to 15", number));
    op.imm |= number;
  }
  if (operands.size() > 1) {
    op.src[op.num_src++] = value(frame, operands[1], Type::kU32);
    op.imm |= kBarrierHasCount;
  }
  emit_barrier(frame, inst, op);
}

void Selector::emit_barrier(Frame& frame, const Instruction& inst, Op op) {
  const Modifiers& m = inst.mods;
  BarrierAction action = m.arrive ? BarrierAction::kArrive : BarrierAction::kSync;
  if (m.red && m.popc) {
    const Var count = destination(frame, inst.operands[0], Type::kU32);
    op.modifiers = static_cast<uint8_t>(BarrierAction::kRedPopc);
    op.dst[op.num_dst++] = count;
    emit(op);
    return write_back(frame, inst.operands[0], Type::kU32, count);
  }
  if (m.red) {
    action = m.atom == AtomOp::kAnd ? BarrierAction::kRedAnd : BarrierAction::kRedOr;
    op.pred_dst[0] = register_var(frame, inst.operands[0]);
  }
  op.modifiers = static_cast<uint8_t>(action);
  emit(op);
}

/// exit ends the thread; ret does so in the kernel and goes to the block behind the call in an inlined
/// function, to the only return in a function with a frame.
void Selector::leave(Frame& frame, const Instruction& inst) {
  if (inst.opcode == Opcode::kRet && frame.return_block != kNone) {
    emit_control(OpKind::kBranch, OpClass::kBranch, frame.return_block);
  } else {
    emit_control(OpKind::kExit, OpClass::kExit);
  }
  if (guard_ == kNoVar) reachable_ = false;
  place(new_block());
}

void Selector::branch(Frame& frame, const Instruction& inst) {
  const std::string name = inst.operands.empty() ? std::string() : inst.operands[0].symbol;
  const auto it = frame.labels.find(name);
  if (it == frame.labels.end()) return error(inst.loc, fmt::format("branch to undefined label '{}'", name));
  emit_control(OpKind::kBranch, OpClass::kBranch, it->second);
  if (guard_ == kNoVar) reachable_ = false;
  place(new_block());
}

/// brx.idx index, table: one branch with a target for each lane.
void Selector::branch_table(Frame& frame, const Instruction& inst) {
  const LabelTable* table =
      inst.operands.size() < 2 ? nullptr : frame.function->find_table(inst.operands[1].symbol);
  if (table == nullptr || table->kind != LabelTable::Kind::kBranchTargets)
    return error(inst.loc, "'brx.idx' needs the label of a .branchtargets list");
  std::vector<uint32_t> blocks;
  for (const std::string& label : table->targets) {
    const auto it = frame.labels.find(label);
    if (it == frame.labels.end())
      return error(inst.loc, fmt::format("branch to undefined label '{}'", label));
    blocks.push_back(it->second);
  }
  Op op;
  op.kind = OpKind::kBranchTable;
  op.op_class = OpClass::kCall;
  op.src[op.num_src++] = value(frame, inst.operands[0], Type::kU32);
  op.target = static_cast<uint32_t>(program_.tables.size());
  program_.tables.push_back(std::move(blocks));
  emit(op);
  if (guard_ == kNoVar) reachable_ = false;
  place(new_block());
}

}  // namespace gpusim::isa::lir
