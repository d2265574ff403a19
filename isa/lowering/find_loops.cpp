#include "isa/lowering/find_loops.h"

#include <algorithm>
#include <utility>

namespace gpusim::isa::lir {
namespace {

/// What an iteration may cost, see LoopFinder::cost(): more with each load from shared memory, up to a limit,
/// or with a load from global memory. By experiment with ptxas 13.0, the same for sm_75, sm_80 and sm_90:
/// bodies of up to 18 FMA; with n loads from shared memory 20, 22, 26, 34, 42, 48 and 36 FMA for n = 1, 2, 4,
/// 8, 12, 16 and 20, besides one FMA for each load; with n from global memory 43, 40, 34, 28 and 22 for n =
/// 1, 2, 4, 6 and 8; with one from global and 1, 2, 4 and 8 from shared memory 40, 37, 31 and 31.
constexpr uint32_t kBudget = 18, kBudgetPerShared = 5, kMostBudget = 96, kBudgetWithGlobal = 46;
constexpr int kDeepest = 8;  // of operations that make an address
constexpr int64_t kMostTrips = 1 << 28;

/// Operations that are a subroutine.
bool is_subroutine(OpClass c) {
  switch (c) {
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

/// Nothing falls through it into the next block.
bool leaves(const Op& op) {
  const bool ends = op.kind == OpKind::kBranch || op.kind == OpKind::kBranchTable ||
                    op.kind == OpKind::kExit || op.kind == OpKind::kTrap || op.kind == OpKind::kReturn;
  return ends && op.guard == kNoVar;
}

/// The relation of numbers that holds where `relation` does not.
CompareOp otherwise(CompareOp relation) {
  switch (relation) {
    case CompareOp::kEq:
      return CompareOp::kNe;
    case CompareOp::kNe:
      return CompareOp::kEq;
    case CompareOp::kLt:
      return CompareOp::kGe;
    case CompareOp::kLe:
      return CompareOp::kGt;
    case CompareOp::kGt:
      return CompareOp::kLe;
    case CompareOp::kGe:
      return CompareOp::kLt;
    default:
      return CompareOp::kNone;
  }
}

/// The sum that a wide product before it takes.
bool adds(const Op& op, Var product) {
  return op.kind == OpKind::kAlu && static_cast<Opcode>(op.opcode()) == Opcode::kAdd && op.num_src == 2 &&
         product != kNoVar && (op.src[0].var == product || op.src[1].var == product);
}

/// A sum of 64 bits that its product of words became part of (fuse.cpp).
bool is_wide_product_and_sum(const Op& op) {
  return op.kind == OpKind::kAlu && static_cast<Opcode>(op.opcode()) == Opcode::kMad && op.joined != 0;
}

/// The branches that operations under a predicate were behind, one for each piece of code.
class BranchesBefore {
 public:
  /// 1 if `op`, which comes next, is the first behind one.
  uint32_t count(const Op& op) {
    uint32_t more = 0;
    if (op.counts_guarded && op.kind != OpKind::kBranch) {
      more = op.guard == guard_ && op.guard_negated == negated_ ? 0 : 1;
      guard_ = op.guard;
      negated_ = op.guard_negated;
    }
    for_each_def(op, [&](Var v) { guard_ = v == guard_ ? kNoVar : guard_; });
    return more;
  }

 private:
  Var guard_ = kNoVar;
  bool negated_ = false;
};

bool is_word_product(const Op& op) {
  return op.kind == OpKind::kAlu && static_cast<Opcode>(op.opcode()) == Opcode::kMul && is_integer(op.type) &&
         type_bytes(op.type) == 4 && (static_cast<uint32_t>(op.key) & kVarHi) == 0;
}

Space space_of(const Op& op) { return op.memory.space == Space::kGeneric ? Space::kGlobal : op.memory.space; }
bool is_load(const Op& op, Space space) { return op.kind == OpKind::kLoad && space_of(op) == space; }

}  // namespace

/// A counter or an address that goes on by a number in each iteration.
bool is_step(const Op& op) {
  return op.kind == OpKind::kAlu && static_cast<Opcode>(op.opcode()) == Opcode::kAdd && op.num_src == 2 &&
         is_integer(op.type) && !op.src[0].is_literal() && op.src[0].var == op.dst[0] &&
         op.src[1].is_literal() && op.src[1].launch_constant == kNone && op.guard == kNoVar;
}

bool leads_out(const Op& branch, uint32_t header, const Loop& loop) {
  return branch.target < header || branch.target > loop.latch;
}

LoopFinder::LoopFinder(const Program& program, const std::vector<Block>& blocks,
                       const std::vector<bool>& divergent, bool again)
    : program_(program), old_(blocks), divergent_(divergent), again_(again) {
  // Of each block that one later block, or itself, branches back to, which one; and which blocks something
  // else than the one before them leads to.
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
    for (const uint32_t target : table) {
      backward[target] = 2;
      entries_[target].push_back(kNone);
    }
  }
  for (uint32_t b = 0; b < old_.size(); ++b) {
    if (backward[b] != 1) latch_[b] = kNone;
  }
  std::vector<uint32_t> writers(program.vars.size(), 0);
  parameter_.assign(program.vars.size(), false);
  for (const Block& block : old_) {
    for (const Op& op : block.ops) {
      const bool loads = op.kind == OpKind::kLoad && op.memory.space == Space::kParam && !op.memory.has_base;
      for_each_def(op, [&](Var v) { parameter_[v] = ++writers[v] == 1 && loads; });
    }
  }
}

bool LoopFinder::recognise(uint32_t header, Loop& loop) const {
  loop.latch = latch_[header];
  if (loop.latch == kNone || loop.latch + 1 >= old_.size()) return false;
  const Op& last = old_[loop.latch].ops.back();
  if (last.kind != OpKind::kBranch || last.target != header || last.guard == kNoVar) return false;
  if (again_ && std::none_of(old_.begin() + header, old_.begin() + loop.latch + 1,
                             [](const Block& block) { return block.gone != 0; }))
    return false;
  if (!find_entry(header, loop)) return false;
  bool lanes_exit = false;
  for (uint32_t b = header; b <= loop.latch; ++b) {
    if (old_[b].no_unroll) return false;
    for (size_t i = 0; i < old_[b].ops.size(); ++i) {
      const Op& op = old_[b].ops[i];
      if (op.scope != last.scope || stays(op)) return false;
      const bool at_end = i + 1 == old_[b].ops.size();
      if (op.kind == OpKind::kExit || (op.kind == OpKind::kBranch && leads_out(op, header, loop))) {
        if (op.guard == kNoVar || (op.kind == OpKind::kBranch && !at_end)) return false;
        loop.has_exits = true;
        lanes_exit = lanes_exit || divergent_[op.guard];
      } else if (op.kind == OpKind::kBranch && (b != loop.latch || !at_end)) {
        if (!at_end || op.target <= b || (b < loop.entry && op.target > loop.entry)) return false;
      }
    }
  }
  if (!find_compare(header, loop) || !find_step(header, loop)) return false;
  const uint32_t trips = known_trips(header, loop), peeled = loop.entry != header ? 1 : 0;
  if (trips != 0) {
    const UnrolledCost each = cost_of_known(header, loop);
    loop.known = trips - peeled;
    if (loop.known <= most_trips(each, program_.has_several_loops))
      loop.trips = trips;
    else if (!loop.has_exits && !branches(header, loop.latch))
      loop.together = iterations_together(loop.known, cost_together(each));
  }
  const bool known = loop.trips != 0 || loop.together > 1;
  if (!known && trips != 0) return false;
  if (!known && has_nested_branches(header, loop.latch)) return false;
  if (!known && (loop.has_exits || loop.entry != header || last.counts_guarded ||
                 !may_be_taken_apart(header, loop) || cost(header, loop) > budget(header, loop.latch)))
    return false;
  return (!lanes_differ(loop) && !lanes_exit) || !must_stay_in_order(header, loop.latch);
}

uint32_t LoopFinder::cost_of(const Op& op) const {
  const bool at_parameter =
      op.is_memory() && op.memory.has_base && !op.src[0].is_literal() && parameter_[op.src[0].var];
  return operation_cost(op, at_parameter);
}

uint32_t LoopFinder::cost(uint32_t header, const Loop& loop) const {
  std::vector<bool> written(program_.vars.size(), false);
  for (uint32_t b = header; b <= loop.latch; ++b) {
    for (const Op& op : old_[b].ops) for_each_def(op, [&](Var v) { written[v] = true; });
  }
  const auto is_fixed = [&](const Value& v) { return v.is_literal() || !written[v.var]; };
  uint32_t all = 0;
  Var product = kNoVar;
  BranchesBefore branches;
  for (uint32_t b = header; b <= loop.latch; ++b) {
    all += old_[b].gone;
    for (const Op& op : old_[b].ops) {
      all += branches.count(op);
      if ((is_step(op) && op.dst[0] == loop.counter.var) || adds(op, product)) continue;
      const bool adds_fixed_product =
          is_wide_product_and_sum(op) && is_fixed(op.src[0]) && is_fixed(op.src[1]);
      all += adds_fixed_product ? 1 : cost_of(op);
      if (is_word_product(op)) product = op.dst[0];
    }
  }
  constexpr uint32_t kTest = 2;  // and the branch
  return all - std::min(kTest, all);
}

bool LoopFinder::has_nested_branches(uint32_t header, uint32_t latch) const {
  uint32_t jumped_over = header;  // blocks before it, from a branch on
  for (uint32_t b = header; b <= latch; ++b) {
    for (const Op& op : old_[b].ops) {
      const bool goes_round = b == latch && &op == &old_[b].ops.back();
      const bool branches = op.kind == OpKind::kBranch && op.guard != kNoVar && !goes_round;
      if (b < jumped_over && (branches || op.counts_guarded)) return true;
      if (branches) jumped_over = std::max(jumped_over, op.target);
    }
  }
  return false;
}

bool LoopFinder::branches(uint32_t header, uint32_t latch) const {
  for (uint32_t b = header; b <= latch; ++b) {
    for (const Op& op : old_[b].ops) {
      const bool goes_round = b == latch && &op == &old_[b].ops.back();
      if (!goes_round && (op.counts_guarded || op.kind == OpKind::kBranch)) return true;
    }
  }
  return false;
}

uint32_t LoopFinder::budget(uint32_t header, uint32_t latch) const {
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

bool LoopFinder::may_be_taken_apart(uint32_t header, const Loop& loop) const {
  bool together = false, barrier = false;
  for (uint32_t b = header; b <= loop.latch; ++b) {
    for (const Op& op : old_[b].ops) {
      barrier = barrier || op.kind == OpKind::kBarrier || op.kind == OpKind::kSync;
      together = together || op.kind == OpKind::kAtomic || op.kind == OpKind::kFence || op.whole_warp ||
                 op.op_class == OpClass::kWarp;
    }
  }
  if (!together && !barrier) return true;
  if (barrier && branches(header, loop.latch)) return false;
  const bool is_jumped_over = std::any_of(old_.begin(), old_.begin() + header, [&](const Block& block) {
    if (block.ops.empty()) return false;
    const Op& op = block.ops.back();
    return op.kind == OpKind::kBranch && op.target > loop.latch && op.guard != kNoVar && divergent_[op.guard];
  });
  return !is_jumped_over && is_constant(loop.end) && !lanes_differ(loop);
}

bool LoopFinder::is_constant(const Value& value) const {
  if (value.is_literal())
    return value.launch_constant == kNone ||
           program_.launch_constants[value.launch_constant].source == LaunchConstant::Source::kParameter;
  return parameter_[value.var];
}

bool LoopFinder::find_entry(uint32_t header, Loop& loop) const {
  loop.entry = header;
  for (uint32_t b = header + 1; b <= loop.latch; ++b) {
    for (const uint32_t from : entries_[b]) {
      if (from >= header && from < b) continue;
      if (from == kNone || from + 1 != header || !leaves(old_[from].ops.back()) || loop.entry != header)
        return false;
      loop.entry = b;
    }
  }
  return loop.entry == header || entries_[header].size() == 1;
}

bool LoopFinder::stays(const Op& op) const {
  constexpr int kWarpsNeedNotMeetFrom = 90;
  switch (op.kind) {
    case OpKind::kAlu:
      return is_subroutine(op.op_class) ||
             (op.op_class == OpClass::kWarp && program_.machine_capability < kWarpsNeedNotMeetFrom);
    case OpKind::kSync:
      return program_.machine_capability < kWarpsNeedNotMeetFrom;
    case OpKind::kFence:
      return op.op_class == OpClass::kFence;
    case OpKind::kCall:
    case OpKind::kReturn:
    case OpKind::kBranchTable:
    case OpKind::kTrap:
      return true;
    default:
      return false;
  }
}

bool LoopFinder::lanes_differ(const Loop& loop) const {
  return divergent_[loop.counter.var] || (!loop.end.is_literal() && divergent_[loop.end.var]);
}

bool LoopFinder::must_stay_in_order(uint32_t header, uint32_t latch) const {
  std::vector<const Op*> ops;
  for (uint32_t b = header; b <= latch; ++b) {
    for (const Op& op : old_[b].ops) {
      if (op.kind == OpKind::kAtomic) return true;
      ops.push_back(&op);
    }
  }
  bool waits = false;
  for (const Space space : {Space::kGlobal, Space::kShared, Space::kLocal}) {
    if (std::ranges::none_of(ops, [&](const Op* op) { return is_load(*op, space); })) continue;
    if (!stores_what_it_read(header, latch, ops, space)) return false;
    waits = true;
  }
  return waits;
}

bool LoopFinder::stores_what_it_read(uint32_t header, uint32_t latch, const std::vector<const Op*>& ops,
                                     Space space) const {
  std::vector<bool> read(program_.vars.size(), false);
  const auto uses_read = [&](const Op& op, int first, int last) {
    bool uses = op.guard != kNoVar && read[op.guard];
    for (int i = first; i < last; ++i) uses = uses || (!op.src[i].is_literal() && read[op.src[i].var]);
    for (const Var v : op.pred_src) uses = uses || (v != kNoVar && read[v]);
    return uses;
  };
  bool changed = true;
  const auto visit = [&](const Op* op) {
    if (!is_load(*op, space) && !uses_read(*op, 0, op->num_src)) return;
    for_each_def(*op, [&](Var v) {
      changed = changed || !read[v];
      read[v] = true;
    });
  };
  // In turn from both ends: values may be handed on from iteration to iteration.
  for (bool along = true; std::exchange(changed, false); along = !along)
    along ? std::for_each(ops.begin(), ops.end(), visit) : std::for_each(ops.rbegin(), ops.rend(), visit);
  uint32_t skipped_to = header;  // blocks before it may be jumped over, by what was read
  for (uint32_t b = header; b <= latch; ++b) {
    for (const Op& op : old_[b].ops) {
      if (op.kind == OpKind::kStore && space_of(op) == space) {
        const int address = op.memory.has_base ? 1 : 0;
        if (b < skipped_to || uses_read(op, 0, address)) return true;
        const bool reads = uses_read(op, address, op.num_src);
        if (reads && op.guard != kNoVar && space == Space::kGlobal) return true;
        if (reads && !(address == 1 && goes_on_by_constants(op.src[0], ops, kDeepest))) return true;
      }
      if (op.kind == OpKind::kBranch && b != latch && op.guard != kNoVar && read[op.guard])
        skipped_to = std::max(skipped_to, op.target);
    }
  }
  return false;
}

bool LoopFinder::goes_on_by_constants(const Value& value, const std::vector<const Op*>& ops, int depth) {
  if (value.is_literal()) return value.launch_constant == kNone && value.object == kNoObject;
  bool written = false, all = depth != 0;
  for (const Op* op : ops) {
    for_each_def(*op, [&](Var v) {
      if (v != value.var) return;
      written = true;
      if (is_step(*op)) return;
      all = all && op->kind == OpKind::kAlu && op->guard == kNoVar && op->num_src != 0;
      for (int i = 0; i < op->num_src && all; ++i) all = goes_on_by_constants(op->src[i], ops, depth - 1);
    });
  }
  return written && all;
}

uint32_t LoopFinder::known_trips(uint32_t header, Loop& loop) const {
  if (!loop.end.is_literal() || loop.end.launch_constant != kNone || entries_[header].size() != 1) return 0;
  const std::optional<Value> start = starts_at(header, loop, loop.counter.var);
  if (!start || start->object != kNoObject) return 0;
  const bool is_signed = gpusim::isa::is_signed(loop.type);
  const auto number = [&](uint64_t bits) {
    const auto word = static_cast<uint32_t>(bits);
    if (loop.is_wide()) return static_cast<int64_t>(bits);
    return is_signed ? int64_t{static_cast<int32_t>(word)} : int64_t{word};
  };
  const int64_t first = number(start->bits), end = number(loop.end.bits), step = loop.step;
  constexpr int64_t kLargestBound = int64_t{1} << 32;  // so that nothing below overflows
  if (first > kLargestBound || first < -kLargestBound || end > kLargestBound || end < -kLargestBound)
    return 0;
  const int64_t distance = step > 0 ? end - first : first - end, width = step > 0 ? step : -step;
  if (distance <= 0 || (loop.relation == CompareOp::kNe && distance % width != 0)) return 0;
  const int64_t steps = loop.includes_end() ? distance / width + 1 : (distance + width - 1) / width,
                trips = steps + (loop.tests_first ? 1 : 0), last = first + trips * step;
  const bool wide = loop.is_wide();
  const int64_t least = !is_signed ? 0
                        : wide     ? INT64_MIN
                                   : INT32_MIN,
                most = wide        ? INT64_MAX
                       : is_signed ? INT32_MAX
                                   : int64_t{UINT32_MAX};
  loop.start = first;
  return trips > kMostTrips || last < least || last > most ? 0 : static_cast<uint32_t>(trips);
}

bool LoopFinder::find_compare(uint32_t header, Loop& loop) const {
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
  if (ops.back().guard_negated) loop.relation = otherwise(loop.relation);
  loop.counter = op.src[0];
  loop.end = op.src[1];
  return is_integer(loop.type) && type_bytes(loop.type) >= 4 && !loop.counter.is_literal();
}

bool LoopFinder::find_step(uint32_t header, Loop& loop) const {
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
  if (writers != 1 || end_moves || (in != header && in != loop.entry && in != loop.latch)) return false;
  if (in == loop.latch && at > loop.compare) return false;
  loop.tests_first = in < loop.entry;
  const Op& op = old_[in].ops[at];
  if (op.kind != OpKind::kAlu || op.guard != kNoVar || static_cast<Opcode>(op.opcode()) != Opcode::kAdd ||
      static_cast<uint32_t>(op.key) != 0 || type_bytes(op.type) != type_bytes(loop.type) || op.num_src != 2)
    return false;
  const int constant = op.src[1].is_literal() ? 1 : 0;
  if (!op.src[constant].is_literal() || op.src[1 - constant].is_literal() ||
      op.src[1 - constant].var != loop.counter.var)
    return false;
  if (op.src[constant].launch_constant != kNone) return false;
  loop.step = loop.is_wide() ? static_cast<int64_t>(op.src[constant].bits)
                             : static_cast<int32_t>(static_cast<uint32_t>(op.src[constant].bits));
  const bool up = loop.step > 0;
  constexpr int64_t kLargestStep = int64_t{1} << 28;  // so that four do not overflow
  if (loop.step == 0 || loop.step > kLargestStep || loop.step < -kLargestStep) return false;
  return loop.relation == CompareOp::kNe ||
         (up && (loop.relation == CompareOp::kLt || loop.includes_end())) ||
         (!up && (loop.relation == CompareOp::kGt || loop.includes_end()));
}

std::optional<Value> LoopFinder::starts_at(uint32_t header, const Loop& loop, Var var) const {
  const Op* start = nullptr;
  bool searched = false;
  for (uint32_t b = header; b-- > 0 && !searched;) {
    searched = !old_[b].ops.empty();
    for (const Op& op : old_[b].ops) for_each_def(op, [&](Var v) { start = v == var ? &op : start; });
    const bool jumps_in = b + 1 == header && loop.entry != header;
    const bool may_end = !jumps_in && !old_[b].ops.empty() && leaves(old_[b].ops.back());
    if (may_end || (!searched && !entries_[b].empty())) return std::nullopt;
  }
  if (start == nullptr || start->kind != OpKind::kAlu || start->guard != kNoVar ||
      static_cast<Opcode>(start->opcode()) != Opcode::kMov || start->num_src != 1 ||
      !start->src[0].is_literal() || start->src[0].launch_constant != kNone)
    return std::nullopt;
  return start->src[0];
}

UnrolledCost LoopFinder::cost_of_known(uint32_t header, const Loop& loop) const {
  constexpr int kClustersFrom = 90;
  const uint32_t latch = loop.latch;
  std::vector<uint32_t> writes(program_.vars.size(), 0);
  for (uint32_t b = header; b <= latch; ++b) {
    for (const Op& op : old_[b].ops) for_each_def(op, [&](Var v) { ++writes[v]; });
  }
  std::vector<bool> number(program_.vars.size(), false);
  for (uint32_t b = header; b <= latch; ++b) {
    for (const Op& op : old_[b].ops) {
      if (is_step(op) && writes[op.dst[0]] == 1 && starts_at(header, loop, op.dst[0]))
        number[op.dst[0]] = true;
    }
  }
  UnrolledCost each;
  BranchesBefore branches;
  for (uint32_t b = header; b <= latch; ++b) {
    each.gone += old_[b].gone;
    for (const Op& op : old_[b].ops) {
      each.left += branches.count(op);
      if (is_step(op) && (op.dst[0] == loop.counter.var || number[op.dst[0]])) continue;
      bool known = op.num_src != 0 && op.guard == kNoVar;
      const int sources = op.is_memory() ? (op.memory.has_base ? 1 : 0) : op.num_src;
      for (int i = 0; i < sources; ++i)
        known =
            known && (op.src[i].is_literal() ? op.src[i].launch_constant == kNone : number[op.src[i].var]);
      for (const Var v : op.pred_src) known = known && (v == kNoVar || number[v]);
      // Where a block's shared memory begins in its cluster's, no compiler knows.
      const bool shared_known =
          op.memory.space == Space::kShared && program_.machine_capability < kClustersFrom;
      const bool loads =
          op.kind == OpKind::kLoad && !op.memory.asynchronous &&
          (shared_known || op.memory.space == Space::kConst || op.memory.space == Space::kLocal ||
           (op.memory.space == Space::kParam && op.memory.has_base));
      if (known && loads) {
        each.loads += op.accesses;
      } else if (known && op.kind == OpKind::kAlu) {
        each.gone += cost_of(op);
        for_each_def(op, [&](Var v) { number[v] = writes[v] == 1; });
      } else {
        each.left += cost_of(op);
      }
    }
  }
  each.left -= std::min(each.left, 1u);      // the branch
  each.gone -= std::min(each.gone - 3, 1u);  // the test, if it was counted
  return each;
}

}  // namespace gpusim::isa::lir
