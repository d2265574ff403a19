// Unrolls loops as ptxas does (compute capability 7.0 and up), the innermost ones first: blocks at whose end
// a branch leads back to the first while a counter with a constant step has not come to its end become, in
// front of themselves,
//   four:  four iterations, repeated while at least four are left
//   two:   two iterations, if at least two are left
// and the loop as it was does the rest. Only the test between iterations goes: how many are certain is
// decided by the distance of counter and end, without overflow, so that every thread does the same iterations
// with the same values whatever they are. A loop whose counter begins and ends at constants becomes all its
// iterations, one behind the other, if they are not too many for what each costs; such a loop may be entered
// at its test in the middle, and have other exits. The PTX count of an iteration stays in it. Loops that the
// program asks to leave alone (.pragma "nounroll"), that call or wait for memory (membar), and large ones
// stay, and so do those that not all lanes of a warp leave together if they change memory by what they read
// there.
#include <algorithm>
#include <optional>

#include "isa/lowering/lir.h"
#include "isa/lowering/uniformity.h"
#include "isa/lowering/unroll_cost.h"

namespace gpusim::isa::lir {
namespace {

/// What an iteration may cost, see Unroller::cost(): more with each load from shared memory, up to a limit,
/// or with a load from global memory. By experiment with ptxas 13.0, the same for sm_75, sm_80 and sm_90:
/// bodies of up to 18 FMA; with n loads from shared memory 20, 22, 26, 34, 42, 48 and 36 FMA for n = 1, 2, 4,
/// 8, 12, 16 and 20, besides one FMA for each load; with n from global memory 43, 40, 34, 28 and 22 for n =
/// 1, 2, 4, 6 and 8; with one from global and 1, 2, 4 and 8 from shared memory 40, 37, 31 and 31.
constexpr uint32_t kBudget = 18, kBudgetPerShared = 5, kMostBudget = 96, kBudgetWithGlobal = 46;
constexpr uint32_t kFour = 4, kTwo = 2;

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

struct Loop {
  uint32_t latch = kNone;    ///< the block at its end, which branches back
  uint32_t entry = kNone;    ///< the block where its first iteration begins: its first, or one behind it
  bool has_exits = false;    ///< besides the test
  bool tests_first = false;  ///< its counter, before that goes on
  size_t compare = 0;        ///< the op of that block that decides
  CompareOp relation = CompareOp::kNone;
  Type type = Type::kNone;
  Value counter, end;
  int64_t step = 0;
  uint32_t trips = 0;     ///< if that many iterations become code and the loop goes, else 0
  uint32_t together = 1;  ///< iterations that become one, of `known`
  uint32_t known = 0;     ///< iterations behind the part of one that the entry may begin with
  int64_t start = 0;      ///< of the counter, if its iterations are known
};

class Unroller {
 public:
  /// `again`: only loops around what became code just now.
  Unroller(Program& program, const Flow& flow, SimdLevel level, bool again)
      : program_(program), level_(level), again_(again), divergent_(divergent_variables(program, flow)) {}

