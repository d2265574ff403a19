// Unrolls the innermost loops as ptxas does (compute capability 7.0 and up): blocks at whose end a branch
// leads back to the first while a counter with a constant step has not come to its end become, in front of
// themselves,
//   four:  four iterations, repeated while at least four are left
//   two:   two iterations, if at least two are left
// and the loop as it was does the rest. Only the test between iterations goes: how many are certain is
// decided by the distance of counter and end, without overflow, so that every thread does the same iterations
// with the same values whatever they are. A loop whose counter begins and ends at constants becomes all its
// iterations, one behind the other, if they are not too many for what each costs. The PTX count of an
// iteration stays in it. Loops that the program asks to leave alone (.pragma "nounroll"), that read a clock,
// synchronise, call or have an atomic, and large ones stay.
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

/// Iterations, of a number that is known, which all become code: up to `trips` of at most `cost`. By
/// experiment with ptxas 13.0 (loops of FMA, and of FMA with loads from shared or global memory, which cost
/// two), the same for sm_75 and sm_90.
struct FullyUnrolled {
  uint32_t cost, trips;
};
constexpr FullyUnrolled kFullyUnrolled[] = {{2, 1099}, {3, 814}, {4, 519}, {6, 277}, {8, 173}, {10, 120},
                                            {12, 89},  {16, 52}, {20, 37}, {24, 29}, {32, 18}, {40, 12},
                                            {48, 9},   {64, 6},  {96, 4},  {120, 3}, {144, 2}};

uint32_t most_trips(uint32_t cost) {
  const auto* const row = std::ranges::lower_bound(kFullyUnrolled, cost, {}, &FullyUnrolled::cost);
  return row == std::end(kFullyUnrolled) ? 0 : row->trips;
}

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

/// An atomic operation on global memory whose result nobody wants.
bool is_reduction(const Op& op) {
  return op.kind == OpKind::kAtomic && op.memory.space == Space::kGlobal &&
         std::ranges::all_of(op.dst, [](Var v) { return v == kNoVar; });
}

struct Loop {
  uint32_t latch = kNone;  ///< the block at its end, which branches back
  size_t compare = 0;      ///< the op of that block that decides
  CompareOp relation = CompareOp::kNone;
  Type type = Type::kNone;
  Value counter, end;
  int64_t step = 0;
  uint32_t trips = 0;  ///< if that many iterations become code and the loop goes, else 0
};

class Unroller {
 public:
  Unroller(Program& program, const Flow& flow, SimdLevel level)
      : program_(program), level_(level), sizes_(block_instructions(program, flow)) {}

  void run() {
    old_ = std::move(program_.blocks);
    program_.blocks.clear();
    const auto blocks = static_cast<uint32_t>(old_.size());
    find_latches();
    std::vector<uint32_t> place(blocks),
        again(blocks);                               // where a block went, for others and for its own loop
    std::vector<uint32_t> header_of(blocks, kNone);  // of a latch
    for (uint32_t b = 0; b < blocks; ++b) {
      place[b] = static_cast<uint32_t>(program_.blocks.size());
      Loop loop;
      if (recognise(b, loop)) {
        if (loop.trips != 0) {
          ptx_index_ = old_[loop.latch].ops.back().ptx_index;
          new_block();
          (void)rounds(b, loop, loop.trips);
          for (uint32_t gone = b + 1; gone <= loop.latch; ++gone) place[gone] = again[gone] = kNone;
          again[b] = kNone;
          b = loop.latch;
          continue;
        }
        emit(b, loop);
        header_of[loop.latch] = b;
      }
      again[b] = static_cast<uint32_t>(program_.blocks.size());
      program_.blocks.push_back(old_[b]);
    }
    for (uint32_t b = 0; b < blocks; ++b) {
      if (again[b] == kNone) continue;
      for (Op& op : program_.blocks[again[b]].ops) {
        if (op.kind == OpKind::kBranch && op.target == header_of[b])
          op.target = again[header_of[b]] | kPlaced;
      }
    }
    for (Block& block : program_.blocks) {
      for (Op& op : block.ops) {
        if (op.kind == OpKind::kBranch)
          op.target = (op.target & kPlaced) != 0 ? op.target & ~kPlaced : place[op.target];
      }
    }
    for (std::vector<uint32_t>& table : program_.tables) {
      for (uint32_t& target : table) target = place[target];
    }
  }

