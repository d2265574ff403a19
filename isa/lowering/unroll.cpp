// Unrolls the innermost loops as ptxas does (compute capability 7.0 and up): a block that branches back to
// itself while a counter with a constant step has not come to its end becomes, in front of itself,
//   four:  four iterations in one block, repeated while at least four are left
//   two:   two iterations, if at least two are left
// and the loop as it was does the rest. Only the test between iterations goes: how many are certain is
// decided by the distance of counter and end, without overflow, so that every thread does the same iterations
// with the same values whatever they are. The PTX count of an iteration stays in it. Loops that the program
// asks to leave alone (.pragma "nounroll"), that read a clock, synchronise, call or have an atomic, and large
// ones stay.
#include <algorithm>

#include "isa/lowering/lir.h"
#include "isa/lowering/machine_count.h"

namespace gpusim::isa::lir {
namespace {

/// What an iteration may cost, see Unroller::cost(): more with each load from shared memory, up to a limit,
/// or with a load from global memory. By experiment with ptxas 13.0, the same for sm_75, sm_80 and sm_90:
/// bodies of up to 18 FMA; with n loads from shared memory 20, 22, 26, 34, 42, 48 and 36 FMA for n = 1, 2, 4,
/// 8, 12, 16 and 20, besides one FMA for each load; with n from global memory 43, 40, 34, 28 and 22 for n =
/// 1, 2, 4, 6 and 8; with one from global and 1, 2, 4 and 8 from shared memory 40, 37, 31 and 31.
constexpr uint32_t kBudget = 18, kBudgetPerShared = 5, kMostBudget = 96, kBudgetWithGlobal = 46;
constexpr uint32_t kFour = 4, kTwo = 2;

/// Reads of a clock, operations between lanes, and those that are a subroutine.
bool takes_long(OpClass c) {
  switch (c) {
    case OpClass::kSpecial:
    case OpClass::kWarp:
    case OpClass::kIntDiv64:
    case OpClass::kFp32DivRn:
    case OpClass::kFp32SqrtRn:
    case OpClass::kFp32RcpRn:
    case OpClass::kFp64Div:
    case OpClass::kFp64Sqrt:
      return true;
    default:
      return false;
  }
}

struct Loop {
  size_t compare = 0;  ///< the op of the block that decides
  CompareOp relation = CompareOp::kNone;
  Type type = Type::kNone;
  Value counter, end;
  int64_t step = 0;
};

class Unroller {
 public:
  Unroller(Program& program, const Flow& flow, SimdLevel level)
      : program_(program), level_(level), sizes_(block_instructions(program, flow)) {}

  void run() {
    const auto blocks = static_cast<uint32_t>(program_.blocks.size());
    std::vector<uint32_t> place(blocks), again(blocks);  // where a block went, for others and for itself
    std::vector<Block> old = std::move(program_.blocks);
    program_.blocks.clear();
    for (uint32_t b = 0; b < blocks; ++b) {
      place[b] = static_cast<uint32_t>(program_.blocks.size());
      Loop loop;
      if (b + 1 < blocks && recognise(old[b], b, loop)) emit(old[b], loop, b);
      again[b] = static_cast<uint32_t>(program_.blocks.size());
      program_.blocks.push_back(std::move(old[b]));
    }
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) {
      for (Op& op : program_.blocks[b].ops) {
        if (op.kind != OpKind::kBranch) continue;
        if ((op.target & kPlaced) != 0)
          op.target &= ~kPlaced;
        else
          op.target = again[op.target] == b ? b : place[op.target];
      }
    }
    for (std::vector<uint32_t>& table : program_.tables) {
      for (uint32_t& target : table) target = place[target];
    }
  }

 private:
  static constexpr uint32_t kPlaced = 1u << 31;  // of a target: the number of a new block