  /// Whether a loop became others.
  bool run() {
    bool changed = false;
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
          const uint32_t first = new_block();
          restate(first, b, loop);
          (void)rounds(b, loop, loop.trips, false);
          program_.blocks[first].gone = loop.trips * (cost_of_known(b, loop).gone - 1);
          for (uint32_t old = b; old <= loop.latch; ++old) place[old] = again[old] = kNone;
          place[loop.entry] = first;
          changed = true;
          b = loop.latch;
          continue;
        }
        if (loop.together > 1) {
          const auto first = static_cast<uint32_t>(program_.blocks.size());
          emit_known(b, loop);
          for (uint32_t old = b; old <= loop.latch; ++old) place[old] = again[old] = kNone;
          place[loop.entry] = first;
          changed = true;
          b = loop.latch;
          continue;
        }
        changed = true;
        emit(b, loop);
        header_of[loop.latch] = b;
      }
      again[b] = static_cast<uint32_t>(program_.blocks.size());
      program_.blocks.push_back(old_[b]);
      program_.blocks.back().gone = 0;
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
    return changed;
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
      for (const uint32_t target : table) {
        backward[target] = 2;
        entries_[target].push_back(kNone);
      }
    }
    for (uint32_t b = 0; b < old_.size(); ++b) {
      if (backward[b] != 1) latch_[b] = kNone;
    }
  }

  /// Of an iteration, in operations, without what counts and tests.
  uint32_t cost(uint32_t header, uint32_t latch) const {
    uint32_t all = 0;
    Var product = kNoVar;
    for (uint32_t b = header; b <= latch; ++b) {
      all += old_[b].gone;
      for (const Op& op : old_[b].ops) {
        if (is_step(op) || is_fixed_step(op, header, latch) || adds(op, product)) continue;
        all += operation_cost(op);
        if (op.op_class == OpClass::kIntMulWide) product = op.dst[0];
      }
    }
    constexpr uint32_t kTest = 2;  // and the branch
    return all - std::min(kTest, all);
  }
  /// The sum that a wide product before it takes.
  static bool adds(const Op& op, Var product) {
    return op.kind == OpKind::kAlu && static_cast<Opcode>(op.opcode()) == Opcode::kAdd && op.num_src == 2 &&
           product != kNoVar && (op.src[0].var == product || op.src[1].var == product);
  }
  /// A counter or an address that goes on by the same in each iteration, which is no number.
  bool is_fixed_step(const Op& op, uint32_t header, uint32_t latch) const {
    if (op.kind != OpKind::kAlu || static_cast<Opcode>(op.opcode()) != Opcode::kAdd || op.num_src != 2 ||
        !is_integer(op.type) || op.guard != kNoVar || op.src[0].is_literal() || op.src[0].var != op.dst[0])
      return false;
    if (op.src[1].is_literal()) return true;
    bool moves = false;
    for (uint32_t b = header; b <= latch; ++b) {
      for (const Op& other : old_[b].ops)
        for_each_def(other, [&](Var v) { moves = moves || v == op.src[1].var; });
    }
    return !moves;
  }
  /// A counter or an address that goes on by a number in each iteration.
  static bool is_step(const Op& op) {
    return op.kind == OpKind::kAlu && static_cast<Opcode>(op.opcode()) == Opcode::kAdd && op.num_src == 2 &&
           is_integer(op.type) && !op.src[0].is_literal() && op.src[0].var == op.dst[0] &&
           op.src[1].is_literal() && op.src[1].launch_constant == kNone && op.guard == kNoVar;
  }
  /// Inside, besides the one that goes round; of those that became predicates, too.
  bool branches(uint32_t header, uint32_t latch) const {
    for (uint32_t b = header; b <= latch; ++b) {
      for (const Op& op : old_[b].ops) {
        const bool goes_round = b == latch && &op == &old_[b].ops.back();
        if (!goes_round && (op.counts_guarded || op.kind == OpKind::kBranch)) return true;
      }
    }
    return false;
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

  /// A loop from `header` to its latch, the blocks between them included, that nothing else enters, and
  /// nothing but the test leaves if not all of its iterations become code.
  bool recognise(uint32_t header, Loop& loop) const {
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
    const UnrolledCost each = cost_of_known(header, loop);
    loop.known = trips - std::min(trips, peeled);
    if (trips != 0 && loop.known <= most_trips(each)) {
      loop.trips = trips;
    } else {
      constexpr uint32_t kLoad = 2;
      if (loop.has_exits) return false;
      if (trips != 0 && !branches(header, loop.latch))
        loop.together =
            iterations_together(loop.known, each.left + each.gone - UnrolledCost{}.gone + kLoad * each.loads);
      if (loop.together == 1 &&
          (loop.entry != header || last.counts_guarded || !may_be_taken_apart(header, loop) ||
           cost(header, loop.latch) > budget(header, loop.latch)))
        return false;
    }
    return (!lanes_differ(loop) && !lanes_exit) || !must_stay_in_order(header, loop.latch);
  }
  static bool leads_out(const Op& branch, uint32_t header, const Loop& loop) {
    return branch.target < header || branch.target > loop.latch;
  }

  /// A loop of an unknown number of iterations with what lanes or warps do together, or with atomics, becomes
  /// longer only if all lanes count to a number or to a parameter as it is and none jumps over the loop; with
  /// a barrier, only if nothing in it branches. By experiment with ptxas 13.0.
  bool may_be_taken_apart(uint32_t header, const Loop& loop) const {
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
      return op.kind == OpKind::kBranch && op.target > loop.latch && op.guard != kNoVar &&
             divergent_[op.guard];
    });
    return !is_jumped_over && is_constant(loop.end) && !lanes_differ(loop);
  }
  /// A number, or a parameter as it is.
  bool is_constant(const Value& value) const {
    if (value.is_literal())
      return value.launch_constant == kNone ||
             program_.launch_constants[value.launch_constant].source == LaunchConstant::Source::kParameter;
    uint32_t writers = 0, loads = 0;
    for (const Block& block : old_) {
      for (const Op& op : block.ops) {
        for_each_def(op, [&](Var v) {
          if (v != value.var) return;
          ++writers;
          if (op.kind == OpKind::kLoad && op.memory.space == Space::kParam && !op.memory.has_base) ++loads;
        });
      }
    }
    return writers == 1 && loads == 1;
  }

  /// Where the one block that leads into the loop leads to: to its first one, which follows on it, or by a
  /// jump to another, which what stands before that leads to as well.
  bool find_entry(uint32_t header, Loop& loop) const {
    loop.entry = header;
    for (uint32_t b = header + 1; b <= loop.latch; ++b) {
      for (const uint32_t from : entries_[b]) {
        if (from >= header && from < b) continue;
        if (from + 1 != header || !leaves(old_[from].ops.back()) || loop.entry != header) return false;
        loop.entry = b;
      }
    }
    return loop.entry == header || entries_[header].size() == 1;
  }

  /// ptxas leaves a loop alone that has this: by experiment with ptxas 13.0 for sm_75, sm_80 and sm_90.
  [[nodiscard]] bool stays(const Op& op) const {
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

  /// Lanes of a warp may leave it at different times.
  [[nodiscard]] bool lanes_differ(const Loop& loop) const {
    return divergent_[loop.counter.var] || (!loop.end.is_literal() && divergent_[loop.end.var]);
  }
  /// Of iterations that not all lanes do, ptxas puts none beside another that changes memory by what it read
  /// there: by atomics, or by stores whose value, place or condition comes from loads of the same space. If
  /// it is the value only, unless the address is made of nothing but what goes on by constants.
  /// Loads of another space, which need not wait for the stores, make it worth its while.
  [[nodiscard]] bool must_stay_in_order(uint32_t header, uint32_t latch) const {
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
  static bool is_load(const Op& op, Space space) { return op.kind == OpKind::kLoad && space_of(op) == space; }
  static Space space_of(const Op& op) {
    return op.memory.space == Space::kGeneric ? Space::kGlobal : op.memory.space;
  }
  [[nodiscard]] bool stores_what_it_read(uint32_t header, uint32_t latch, const std::vector<const Op*>& ops,
                                         Space space) const {
    std::vector<bool> read(program_.vars.size(), false);
    const auto uses_read = [&](const Op& op, int first, int last) {
      bool uses = op.guard != kNoVar && read[op.guard];
      for (int i = first; i < last; ++i) uses = uses || (!op.src[i].is_literal() && read[op.src[i].var]);
      for (const Var v : op.pred_src) uses = uses || (v != kNoVar && read[v]);
      return uses;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (const Op* op : ops) {
        if (!is_load(*op, space) && !uses_read(*op, 0, op->num_src)) continue;
        for_each_def(*op, [&](Var v) {
          changed = changed || !read[v];
          read[v] = true;
        });
      }
    }
    uint32_t skipped_to = header;  // blocks before it may be jumped over, by what was read
    for (uint32_t b = header; b <= latch; ++b) {
      for (const Op& op : old_[b].ops) {
        if (op.kind == OpKind::kStore && space_of(op) == space) {
          const int address = op.memory.has_base ? 1 : 0;
          if (b < skipped_to || uses_read(op, 0, address)) return true;
          if (uses_read(op, address, op.num_src) &&
              !(address == 1 && goes_on_by_constants(op.src[0], ops, kDeepest)))
            return true;
        }
        if (op.kind == OpKind::kBranch && b != latch && op.guard != kNoVar && read[op.guard])
          skipped_to = std::max(skipped_to, op.target);
      }
    }
    return false;
  }
  static constexpr int kDeepest = 8;  // of operations that make an address
  /// The value is made of counters and numbers.
  static bool goes_on_by_constants(const Value& value, const std::vector<const Op*>& ops, int depth) {
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

  /// How often the loop is gone round if its counter begins and ends at constants, else 0.
  uint32_t known_trips(uint32_t header, Loop& loop) const {
    if (!loop.end.is_literal() || loop.end.launch_constant != kNone || entries_[header].size() != 1) return 0;
    const std::optional<Value> start = starts_at(header, loop, loop.counter.var);
    if (!start || start->object != kNoObject) return 0;
    const bool is_signed = gpusim::isa::is_signed(loop.type);
    const auto number = [&](uint64_t bits) {
      const auto word = static_cast<uint32_t>(bits);
      if (is_wide(loop)) return static_cast<int64_t>(bits);
      return is_signed ? int64_t{static_cast<int32_t>(word)} : int64_t{word};
    };
    const int64_t first = number(start->bits), end = number(loop.end.bits), step = loop.step;
    constexpr int64_t kLargestBound = int64_t{1} << 32;  // so that nothing below overflows
    if (first > kLargestBound || first < -kLargestBound || end > kLargestBound || end < -kLargestBound)
      return 0;
    const int64_t distance = step > 0 ? end - first : first - end, width = step > 0 ? step : -step;
    if (distance <= 0 || (loop.relation == CompareOp::kNe && distance % width != 0)) return 0;
    const int64_t steps = includes_end(loop) ? distance / width + 1 : (distance + width - 1) / width,
                  trips = steps + (loop.tests_first ? 1 : 0), last = first + trips * step;
    const bool wide = is_wide(loop);
    const int64_t least = !is_signed ? 0
                          : wide     ? INT64_MIN
                                     : INT32_MIN,
                  most = wide        ? INT64_MAX
                         : is_signed ? INT32_MAX
                                     : int64_t{UINT32_MAX};
    loop.start = first;
    return trips > kMostTrips || last < least || last > most ? 0 : static_cast<uint32_t>(trips);
  }
  static constexpr int64_t kMostTrips = 1 << 28;
  /// The number, or the place of a variable, that is moved to it in front of the loop.
  [[nodiscard]] std::optional<Value> starts_at(uint32_t header, const Loop& loop, Var var) const {
    const Op* start = nullptr;
    for (uint32_t b = header; b-- > 0 && start == nullptr;) {
      for (const Op& op : old_[b].ops) for_each_def(op, [&](Var v) { start = v == var ? &op : start; });
      const bool jumps_in = b + 1 == header && loop.entry != header;
      const bool may_end = !jumps_in && !old_[b].ops.empty() && leaves(old_[b].ops.back());
      if (may_end || (start == nullptr && !entries_[b].empty())) return std::nullopt;
    }
    if (start == nullptr || start->kind != OpKind::kAlu || start->guard != kNoVar ||
        static_cast<Opcode>(start->opcode()) != Opcode::kMov || start->num_src != 1 ||
        !start->src[0].is_literal() || start->src[0].launch_constant != kNone)
      return std::nullopt;
    return start->src[0];
  }
  /// Of a loop whose iterations are known.
  [[nodiscard]] UnrolledCost cost_of_known(uint32_t header, const Loop& loop) const {
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
    for (uint32_t b = header; b <= latch; ++b) {
      each.gone += old_[b].gone;
      for (const Op& op : old_[b].ops) {
        if (is_step(op)) continue;
        bool known = op.num_src != 0 && op.guard == kNoVar;
        const int sources = op.is_memory() ? (op.memory.has_base ? 1 : 0) : op.num_src;
        for (int i = 0; i < sources; ++i)
          known =
              known && (op.src[i].is_literal() ? op.src[i].launch_constant == kNone : number[op.src[i].var]);
        for (const Var v : op.pred_src) known = known && (v == kNoVar || number[v]);
        const bool loads = op.kind == OpKind::kLoad && !op.memory.asynchronous &&
                           (op.memory.space == Space::kShared || op.memory.space == Space::kLocal ||
                            (op.memory.space == Space::kParam && op.memory.has_base));
        if (known && loads) {
          ++each.loads;
        } else if (known && op.kind == OpKind::kAlu) {
          each.gone += operation_cost(op);
          for_each_def(op, [&](Var v) { number[v] = writes[v] == 1; });
        } else {
          each.left += operation_cost(op);
        }
      }
    }
    each.left -= std::min(each.left, 1u);      // the branch
    each.gone -= std::min(each.gone - 3, 1u);  // the test, if it was counted
    return each;
  }
  /// Nothing falls through it into the next block.
  static bool leaves(const Op& op) {
    const bool ends = op.kind == OpKind::kBranch || op.kind == OpKind::kBranchTable ||
                      op.kind == OpKind::kExit || op.kind == OpKind::kTrap || op.kind == OpKind::kReturn;
    return ends && op.guard == kNoVar;
  }

  /// The relation of numbers that holds where `relation` does not.
  static CompareOp otherwise(CompareOp relation) {
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
    if (ops.back().guard_negated) loop.relation = otherwise(loop.relation);
    loop.counter = op.src[0];
    loop.end = op.src[1];
    return is_integer(loop.type) && type_bytes(loop.type) >= 4 && !loop.counter.is_literal();
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
    loop.step = is_wide(loop) ? static_cast<int64_t>(op.src[constant].bits)
                              : static_cast<int32_t>(static_cast<uint32_t>(op.src[constant].bits));
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
    const uint32_t four_end = rounds(header, loop, kFour, true);
    branch(four_end, at_least(four_end, loop, kFour), false, four | kPlaced);
    const uint32_t after_four = new_block();
    branch(after_four, goes_on(after_four, loop), true, out);
    const uint32_t two_test = new_block();
    branch(two_test, at_least(two_test, loop, kTwo), true, kNone);
    new_block();
    const uint32_t two_end = rounds(header, loop, kTwo, true);
    branch(two_end, goes_on(two_end, loop), true, out);
    program_.blocks[first].ops.back().target = two_test | kPlaced;
    program_.blocks[two_test].ops.back().target = static_cast<uint32_t>(program_.blocks.size()) | kPlaced;
  }
  /// What comes before the loop where it is entered in the middle, the loop, and what is left of its
  /// iterations.
  void emit_known(uint32_t header, const Loop& loop) {
    ptx_index_ = old_[loop.latch].ops.back().ptx_index;
    new_block();
    Loop once = loop;
    if (loop.entry != header) (void)rounds(header, loop, 1, true);
    once.entry = header;
    const uint32_t loops = loop.known / loop.together, rest = loop.known % loop.together;
    const uint32_t first = new_block(), last = rounds(header, once, loop.together, rest != 0);
    program_.blocks[first].no_unroll = true;
    const bool went_on = loop.entry != header && !loop.tests_first;  // the counter, before the loop
    const int64_t steps = int64_t{loops} * loop.together + (went_on ? 1 : 0),
                  end = loop.start + steps * loop.step;
    const Var p = program_.new_var(VarClass::kPredicate);
    Op* op = form(last, form_key(Opcode::kSetp, loop.type, Type::kNone, compare_variant(CompareOp::kNe)));
    const auto bits = static_cast<uint64_t>(end);
    set_sources(*op, loop.counter, Value{kNoVar, is_wide(loop), is_wide(loop) ? bits : bits & 0xffffffffu});
    op->pred_dst[0] = p;
    branch(last, p, false, first | kPlaced);
    const Op& test = old_[loop.latch].ops.back();
    if (rest == 0 && test.counts_guarded) {
      program_.blocks[last].ops.back().counts_guarded = true;
      program_.blocks[last].ops.back().ptx_count = test.ptx_count;
    }
    if (rest != 0) {
      new_block();
      (void)rounds(header, once, rest, false);
    }
  }
  uint32_t new_block() {
    program_.blocks.emplace_back();
    return static_cast<uint32_t>(program_.blocks.size() - 1);
  }

  /// The numbers that counters and addresses start at, where their iterations can see them.
  void restate(uint32_t to, uint32_t header, const Loop& loop) {
    for (uint32_t b = header; b <= loop.latch; ++b) {
      for (const Op& op : old_[b].ops) {
        const std::optional<Value> start = is_step(op) ? starts_at(header, loop, op.dst[0]) : std::nullopt;
        if (!start || start->object != kNoObject) continue;
        const bool wide = type_bytes(op.type) == 8;
        Op* move = form(to, form_key(Opcode::kMov, wide ? Type::kB64 : Type::kB32));
        move->src[0] = *start;
        move->num_src = 1;
        move->dst[move->num_dst++] = op.dst[0];
      }
    }
  }

  /// Iterations one behind the other, from the last block on, which the first block of each continues;
  /// returns the block where they end. `go_on`: others always follow.
  uint32_t rounds(uint32_t header, const Loop& loop, uint32_t count, bool go_on) {
    std::vector<uint32_t> at(loop.latch - header + 1);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t from = i == 0 ? loop.entry : header;
      for (uint32_t b = from; b <= loop.latch; ++b)
        at[b - header] = b == from ? static_cast<uint32_t>(program_.blocks.size() - 1) : new_block();
      for (uint32_t b = from; b <= loop.latch; ++b) {
        std::vector<Op>& ops = program_.blocks[at[b - header]].ops;
        const size_t begin = ops.size();
        ops.insert(ops.end(), old_[b].ops.begin(), old_[b].ops.end());
        if (b == loop.latch) {
          const Op test = ops.back();
          ops.pop_back();
          // Some of what it counts may be a jump back, which is not done after the last of them.
          if (!test.counts_guarded || go_on || i + 1 < count) add_count(ops, begin, test);
        } else if (!ops.empty() && ops.back().kind == OpKind::kBranch &&
                   !leads_out(ops.back(), header, loop)) {
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

  static bool is_wide(const Loop& loop) { return type_bytes(loop.type) == 8; }
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
    const Type word = is_wide(loop) ? Type::kU64 : Type::kU32;
    Value distance = loop.counter;
    if (up || !loop.end.is_literal() || loop.end.bits != 0) {
      const Var d = program_.new_var(is_wide(loop) ? VarClass::kRow64 : VarClass::kRow32);
      Op* op = form(to, form_key(Opcode::kSub, word));
      set_sources(*op, up ? loop.end : loop.counter, up ? loop.counter : loop.end);
      op->dst[op->num_dst++] = d;
      distance = Value{d, is_wide(loop), 0};
    }
    Var p = program_.new_var(VarClass::kPredicate);
    Op* far = form(to, form_key(Opcode::kSetp, word, Type::kNone, compare_variant(CompareOp::kGt)));
    set_sources(*far, distance, Value{kNoVar, is_wide(loop), least});
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
  bool again_;
  std::vector<Block> old_;                      // the program as it was
  std::vector<uint32_t> latch_;                 // of the block where a loop begins
  std::vector<std::vector<uint32_t>> entries_;  // blocks that branch to each
  std::vector<bool> divergent_;                 // of the variables that there were
  uint32_t ptx_index_ = 0;
};

}  // namespace

bool unroll_loops(Program& program, const Flow& flow, SimdLevel level, bool again) {
  return Unroller(program, flow, level, again).run();
}

}  // namespace gpusim::isa::lir
