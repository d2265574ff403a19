// Selection of cp.async and mbarrier (isa/exec/async.h).
#include <algorithm>

#include "isa/exec/async.h"
#include "isa/lowering/select.h"
#include "isa/ptx/unsupported_spellings.h"

namespace gpusim::isa::lir {

namespace {

Space shared_or_generic(const Instruction& inst) {
  for (const std::string_view space : {"shared", "shared::cta", "shared::cluster"})
    if (has_word(inst, space)) return Space::kShared;
  return Space::kGeneric;
}

}  // namespace

/// Commits the warp's copies as a group, or waits for groups.
void Selector::async_group(const Instruction& inst) {
  Op op;
  op.kind = OpKind::kFence;
  op.op_class = OpClass::kNop;
  const bool bulk = has_word(inst, "bulk");
  op.imm = kAsyncCommit | (bulk ? kAsyncBulk : 0);
  // Sources are read when copies issue.
  if (bulk && has_word(inst, "read")) return emit_control(OpKind::kNop, OpClass::kNop);
  if (bulk && has_word(inst, "wait_group"))
    op.imm = kAsyncWait | kAsyncBulk | std::min<uint64_t>(inst.operands[0].imm, kAsyncBulk - 2);
  else if (has_word(inst, "wait_all"))
    op.imm = kAsyncWait | kAsyncWaitAll;
  else if (has_word(inst, "wait_group"))
    op.imm = kAsyncWait | std::min<uint64_t>(inst.operands[0].imm, kAsyncWaitAll - 1);
  emit(op);
}

/// cp.async.mbarrier.arrive: the arrival of the copies so far, which the warp waits for here. Without .noinc
/// it adds itself to those that the phase expects, so nothing changes.
void Selector::async_arrive(Frame& frame, const Instruction& inst) {
  Op wait;
  wait.kind = OpKind::kFence;
  wait.op_class = OpClass::kNop;
  wait.imm = kAsyncWait | kAsyncWaitAll;
  emit(wait);
  if (!has_word(inst, "noinc")) return;
  const auto where = address(frame, inst.operands[0], shared_or_generic(inst));
  if (!where) return;
  Op op = memory_op(OpKind::kAtomic, where->space, Type::kB64, true, *where, 1);
  op.op_class = OpClass::kAtomShared;
  op.mem = &execute_mbarrier;
  op.key = 0;
  op.imm = static_cast<uint64_t>(MbarrierAction::kArrive);
  op.src[op.num_src++] = Value{kNoVar, false, 1};
  emit(op);
}

void Selector::async_copy(Frame& frame, const Instruction& inst) {
  if (instruction_words(inst).front() == "createpolicy") {  // of hints that the machine has no use for
    const Var policy = destination(frame, inst.operands[0], Type::kB64);
    const Value any{kNoVar, true, 0};
    emit_form(form_key(Opcode::kMov, Type::kB64), {policy}, {&any, 1});
    return write_back(frame, inst.operands[0], Type::kB64, policy);
  }
  if (instruction_words(inst).front() == "prefetch")  // of a tensor map, which no cache holds here
    return emit_control(OpKind::kNop, OpClass::kNop);
  if (has_word(inst, "wait_all") || has_word(inst, "wait_group") || has_word(inst, "commit_group"))
    return async_group(inst);
  if (has_word(inst, "mbarrier")) return async_arrive(frame, inst);
  if (has_word(inst, "bulk")) return bulk_copy(frame, inst);
  if (inst.operands.size() < 3) return unsupported(inst, "this instruction");
  const auto to = address(frame, inst.operands[0], shared_or_generic(inst));
  const auto from = whole_address(frame, inst.operands[1], Space::kGlobal);
  if (!to || !from) return;
  const uint64_t bytes = inst.operands[2].imm;
  Op op = memory_op(OpKind::kLoad, to->space, bytes == 4 ? Type::kB32 : Type::kB64, bytes != 4, *to,
                    bytes == 16 ? 2 : 1);
  op.op_class = OpClass::kLoadGlobal;
  op.mem = &execute_async_copy;
  op.key = 0;
  op.imm = bytes;
  op.memory.asynchronous = true;
  op.memory.is_volatile = true;  // it writes to shared memory
  op.memory.bypasses_l1 = has_word(inst, "cg");
  op.src[op.num_src++] = *from;
  const bool hint = has_word(inst, "L2::cache_hint");
  if (inst.operands.size() > (hint ? 4u : 3u)) {
    const Operand& read = inst.operands[3];
    const Var v = read.kind == Operand::Kind::kRegister ? register_var(frame, read) : kNoVar;
    if (v != kNoVar && program_.vars[v] == VarClass::kPredicate) {
      op.imm |= kAsyncIgnores;
      op.pred_src[0] = v;
      op.pred_negated[0] = read.negated;
    } else {
      op.imm |= kAsyncHasSize;
      op.src[op.num_src++] = value(frame, read, Type::kU32);
    }
  }
  emit(op);
}

void Selector::mbarrier(Frame& frame, const Instruction& inst) {
  const auto has = [&](std::string_view word) { return has_word(inst, word); };
  if (has("pending_count")) {
    const Value state = value(frame, inst.operands[0 + 1], Type::kB64);
    const Var shifted = program_.new_var(VarClass::kRow64);
    constexpr uint64_t kPendingBit = 20;
    emit_form(form_key(Opcode::kShr, Type::kU64), {shifted},
              std::array{state, Value{kNoVar, false, kPendingBit}});
    const Value narrow = resized(Value{shifted, true, 0}, false);
    const Var result = destination(frame, inst.operands[0], Type::kB32);
    emit_form(form_key(Opcode::kAnd, Type::kB32), {result},
              std::array{narrow, Value{kNoVar, false, Mbarrier::kMostArrivals}});
    return write_back(frame, inst.operands[0], Type::kB32, result);
  }
  const bool tests = has("test_wait") || has("try_wait");
  const bool has_result = tests || inst.operands[0].kind != Operand::Kind::kAddress;
  const size_t at = has_result ? 1 : 0;
  const auto where = address(frame, inst.operands[at], shared_or_generic(inst));
  if (!where) return;
  Op op = memory_op(OpKind::kAtomic, where->space, Type::kB64, true, *where, 1);
  op.op_class = OpClass::kAtomShared;
  op.mem = &execute_mbarrier;
  op.key = 0;
  op.memory.cluster = has("shared::cluster");
  const bool expects = has("expect_tx");
  const MbarrierAction action = has("init")          ? MbarrierAction::kInit
                                : has("inval")       ? MbarrierAction::kInvalidate
                                : has("arrive_drop") ? MbarrierAction::kArriveDrop
                                : has("arrive")
                                    ? (expects ? MbarrierAction::kExpectArrive : MbarrierAction::kArrive)
                                : expects            ? MbarrierAction::kExpect
                                : has("complete_tx") ? MbarrierAction::kComplete
                                : has("parity")      ? MbarrierAction::kTestParity
                                                     : MbarrierAction::kTest;
  op.imm = static_cast<uint64_t>(action);
  if (action != MbarrierAction::kInvalidate) {
    const bool state = action == MbarrierAction::kTest;
    const bool given = inst.operands.size() > at + 1;
    op.src[op.num_src++] = given ? value(frame, inst.operands[at + 1], state ? Type::kB64 : Type::kB32)
                                 : Value{kNoVar, false, 1};
    op.modifiers = state ? 1 : 0;
  }
  Var result = kNoVar;
  if (tests) {
    op.pred_dst[0] = register_var(frame, inst.operands[0]);
  } else if (has_result && inst.operands[0].kind == Operand::Kind::kRegister) {
    result = destination(frame, inst.operands[0], Type::kB64);
    op.dst[op.num_dst++] = result;
  }
  emit(op);
  if (result != kNoVar) write_back(frame, inst.operands[0], Type::kB64, result);
}

}  // namespace gpusim::isa::lir