  /// In instructions, of an iteration without what counts and tests: accesses to memory are two.
  uint32_t cost(const Block& block, uint32_t b) const {
    uint32_t accesses = 0, steps = 2;  // the test and the branch
    for (const Op& op : block.ops) {
      if (op.is_memory() && op.memory.space != Space::kParam && op.memory.space != Space::kConst) ++accesses;
      if (op.kind == OpKind::kAlu && static_cast<Opcode>(op.opcode()) == Opcode::kAdd && op.num_src == 2 &&
          !op.src[0].is_literal() && op.src[0].var == op.dst[0] && op.src[1].is_literal())
        steps += type_bytes(op.type) == 8 ? 2 : 1;
    }
    return sizes_[b] + accesses - std::min(steps, sizes_[b]);
  }
  static uint32_t budget(const Block& block) {
    uint32_t most = kBudget;
    bool global = false;
    for (const Op& op : block.ops) {
      if (op.kind != OpKind::kLoad) continue;
      if (op.memory.space == Space::kShared) most += kBudgetPerShared;
      global = global || op.memory.space == Space::kGlobal || op.memory.space == Space::kGeneric;
    }
    return std::min(std::max(most, global ? kBudgetWithGlobal : 0), kMostBudget);
  }

  bool recognise(const Block& block, uint32_t b, Loop& loop) const {
    const std::vector<Op>& ops = block.ops;
    if (block.no_unroll || ops.size() < 3) return false;
    const Op& last = ops.back();
    if (last.kind != OpKind::kBranch || last.guard == kNoVar || last.guard_negated || last.target != b)
      return false;
    for (size_t i = 0; i + 1 < ops.size(); ++i) {
      const Op& op = ops[i];
      const bool plain = op.kind == OpKind::kAlu || op.kind == OpKind::kLoad || op.kind == OpKind::kStore;
      if (op.kind != OpKind::kNop && (!plain || op.whole_warp || takes_long(op.op_class))) return false;
    }
    return find_compare(ops, loop) && find_step(ops, loop) && cost(block, b) <= budget(block);
  }

  static bool find_compare(const std::vector<Op>& ops, Loop& loop) {
    const Var guard = ops.back().guard;
    size_t writers = 0;
    for (size_t i = 0; i < ops.size(); ++i) {
      for_each_def(ops[i], [&](Var v) {
        if (v != guard) return;
        ++writers;
        loop.compare = i;
      });
    }
    const Op& op = ops[loop.compare];
    if (writers != 1 || op.kind != OpKind::kAlu || static_cast<Opcode>(op.opcode()) != Opcode::kSetp ||
        op.guard != kNoVar || op.imm != 0 || op.pred_dst[0] != guard || op.pred_dst[1] != kNoVar)
      return false;
    loop.type = op.type;
    loop.relation = static_cast<CompareOp>(static_cast<uint32_t>(op.key) >> kVarCompareShift);
    loop.counter = op.src[0];
    loop.end = op.src[1];
    return (loop.type == Type::kS32 || loop.type == Type::kU32) && !loop.counter.is_literal();
  }

  /// The counter is written once, by adding a constant before the comparison; the end never.
  static bool find_step(const std::vector<Op>& ops, Loop& loop) {
    size_t writers = 0, at = 0;
    bool end_moves = false;
    for (size_t i = 0; i < ops.size(); ++i) {
      for_each_def(ops[i], [&](Var v) {
        if (v == loop.counter.var) {
          ++writers;
          at = i;
        }
        end_moves = end_moves || (!loop.end.is_literal() && v == loop.end.var);
      });
    }
    if (writers != 1 || end_moves || at > loop.compare) return false;
    const Op& op = ops[at];
    if (op.kind != OpKind::kAlu || op.guard != kNoVar || static_cast<Opcode>(op.opcode()) != Opcode::kAdd ||
        static_cast<uint32_t>(op.key) != 0 || type_bytes(op.type) != 4 || op.num_src != 2)
      return false;
    const int constant = op.src[1].is_literal() ? 1 : 0;
    if (!op.src[constant].is_literal() || op.src[1 - constant].is_literal() ||
        op.src[1 - constant].var != loop.counter.var)
      return false;
    loop.step = static_cast<int32_t>(static_cast<uint32_t>(op.src[constant].bits));
    const bool up = loop.step > 0;
    constexpr int64_t kLargestStep = int64_t{1} << 28;  // so that four do not overflow
    if (loop.step == 0 || loop.step > kLargestStep || loop.step < -kLargestStep) return false;
    return loop.relation == CompareOp::kNe || (loop.relation == CompareOp::kLt && up) ||
           (loop.relation == CompareOp::kGt && !up);
  }