 private:
  static constexpr uint32_t kPlaced = 1u << 31;  // of a target: the number of a new block

  /// Of each block that one later block, or itself, branches back to, which one; and which blocks something
  /// else than the one before them leads to.
  void find_latches() {
    latch_.assign(old_.size(), kNone);
    std::vector<uint32_t> backward(old_.size(), 0);
    entries_.assign(old_.size(), {});
    for (uint32_t b = 0; b < old_.size(); ++b) {
      for (const Op& op : old_[b].ops) {
        if (op.kind != OpKind::kBranch) continue;
        entries_[op.target].push_back(b);
        if (op.target > b) continue;
        ++backward[op.target];
        latch_[op.target] = b;
      }
    }
    for (const std::vector<uint32_t>& table : program_.tables) {
      for (const uint32_t target : table) backward[target] = 2;
    }
    for (uint32_t b = 0; b < old_.size(); ++b) {
      if (backward[b] != 1) latch_[b] = kNone;
    }
  }

  /// In instructions, of an iteration without what counts and tests: accesses to memory are two.
  uint32_t cost(uint32_t header, uint32_t latch) const {
    uint32_t all = 0, accesses = 0, steps = 2;  // the test and the branch
    for (uint32_t b = header; b <= latch; ++b) {
      all += sizes_[b];
      for (const Op& op : old_[b].ops) {
        if (op.is_memory() && op.memory.space != Space::kParam && op.memory.space != Space::kConst)
          ++accesses;
        if (op.op_class == OpClass::kCvt) ++accesses;
        if (is_step(op, header, latch)) steps += type_bytes(op.type) == 8 ? 2 : 1;
      }
    }
    return all + accesses - std::min(steps, all);
  }
  /// A counter or an address that goes on by the same in each iteration.
  bool is_step(const Op& op, uint32_t header, uint32_t latch) const {
    if (op.kind != OpKind::kAlu || static_cast<Opcode>(op.opcode()) != Opcode::kAdd || op.num_src != 2 ||
        !is_integer(op.type) || op.src[0].is_literal() || op.src[0].var != op.dst[0])
      return false;
    bool moves = false;
    if (!op.src[1].is_literal()) {
      for (uint32_t b = header; b <= latch; ++b) {
        for (const Op& other : old_[b].ops)
          for_each_def(other, [&](Var v) { moves = moves || v == op.src[1].var; });
      }
    }
    return !moves;
  }
  uint32_t budget(uint32_t header, uint32_t latch) const {
    uint32_t most = kBudget;
    bool global = false;
    for (uint32_t b = header; b <= latch; ++b) {
      for (const Op& op : old_[b].ops) {
        if (op.kind != OpKind::kLoad) continue;
        if (op.memory.space == Space::kShared) most += kBudgetPerShared;
        global = global || op.memory.space == Space::kGlobal || op.memory.space == Space::kGeneric;
      }
    }
    return std::min(std::max(most, global ? kBudgetWithGlobal : 0), kMostBudget);
  }

  /// A loop from `header` to its latch, the blocks between them included, that nothing else enters or leaves.
  bool recognise(uint32_t header, Loop& loop) const {
    loop.latch = latch_[header];
    if (loop.latch == kNone || loop.latch + 1 >= old_.size()) return false;
    const Op& last = old_[loop.latch].ops.back();
    if (last.kind != OpKind::kBranch || last.target != header || last.guard == kNoVar || last.guard_negated)
      return false;
    for (uint32_t b = header; b <= loop.latch; ++b) {
      if (old_[b].no_unroll) return false;
      for (const uint32_t from : entries_[b]) {
        if (b != header && (from < header || from >= b)) return false;
      }
      for (size_t i = 0; i < old_[b].ops.size(); ++i) {
        const Op& op = old_[b].ops[i];
        const bool plain = op.kind == OpKind::kAlu || op.kind == OpKind::kLoad || op.kind == OpKind::kStore;
        if (op.scope != last.scope) return false;
        if (op.kind == OpKind::kBranch) {
          if (i + 1 != old_[b].ops.size() || (b != loop.latch && (op.target <= b || op.target > loop.latch)))
            return false;
        } else if (op.kind != OpKind::kNop && !is_reduction(op) &&
                   (!plain || op.whole_warp || takes_long(op.op_class))) {
          return false;
        }
      }
    }
    if (!find_compare(header, loop) || !find_step(header, loop)) return false;
    const uint32_t each = cost(header, loop.latch);
    if (const uint32_t trips = known_trips(header, loop); trips != 0 && trips <= most_trips(each)) {
      loop.trips = trips;
      return true;
    }
    return each <= budget(header, loop.latch);
  }

