// Atomic updates of one address by all lanes of a warp, done by one lane, as ptxas 13 does it for sm_75,
// sm_80 and sm_90 (found by experiment): where the address is the same in all lanes, integer additions of 32
// bits, of 64 bits if the value is the same too, and min, max, and, or and xor of 32 bits whose result nobody
// reads. It leaves alone what one lane does anyway, as far as it sees that (single_lane.h).
//
// What one lane needs comes before, and what the others need of its result after: a vote, who is first, how
// many there are; and where the values differ, their sum by redux (8.0 and up) or by five shuffles, the
// latter only if no lane is missing. The operations added here stand for those instructions: they take the
// same units and wait for each other in the same way. The access itself still updates lane after lane, so
// memory and results have the values they always had, and tells the memory system of one lane only
// (MemoryOperand::aggregation).
#include <algorithm>
#include <initializer_list>

#include "isa/lowering/lir.h"
#include "isa/lowering/single_lane.h"
#include "isa/lowering/uniformity.h"

namespace gpusim::isa::lir {
namespace {

constexpr int kReduxFrom = 80;  // compute capability x 10
constexpr int kShuffles = 5;    // halving distances of a warp

bool gives_sum(AtomOp o) { return o == AtomOp::kAdd; }
bool combines(AtomOp o) {
  return o == AtomOp::kMin || o == AtomOp::kMax || o == AtomOp::kAnd || o == AtomOp::kOr || o == AtomOp::kXor;
}

class Aggregator {
 public:
  Aggregator(Program& program, const Flow& flow, int capability, SimdLevel level)
      : program_(program),
        redux_(capability >= kReduxFrom),
        word_(find_form(form_key(Opcode::kXor, Type::kB32), level)),
        wide_(find_form(form_key(Opcode::kXor, Type::kB64), level)),
        product_(find_form(form_key(Opcode::kMul, Type::kU32, Type::kNone, kVarWide), level)),
        divergent_(find_divergence(program, flow).variables),
        single_(program, flow, divergent_) {}

  void run() {
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) {
      Block& block = program_.blocks[b];
      const bool any = std::any_of(block.ops.begin(), block.ops.end(),
                                   [](const Op& op) { return op.kind == OpKind::kAtomic; });
      if (!any) continue;
      std::vector<Op> ops;
      ops.swap(block.ops);
      out_ = &block.ops;
      lanes_ = Lanes{};
      for (Op& op : ops) {
        op.kind == OpKind::kAtomic && !single_.executes(b, op) ? atomic(op) : out_->push_back(op);
        bool gathers = op.kind == OpKind::kSync || op.kind == OpKind::kBarrier;  // others may join
        for_each_def(op, [&](Var v) { gathers = gathers || v == lanes_.guard; });
        if (gathers) lanes_ = Lanes{};
      }
    }
  }

 private:
  struct Sequence {
    MemoryOperand::Aggregation how = MemoryOperand::Aggregation::kNone;
    bool reduces = false;  ///< values that differ, or with redux any that are not counted
    bool counts = false;
  };

  /// What is known of the active lanes, and need not be asked again in the same block under the same guard.
  struct Lanes {
    Var guard = kNoVar;
    bool negated = false;
    Var vote = kNoVar, lane = kNoVar, first = kNoVar, is_first = kNoVar, count = kNoVar,
        none_missing = kNoVar;
    Var mask = kNoVar, before = kNoVar, rank = kNoVar;
  };

  void atomic(Op op) {
    const auto operation = static_cast<AtomOp>(op.modifiers);
    const bool system_call = op.key == 0;
    if (system_call || op.memory.elements != 1 || is_float(op.type) || op.memory.element_bytes < 4)
      return out_->push_back(op);
    if (counts_in_memory(op, operation)) {
      op.memory.aggregation = MemoryOperand::Aggregation::kEachAddress;
      return out_->push_back(op);
    }
    const Sequence sequence = sequence_of(op, operation);
    if (sequence.how == MemoryOperand::Aggregation::kNone) return out_->push_back(op);
    op.memory.aggregation = sequence.how;
    const bool used = op.num_dst != 0;
    place_ = &op;
    before(op, sequence, used);
    for (const Var v : awaited_) op.src[op.num_src++] = Value{v, program_.vars[v] == VarClass::kRow64, 0};
    if (!used) return out_->push_back(op);
    const Var result = op.dst[0];
    op.dst[0] = new_var(op.memory.element_bytes == 8);
    out_->push_back(op);
    after(op, result, sequence);
  }

  [[nodiscard]] Sequence sequence_of(const Op& op, AtomOp operation) const {
    using enum MemoryOperand::Aggregation;
    if (op.memory.has_base && differs(op.src[0])) return {};
    const bool word = op.memory.element_bytes == 4, used = op.num_dst != 0, same = !differs(value_of(op));
    if (gives_sum(operation)) {
      if (same) return {kAlways, false, true};
      if (!word) return {};
      return {redux_ && !used ? kAlways : kFullWarp, true, false};
    }
    if (!combines(operation) || used || !word) return {};
    return {redux_ ? kAlways : kFullWarp, redux_ || !same, false};
  }
  static const Value& value_of(const Op& op) { return op.src[op.memory.has_base ? 1 : 0]; }
  [[nodiscard]] bool differs(const Value& v) const { return !v.is_literal() && divergent_[v.var]; }

