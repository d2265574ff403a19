// Selection of cp.async.bulk, cp.reduce.async.bulk, st.async and red.async (isa/exec/bulk.h).
#include <algorithm>

#include "isa/exec/async.h"
#include "isa/exec/bulk.h"
#include "isa/exec/semantics/table.h"
#include "isa/lowering/select.h"
#include "isa/ptx/unsupported_spellings.h"

namespace gpusim::isa::lir {

namespace {

Type type_of(const Instruction& inst) { return type_from_name(instruction_words(inst).back()); }

}  // namespace

/// The whole address as a value of 64 bits.
std::optional<Value> Selector::whole_address(Frame& frame, const Operand& operand, Space space) {
  const auto where = address(frame, operand, space);
  if (!where) return std::nullopt;
  const Value offset{kNoVar, true, static_cast<uint64_t>(where->offset)};
  if (!where->has_base) return offset;
  const Value base = resized(where->base, true);
  if (where->offset == 0) return base;
  const Var sum = program_.new_var(VarClass::kRow64);
  const Value parts[2] = {base, offset};
  emit_form(form_key(Opcode::kAdd, Type::kU64), {sum}, parts);
  return Value{sum, true, 0};
}

/// Waits for what goes to other blocks, and tells their mbarrier then.
void Selector::complete_remote(Frame& frame, const Operand& barrier, const Value& bytes) {
  Op wait;
  wait.kind = OpKind::kFence;
  wait.op_class = OpClass::kNop;
  wait.imm = kAsyncRemote;
  emit(wait);
  const auto where = address(frame, barrier, Space::kShared);
  if (!where) return;
  Op op = memory_op(OpKind::kAtomic, where->space, Type::kB64, true, *where, 1);
  op.op_class = OpClass::kAtomShared;
  op.mem = &execute_mbarrier;
  op.key = 0;
  op.memory.cluster = true;
  op.imm = static_cast<uint64_t>(MbarrierAction::kComplete);
  op.src[op.num_src++] = bytes;
  emit(op);
}

/// Steps of `op` until they have moved all: `moved` has the bytes so far.
void Selector::copy_loop(const Instruction& inst, Op op, Var moved, Var more) {
  op.dst[op.num_dst++] = moved;
  op.pred_dst[0] = more;
  const Value zero{kNoVar, false, 0};
  emit_form(form_key(Opcode::kMov, Type::kB32), {moved}, {&zero, 1});
  const uint32_t loop = new_block();
  place(loop);
  program_.blocks[loop].no_unroll = true;
  begin_helpers(&inst);
  // A branch takes longer than a step, and a step with nothing to do next to no time.
  constexpr int kSteps = 4;
  for (int i = 0; i < kSteps; ++i) emit(op);
  guard_ = more;
  guard_negated_ = false;
  emit_control(OpKind::kBranch, OpClass::kBranch, loop);
  place(new_block());
  begin_helpers(&inst);
}

/// A loop of steps, each of which moves a piece of one lane's copy.
void Selector::bulk_copy(Frame& frame, const Instruction& inst) {
  const auto has = [&](std::string_view word) { return has_word(inst, word); };
  if (has("prefetch")) return emit_control(OpKind::kNop, OpClass::kNop);
  if (has("tensor")) return tensor_copy(frame, inst);
  const std::vector<std::string_view> words = instruction_words(inst);
  const bool reduces = words[1] == "reduce";
  if (reduces && find_reduction(type_of(inst), named_reduction(inst)) == nullptr)
    return unsupported(inst, "this reduction");
  const size_t source = reduces ? 5 : 4;  // cp.async.bulk.TO.FROM, cp.reduce.async.bulk.TO.FROM
  const bool from_global = words.size() > source && words[source] == "global";
  const bool to_global = !from_global && has("global"), multicast = has("multicast::cluster");
  const bool arrives = has("mbarrier::complete_tx::bytes");
  Op op;
  op.kind = from_global ? OpKind::kLoad : reduces && to_global ? OpKind::kAtomic : OpKind::kStore;
  op.memory.space = from_global || to_global ? Space::kGlobal : Space::kShared;
  op.op_class = from_global  ? OpClass::kLoadGlobal
                : !to_global ? OpClass::kStoreShared
                : reduces    ? OpClass::kAtomGlobal
                             : OpClass::kStoreGlobal;
  op.mem = &execute_bulk_step;
  op.memory.asynchronous = true;
  op.memory.is_volatile = true;  // no other access knows what it reads and writes
  op.memory.bypasses_l1 = true;
  op.imm = (from_global ? kBulkFromGlobal : 0) | (to_global ? kBulkToGlobal : 0) |
           (multicast ? kBulkMulticast : 0) | (arrives && from_global ? kBulkArrives : 0) |
           (reduces ? kBulkReduces | static_cast<uint64_t>(named_reduction(inst)) << kBulkOperation |
                          static_cast<uint64_t>(type_of(inst)) << kBulkType
                    : 0);
  op.memory.element_bytes = reduces && type_bytes(type_of(inst)) == 8 ? 8 : 4;
  op.memory.elements = reduces ? 1 : 4;
  const uint32_t after = new_block();
  const bool jumps = jump_over_call(after);
  const auto to = whole_address(frame, inst.operands[0], to_global ? Space::kGlobal : Space::kShared);
  const auto from = whole_address(frame, inst.operands[1], from_global ? Space::kGlobal : Space::kShared);
  if (!to || !from) return;
  const Value bytes = value(frame, inst.operands[2], Type::kU32);
  const Var moved = program_.new_var(VarClass::kRow32), more = program_.new_var(VarClass::kPredicate);
  for (const Value& v : {*to, *from, bytes, Value{moved, false, 0}}) op.src[op.num_src++] = v;
  if (arrives && from_global) {
    const auto barrier = whole_address(frame, inst.operands[3], Space::kShared);
    if (!barrier) return;
    op.src[op.num_src++] = *barrier;
  }
  if (multicast) op.src[op.num_src++] = value(frame, inst.operands[4], Type::kU32);
  copy_loop(inst, op, moved, more);
  if (arrives && !from_global) complete_remote(frame, inst.operands[3], bytes);
  if (!jumps) emit_control(OpKind::kNop, OpClass::kNop);
  place(after);
  reachable_ = true;
}

/// st.async [a], b, [mbarrier]; red.async [a], b, [mbarrier]: a store or an atomic operation, and the bytes
/// that the mbarrier is told of. The warp waits here until they are there.
void Selector::remote_store(Frame& frame, const Instruction& inst) {
  Instruction access = inst;
  access.mods = {};
  access.mods.space = Space::kShared;
  access.mods.cluster = true;
  access.mods.vector = has_word(inst, "v4") ? 4 : has_word(inst, "v2") ? 2 : 1;
  access.mods.type = type_of(inst);
  access.mods.atom = named_reduction(inst);
  if (access.mods.atom == AtomOp::kAdd) access.mods.type = unsigned_of(access.mods.type);  // the same sum
  access.operands.resize(2);
  const bool reduces = instruction_words(inst).front() == "red";
  access.opcode = reduces ? Opcode::kRed : Opcode::kSt;
  reduces ? atomic(frame, access) : load_store(frame, access);
  const auto bytes = static_cast<uint64_t>(type_bytes(access.mods.type)) * access.mods.vector;
  complete_remote(frame, inst.operands[2], Value{kNoVar, false, bytes});
}

}  // namespace gpusim::isa::lir