  /// How often the loop is gone round if its counter begins and ends at constants, else 0.
  uint32_t known_trips(uint32_t header, const Loop& loop) const {
    if (!loop.end.is_literal() || loop.end.launch_constant != kNone || entries_[header].size() != 1) return 0;
    const Op* start = nullptr;
    for (uint32_t b = header; b-- > 0 && start == nullptr;) {
      for (const Op& op : old_[b].ops)
        for_each_def(op, [&](Var v) { start = v == loop.counter.var ? &op : start; });
      const bool may_end = !old_[b].ops.empty() && leaves(old_[b].ops.back());
      if (may_end || (start == nullptr && !entries_[b].empty())) return 0;
    }
    if (start == nullptr || start->kind != OpKind::kAlu || start->guard != kNoVar ||
        static_cast<Opcode>(start->opcode()) != Opcode::kMov || start->num_src != 1 ||
        !start->src[0].is_literal() || start->src[0].launch_constant != kNone)
      return 0;
    const bool is_signed = loop.type == Type::kS32;
    const auto number = [&](uint64_t bits) {
      const auto word = static_cast<uint32_t>(bits);
      return is_signed ? int64_t{static_cast<int32_t>(word)} : int64_t{word};
    };
    const int64_t first = number(start->src[0].bits), end = number(loop.end.bits), step = loop.step;
    const int64_t distance = step > 0 ? end - first : first - end, width = step > 0 ? step : -step;
    if (distance <= 0 || (loop.relation == CompareOp::kNe && distance % width != 0)) return 0;
    const int64_t trips = includes_end(loop) ? distance / width + 1 : (distance + width - 1) / width,
                  last = first + trips * step;
    const int64_t least = is_signed ? INT32_MIN : 0, most = is_signed ? INT32_MAX : int64_t{UINT32_MAX};
    return trips > kMostTrips || last < least || last > most ? 0 : static_cast<uint32_t>(trips);
  }
  static constexpr int64_t kMostTrips = 2000;
  /// Nothing falls through it into the next block.
  static bool leaves(const Op& op) {
    const bool ends = op.kind == OpKind::kBranch || op.kind == OpKind::kBranchTable ||
                      op.kind == OpKind::kExit || op.kind == OpKind::kTrap || op.kind == OpKind::kReturn;
    return ends && op.guard == kNoVar;
  }

  bool find_compare(uint32_t header, Loop& loop) const {
    const std::vector<Op>& ops = old_[loop.latch].ops;
    const Var guard = ops.back().guard;
    size_t writers = 0;
    for (uint32_t b = header; b <= loop.latch; ++b) {
      for (size_t i = 0; i < old_[b].ops.size(); ++i) {
        for_each_def(old_[b].ops[i], [&](Var v) {
          if (v != guard) return;
          writers += b == loop.latch ? 1 : 2;
          loop.compare = i;
        });
      }
    }
    if (writers != 1) return false;
    const Op& op = ops[loop.compare];
    if (op.kind != OpKind::kAlu || static_cast<Opcode>(op.opcode()) != Opcode::kSetp || op.guard != kNoVar ||
        op.imm != 0 || op.pred_dst[0] != guard || op.pred_dst[1] != kNoVar)
      return false;
    loop.type = op.type;
    loop.relation = static_cast<CompareOp>(static_cast<uint32_t>(op.key) >> kVarCompareShift);
    loop.counter = op.src[0];
    loop.end = op.src[1];
    return (loop.type == Type::kS32 || loop.type == Type::kU32) && !loop.counter.is_literal();
  }

  /// The counter is written once, by adding a constant before the comparison in a block that no lane misses;
  /// the end never.
  bool find_step(uint32_t header, Loop& loop) const {
    size_t writers = 0, at = 0;
    uint32_t in = 0;
    bool end_moves = false;
    for (uint32_t b = header; b <= loop.latch; ++b) {
      for (size_t i = 0; i < old_[b].ops.size(); ++i) {
        for_each_def(old_[b].ops[i], [&](Var v) {
          if (v == loop.counter.var) {
            ++writers;
            at = i;
            in = b;
          }
          end_moves = end_moves || (!loop.end.is_literal() && v == loop.end.var);
        });
      }
    }
    if (writers != 1 || end_moves || (in != header && in != loop.latch)) return false;
    if (in == loop.latch && at > loop.compare) return false;
    const Op& op = old_[in].ops[at];
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
    return loop.relation == CompareOp::kNe ||
           (up && (loop.relation == CompareOp::kLt || includes_end(loop))) ||
           (!up && (loop.relation == CompareOp::kGt || includes_end(loop)));
  }