  /// Shared memory of 8.0 and up adds the number of a word's lanes itself (ATOMS.POPC.INC).
  [[nodiscard]] bool counts_in_memory(const Op& op, AtomOp operation) const {
    const Value& v = value_of(op);
    return redux_ && gives_sum(operation) && op.memory.space == Space::kShared && op.num_dst == 0 &&
           op.memory.element_bytes == 4 && v.is_literal() && v.bits == 1;
  }

  /// Up to the access; `awaited_` is what it waits for, the first of them as wide as its value.
  void before(const Op& op, const Sequence& sequence, bool used) {
    if (lanes_.guard != op.guard || lanes_.negated != op.guard_negated) lanes_ = {op.guard, op.guard_negated};
    const Value value = value_of(op);
    const Value vote = once(lanes_.vote, OpClass::kWarp, {}, {});
    const Value lane = once(lanes_.lane, OpClass::kInt, {}, {});
    if (sequence.how == MemoryOperand::Aggregation::kAlways) {
      const Value first = once(lanes_.first, OpClass::kBitCount, vote, {});
      awaited_ = {once(lanes_.is_first, OpClass::kInt, lane, first).var};
      if (sequence.counts) {
        const Value count = once(lanes_.count, OpClass::kBitCount, vote, {});
        awaited_.insert(awaited_.begin(), total(count, value, op.memory.element_bytes == 8));
        if (used) rank(vote);
      } else {
        awaited_.insert(awaited_.begin(), stand_in(OpClass::kWarp, value, {}));  // redux
      }
      return;
    }
    Value sum = once(lanes_.none_missing, OpClass::kInt, vote, {});
    awaited_ = {once(lanes_.is_first, OpClass::kInt, lane, sum).var};
    for (int i = 0; sequence.reduces && i < kShuffles; ++i) {
      const Value other = word(stand_in(OpClass::kWarp, i == 0 ? value : sum, {}));
      sum = word(stand_in(OpClass::kInt, sum, other));
    }
    awaited_.insert(awaited_.begin(), sum.var);
  }
  /// The operation unless there is its result from an access before.
  Value once(Var& known, OpClass c, const Value& a, const Value& b) {
    if (known == kNoVar) known = stand_in(c, a, b);
    return word(known);
  }
  /// The number of lanes times the value of each.
  Var total(const Value& count, const Value& value, bool wide) {
    if (!wide) {
      const bool one = value.is_literal() && value.bits == 1;
      return one ? count.var
                 : stand_in(OpClass::kIntMul, count, value.launch_constant == kNone ? value : Value{});
    }
    Op op = stand_in_op(OpClass::kIntMul64, *product_, {count, count});
    op.dst[0] = new_var(true);
    out_->push_back(op);
    return op.dst[0];
  }
  /// How many lanes come before this one: lanemask, and, popc.
  void rank(const Value& vote) {
    const Value mask = once(lanes_.mask, OpClass::kInt, {}, {});
    const Value before = once(lanes_.before, OpClass::kInt, mask, vote);
    once(lanes_.rank, OpClass::kBitCount, before, {});
  }

  /// From the access to the results of the lanes: shuffles of what the first lane got, and a sum.
  void after(const Op& op, Var result, const Sequence& sequence) {
    const bool wide = op.memory.element_bytes == 8;
    Value v{op.dst[0], wide, 0};
    for (int i = sequence.reduces ? 0 : 1; i < 2; ++i) v.var = stand_in(OpClass::kWarp, v, {}, wide);
    stand_in(wide ? OpClass::kIntMul64 : OpClass::kIntMul, v, {}, wide, result);
  }

  static Value word(Var v) { return Value{v, false, 0}; }
  Var new_var(bool wide = false) {
    const Var v = program_.new_var(wide ? VarClass::kRow64 : VarClass::kRow32);
    divergent_.push_back(true);
    return v;
  }

  /// An operation of a class that waits for `a` and `b`; it writes a ^ b.
  Var stand_in(OpClass c, Value a, Value b, bool wide = false, Var into = kNoVar) {
    a.wide = b.wide = wide;
    Op op = stand_in_op(c, wide ? *wide_ : *word_, {a, b});
    op.dst[0] = into != kNoVar ? into : new_var(wide);
    out_->push_back(op);
    return op.dst[0];
  }
  [[nodiscard]] Op stand_in_op(OpClass c, const SemanticRow& row,
                               std::initializer_list<Value> sources) const {
    Op op;
    op.kind = OpKind::kAlu;
    op.op_class = c;
    op.key = row.key;
    op.exec = row.exec;
    op.type = static_cast<Type>((row.key >> 40) & 0xff);
    op.guard = place_->guard;
    op.guard_negated = place_->guard_negated;
    op.ptx_index = place_->ptx_index;
    op.scope = place_->scope;
    for (const Value& v : sources) op.src[op.num_src++] = v;
    op.num_dst = 1;
    return op;
  }

  Program& program_;
  bool redux_;
  const SemanticRow *word_, *wide_, *product_;
  std::vector<bool> divergent_;
  const SingleLane single_;
  std::vector<Op>* out_ = nullptr;
  const Op* place_ = nullptr;  // the access
  std::vector<Var> awaited_;
  Lanes lanes_;
};

}  // namespace

void aggregate_atomics(Program& program, const Flow& flow, int capability, SimdLevel level) {
  const bool any = std::any_of(program.blocks.begin(), program.blocks.end(), [](const Block& block) {
    return std::any_of(block.ops.begin(), block.ops.end(),
                       [](const Op& op) { return op.kind == OpKind::kAtomic; });
  });
  if (any) Aggregator(program, flow, capability, level).run();
}

}  // namespace gpusim::isa::lir