  void emit(const Block& body, const Loop& loop, uint32_t b) {
    ptx_index_ = body.ops.back().ptx_index;
    const auto first = static_cast<uint32_t>(program_.blocks.size());
    const uint32_t four = first + 1, two_test = first + 3, two = first + 4, rest = first + 5;
    program_.blocks.resize(first + 5);
    branch(first, at_least(first, loop, kFour), true, two_test | kPlaced);
    rounds(four, body, kFour);
    branch(four, at_least(four, loop, kFour), false, four | kPlaced);
    branch(four + 1, goes_on(four + 1, loop), true, b + 1);
    branch(two_test, at_least(two_test, loop, kTwo), true, rest | kPlaced);
    rounds(two, body, kTwo);
    branch(two, goes_on(two, loop), true, b + 1);
  }

  void rounds(uint32_t to, const Block& body, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      std::vector<Op>& ops = program_.blocks[to].ops;
      ops.insert(ops.end(), body.ops.begin(), body.ops.end() - 1);
      ops.back().ptx_count = static_cast<uint16_t>(ops.back().ptx_count + body.ops.back().ptx_count);
    }
  }

  /// A predicate: the counter's distance to its end leaves `count` iterations at least, so the test after
  /// each but the last of them would hold.
  Var at_least(uint32_t to, const Loop& loop, uint32_t count) {
    const bool up = loop.step > 0;
    const auto least = static_cast<uint64_t>((up ? loop.step : -loop.step) * (int64_t{count} - 1));
    Value distance = loop.counter;
    if (up || !loop.end.is_literal() || loop.end.bits != 0) {
      const Var d = program_.new_var(VarClass::kRow32);
      Op* op = form(to, form_key(Opcode::kSub, Type::kU32));
      set_sources(*op, up ? loop.end : loop.counter, up ? loop.counter : loop.end);
      op->dst[op->num_dst++] = d;
      distance = Value{d, false, 0};
    }
    Var p = program_.new_var(VarClass::kPredicate);
    Op* far = form(to, form_key(Opcode::kSetp, Type::kU32, Type::kNone, compare_variant(CompareOp::kGt)));
    set_sources(*far, distance, Value{kNoVar, false, least});
    far->pred_dst[0] = p;
    if (loop.relation == CompareOp::kNe) return p;
    const Var both = program_.new_var(VarClass::kPredicate);
    Op* before = form(to, form_key(Opcode::kSetp, loop.type, Type::kNone, compare_variant(loop.relation)));
    set_sources(*before, loop.counter, loop.end);
    before->imm = static_cast<uint64_t>(BoolOp::kAnd);
    before->pred_src[0] = p;
    before->pred_dst[0] = both;
    return both;
  }

  /// The loop's own test.
  Var goes_on(uint32_t to, const Loop& loop) {
    const Var p = program_.new_var(VarClass::kPredicate);
    Op* op = form(to, form_key(Opcode::kSetp, loop.type, Type::kNone, compare_variant(loop.relation)));
    set_sources(*op, loop.counter, loop.end);
    op->pred_dst[0] = p;
    return p;
  }

  void branch(uint32_t from, Var guard, bool negated, uint32_t target) {
    Op op;
    op.kind = OpKind::kBranch;
    op.op_class = OpClass::kBranch;
    op.guard = guard;
    op.guard_negated = negated;
    op.target = target;
    op.ptx_index = ptx_index_;
    program_.blocks[from].ops.push_back(op);
  }

  /// A new op at the end of a block; the forms used here are in every table.
  Op* form(uint32_t to, uint64_t key) {
    const SemanticRow* row = find_form(key, level_);
    Op op;
    op.key = key;
    op.kind = OpKind::kAlu;
    op.exec = row->exec;
    op.op_class = row->op_class;
    op.type = static_cast<Type>((key >> 40) & 0xff);
    op.ptx_index = ptx_index_;
    program_.blocks[to].ops.push_back(op);
    return &program_.blocks[to].ops.back();
  }
  static void set_sources(Op& op, const Value& a, const Value& b) {
    op.src[0] = a;
    op.src[1] = b;
    op.num_src = 2;
  }

  Program& program_;
  SimdLevel level_;
  std::vector<uint32_t> sizes_;  // of blocks, in instructions
  uint32_t ptx_index_ = 0;
};

}  // namespace

void unroll_loops(Program& program, const Flow& flow, SimdLevel level) {
  Unroller(program, flow, level).run();
}

}  // namespace gpusim::isa::lir