  void emit(uint32_t header, const Loop& loop) {
    ptx_index_ = old_[loop.latch].ops.back().ptx_index;
    const uint32_t out = loop.latch + 1;
    const uint32_t first = new_block();
    branch(first, at_least(first, loop, kFour), true, kNone);
    const uint32_t four = new_block();
    const uint32_t four_end = rounds(header, loop, kFour);
    branch(four_end, at_least(four_end, loop, kFour), false, four | kPlaced);
    const uint32_t after_four = new_block();
    branch(after_four, goes_on(after_four, loop), true, out);
    const uint32_t two_test = new_block();
    branch(two_test, at_least(two_test, loop, kTwo), true, kNone);
    new_block();
    const uint32_t two_end = rounds(header, loop, kTwo);
    branch(two_end, goes_on(two_end, loop), true, out);
    program_.blocks[first].ops.back().target = two_test | kPlaced;
    program_.blocks[two_test].ops.back().target = static_cast<uint32_t>(program_.blocks.size()) | kPlaced;
  }
  uint32_t new_block() {
    program_.blocks.emplace_back();
    return static_cast<uint32_t>(program_.blocks.size() - 1);
  }

  /// Iterations one behind the other, from the last block on, which the first block of each continues;
  /// returns the block where they end.
  uint32_t rounds(uint32_t header, const Loop& loop, uint32_t count) {
    std::vector<uint32_t> at(loop.latch - header + 1);
    for (uint32_t i = 0; i < count; ++i) {
      for (uint32_t b = header; b <= loop.latch; ++b)
        at[b - header] = b == header ? static_cast<uint32_t>(program_.blocks.size() - 1) : new_block();
      for (uint32_t b = header; b <= loop.latch; ++b) {
        std::vector<Op>& ops = program_.blocks[at[b - header]].ops;
        const size_t begin = ops.size();
        ops.insert(ops.end(), old_[b].ops.begin(), old_[b].ops.end());
        if (b == loop.latch) {
          const Op test = ops.back();
          ops.pop_back();
          add_count(ops, begin, test);
        } else if (!ops.empty() && ops.back().kind == OpKind::kBranch) {
          ops.back().target = at[ops.back().target - header] | kPlaced;
        }
      }
    }
    return static_cast<uint32_t>(program_.blocks.size() - 1);
  }

  /// What the test counted goes to an operation of its block that always counts.
  static void add_count(std::vector<Op>& ops, size_t begin, const Op& test) {
    for (size_t i = ops.size(); i-- > begin;) {
      if (ops[i].counts_guarded || ops[i].ptx_count > 0xffffu - test.ptx_count) continue;
      ops[i].ptx_count = static_cast<uint16_t>(ops[i].ptx_count + test.ptx_count);
      return;
    }
  }

  /// The loop goes on when its counter is at the end.
  static bool includes_end(const Loop& loop) {
    return loop.relation == (loop.step > 0 ? CompareOp::kLe : CompareOp::kGe);
  }

  /// A predicate: the counter's distance to its end leaves `count` iterations at least, so the test after
  /// each but the last of them would hold.
  Var at_least(uint32_t to, const Loop& loop, uint32_t count) {
    const bool up = loop.step > 0;
    const auto least = static_cast<uint64_t>((up ? loop.step : -loop.step) * (int64_t{count} - 1) -
                                             (includes_end(loop) ? 1 : 0));
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
  std::vector<Block> old_;                      // the program as it was
  std::vector<uint32_t> latch_;                 // of the block where a loop begins
  std::vector<std::vector<uint32_t>> entries_;  // blocks that branch to each
  std::vector<uint32_t> sizes_;                 // of blocks, in instructions
  uint32_t ptx_index_ = 0;
};

}  // namespace

void unroll_loops(Program& program, const Flow& flow, SimdLevel level) {
  Unroller(program, flow, level).run();
}

}  // namespace gpusim::isa::lir
