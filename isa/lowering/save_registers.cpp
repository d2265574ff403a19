// The caller's side of calls through the call stack: what lives across such a call is stored to the frame
// before it and loaded again behind it (the callee uses the same registers, perhaps as the same function one
// level deeper), and the stack pointer moves over the frame while the callee runs.
#include <array>

#include "isa/lowering/liveness.h"

namespace gpusim::isa::lir {
namespace {

Op arithmetic(uint64_t key, SimdLevel level) {
  const SemanticRow* row = find_form(key, level);
  Op op;
  op.key = key;
  op.kind = OpKind::kAlu;
  op.exec = row->exec;
  op.op_class = row->op_class;
  op.type = static_cast<Type>((key >> 40) & 0xff);
  return op;
}

/// Puts the statement's number into the helpers of the call `call`; the count stays with the call.
void attribute(std::vector<Op>& ops, const Op& call) {
  for (Op& op : ops) op.ptx_index = call.ptx_index;
}

class RegisterSaver {
 public:
  RegisterSaver(Program& program, const Flow& flow, SimdLevel level)
      : program_(program), live_(compute_liveness(program, flow)), level_(level) {}

  bool run() {
    slots_.assign(program_.vars.size(), kNone);
    size_t operations = 0;
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) {
      std::vector<Op>& ops = program_.blocks[b].ops;
      if (std::none_of(ops.begin(), ops.end(), [](const Op& op) { return op.kind == OpKind::kCall; }))
        continue;
      std::vector<Op> out;
      const std::vector<Segment> segments = all_segments(program_, live_, b);
      for (uint32_t i = 0; i < ops.size(); ++i) {
        if (ops[i].kind == OpKind::kCall)
          wrap(ops[i], segments, 2 * (live_.first_op[b] + i), out);
        else
          out.push_back(ops[i]);
        if (operations + out.size() > kMaxOps) return false;
      }
      operations += out.size();
      ops = std::move(out);
    }
    return true;
  }

 private:
  /// `segments`: of the block.
  void wrap(Op& call, const std::vector<Segment>& segments, uint32_t at, std::vector<Op>& out) {
    std::vector<Op> before, after;
    for (const Segment& s : segments) {
      if (s.begin > at || s.end <= at || s.var == program_.stack_pointer) continue;
      if (program_.vars[s.var] == VarClass::kPredicate)
        save_predicate(s.var, before, after);
      else
        save(s.var, s.var, before, after);
    }
    attribute(before, call);
    attribute(after, call);
    out.insert(out.end(), before.begin(), before.end());
    out.push_back(call);
    out.insert(out.end(), after.begin(), after.end());
  }

  void save(Var slot_of, Var v, std::vector<Op>& before, std::vector<Op>& after) {
    if (slots_[slot_of] == kNone)
      slots_[slot_of] = extend_frame(program_, program_.vars[v] == VarClass::kRow64 ? 8 : 4);
    before.push_back(frame_access(program_, OpKind::kStore, v, slots_[slot_of], level_));
    after.push_back(frame_access(program_, OpKind::kLoad, v, slots_[slot_of], level_));
  }

  void save_predicate(Var p, std::vector<Op>& before, std::vector<Op>& after) {
    const Var word = program_.new_var(VarClass::kRow32);
    Op select = arithmetic(form_key(Opcode::kSelp, Type::kB32), level_);
    select.dst[select.num_dst++] = word;
    select.src[select.num_src++] = Value{kNoVar, false, 1};
    select.src[select.num_src++] = Value{kNoVar, false, 0};
    select.pred_src[0] = p;
    before.push_back(select);
    save(p, word, before, after);
    Op compare =
        arithmetic(form_key(Opcode::kSetp, Type::kU32, Type::kNone, compare_variant(CompareOp::kNe)), level_);
    compare.src[compare.num_src++] = Value{word, false, 0};
    compare.src[compare.num_src++] = Value{kNoVar, false, 0};
    compare.pred_dst[0] = p;
    after.push_back(compare);
  }

  Program& program_;
  const Liveness live_;
  SimdLevel level_;
  std::vector<uint32_t> slots_;  // of the variables that were there at the start
};

}  // namespace

uint32_t extend_frame(Program& program, uint32_t bytes) {
  const uint32_t offset = (program.local_bytes + bytes - 1) / bytes * bytes;
  program.local_bytes = offset + bytes;
  return offset;
}

Op frame_access(const Program& program, OpKind kind, Var v, uint32_t offset, SimdLevel level) {
  const bool wide = program.vars[v] == VarClass::kRow64, load = kind == OpKind::kLoad;
  Op op;
  op.kind = kind;
  op.op_class = load ? OpClass::kLoadLocal : OpClass::kStoreLocal;
  op.type = wide ? Type::kU64 : Type::kU32;
  op.key = form_key(load ? Opcode::kLd : Opcode::kSt, op.type, wide ? Type::kB64 : Type::kB32);
  op.mem = find_form(op.key, level)->mem;
  op.memory.space = Space::kLocal;
  op.memory.type = op.type;
  op.memory.element_bytes = wide ? 8 : 4;
  op.memory.offset = offset;
  op.memory.is_spill = true;
  if (program.is_function) {
    op.memory.has_base = true;
    op.src[op.num_src++] = Value{program.stack_pointer, false, 0};
  }
  if (load)
    op.dst[op.num_dst++] = v;
  else
    op.src[op.num_src++] = Value{v, wide, 0};
  return op;
}

bool save_registers(Program& program, const Flow& flow, SimdLevel level) {
  return RegisterSaver(program, flow, level).run();
}

void adjust_stack_pointer(Program& program, SimdLevel level) {
  const Var sp = program.stack_pointer;
  const Value frame{kNoVar, false, program.local_bytes};
  Op enter, leave;
  if (program.is_function) {
    enter = arithmetic(form_key(Opcode::kAdd, Type::kU32), level);
    enter.src[enter.num_src++] = Value{sp, false, 0};
    enter.src[enter.num_src++] = frame;
    leave = arithmetic(form_key(Opcode::kSub, Type::kU32), level);
    leave.src = enter.src;
    leave.num_src = enter.num_src;
    leave.dst[leave.num_dst++] = sp;
  } else {  // the kernel's frame is at a fixed place
    enter = arithmetic(form_key(Opcode::kMov, Type::kB32), level);
    enter.src[enter.num_src++] = frame;
  }
  enter.dst[enter.num_dst++] = sp;
  for (Block& block : program.blocks) {
    std::vector<Op> out;
    for (Op& op : block.ops) {
      if (op.outgoing) op.memory.offset += program.local_bytes;
      if (op.kind != OpKind::kCall) {
        out.push_back(op);
        continue;
      }
      enter.ptx_index = leave.ptx_index = op.ptx_index;
      out.push_back(enter);
      op.src[1] = op.src[0];
      op.src[0] = Value{sp, false, 0};
      ++op.num_src;
      out.push_back(op);
      if (program.is_function) out.push_back(leave);
    }
    block.ops = std::move(out);
  }
}

}  // namespace gpusim::isa::lir
