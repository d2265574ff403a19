// Turns short branches into predicates, as ptxas does (compute capability 7.0 and up): code that a guarded
// branch jumps over runs under the branch's predicate instead, if it is at most eight instructions, or six if
// all lanes of a warp go one way. Found by experiment with ptxas 13.0, the same for sm_75, sm_80 and sm_90.
// What stays a branch there stays one here: code with atomics, barriers, operations between lanes, and calls,
// code with a branch that was made a predicate itself, and code with loads from global memory, unless there
// is enough else to do beside them that the loads may wait for. A branch over an else part at the end of that
// code becomes a guarded branch, so that the else part may follow. Before that, conditions of several
// branches in a row (`a && b`, `a || b`) become one. A block that only one other leads to, and that goes on
// from it, becomes a part of it: what was several blocks is then scheduled as one.
//
// Results, and the count of PTX instructions, stay as they were: operations that the predicate guards count
// where it holds.
#include <algorithm>
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "isa/lowering/lir.h"
#include "isa/lowering/machine_count.h"
#include "isa/lowering/schedule_rules.h"
#include "isa/lowering/uniformity.h"

namespace gpusim::isa::lir {
namespace {

constexpr uint32_t kMostPredicated = 8, kMostOfUniform = 6;
// Instructions beside a load from global memory that neither lead to it nor wait for it, in a loop and
// outside of one. In a loop ptxas wants one more than the loop's own two, outside four more than the two that
// compute the addresses of the probe.
constexpr uint32_t kLeastBesideInLoop = 3, kLeastBeside = 6;
// Short branches on each side of one that are looked at for such instructions.
constexpr uint32_t kFarthest = 8;

using Code = std::deque<Op>;

class Predicator {
 public:
  Predicator(Program& program, const Flow& flow, SimdLevel level)
      : program_(program),
        level_(level),
        sizes_(block_instructions(program, flow)),
        divergent_(find_divergence(program, flow).variables),
        mentions_(program.vars.size(), 0),
        predecessors_(program.blocks.size(), 0),
        next_(program.blocks.size()),
        before_(program.blocks.size()),
        converted_(program.blocks.size(), false),
        in_loop_(program.blocks.size(), false) {
    for (uint32_t b = 0; b < next_.size(); ++b) next_[b] = b + 1;
    std::vector<int> loops(program.blocks.size() + 1, 0);  // that begin at a block, less those that ended
    for (const auto& [from, to] : flow.edges) {
      ++predecessors_[to];
      if (to > from) continue;
      ++loops[to];
      --loops[from + 1];
    }
    for (size_t b = 0, around = 0; b < in_loop_.size(); ++b) {
      around += static_cast<size_t>(loops[b]);
      in_loop_[b] = around != 0;
    }
    // Blocks that are found through a table, or begin the program, are led to from elsewhere.
    for (const std::vector<uint32_t>& table : program.tables)
      for (const uint32_t target : table) predecessors_[target] += 2;
    predecessors_[0] += 2;
    drop_empty();
    for (uint32_t b = 0; b < next_.size(); b = next_[b])
      if (next_[b] < next_.size()) before_[next_[b]] = b;
    for (const Block& block : program.blocks) {
      for (const Op& op : block.ops) each_mention(op, [&](Var v) { ++mentions_[v]; });
      code_.emplace_back(block.ops.begin(), block.ops.end());
    }
  }

  bool run() {
    bool any = false;
    const auto blocks = static_cast<uint32_t>(program_.blocks.size());
    for (uint32_t b = blocks; b-- > 0;)
      while (combine(b)) any = true;
    for (uint32_t b = blocks; b-- > 0;)
      while (convert(b)) any = true;
    if (!any) return false;
    renumber();
    // ptxas decides before which products and sums become one: not across what were blocks.
    for (Block& block : program_.blocks)
      for (Op& op : block.ops) op.contractible = false;
    return true;
  }

 private:
  static constexpr uint32_t kGone = kNone;

  /// Selection begins a block behind each branch, which is empty if a label follows at once.
  void drop_empty() {
    uint32_t before = 0;
    for (uint32_t b = 1; b < next_.size(); ++b) {
      const bool drop = program_.blocks[b].ops.empty() && b + 1 < next_.size() &&
                        predecessors_[b] == (falls_into(before, b) ? 1 : 0);
      if (!drop) {
        before = b;
        continue;
      }
      // The block behind it is now led to by `before`, or by one less.
      if (predecessors_[b] == 0 || branches_to(before, b + 1)) --predecessors_[b + 1];
      next_[before] = b + 1;
      next_[b] = kGone;
    }
  }
  bool branches_to(uint32_t b, uint32_t target) const {
    const std::vector<Op>& ops = program_.blocks[b].ops;
    return !ops.empty() && ops.back().kind == OpKind::kBranch && ops.back().target == target;
  }
  /// Without a branch there.
  bool falls_into(uint32_t b, uint32_t other) const {
    const std::vector<Op>& ops = program_.blocks[b].ops;
    if (ops.empty()) return true;
    const Op& last = ops.back();
    const bool leaves = last.kind == OpKind::kBranch || last.kind == OpKind::kBranchTable ||
                        last.kind == OpKind::kExit || last.kind == OpKind::kTrap ||
                        last.kind == OpKind::kReturn;
    return (!leaves || last.guard != kNoVar) && !branches_to(b, other);
  }

  template <class Fn>
  static void each_mention(const Op& op, Fn fn) {
    for_each_use(op, fn);
    for_each_def(op, fn);
  }

  /// The code behind the branch at the end of `b`, up to the branch's target, becomes a part of `b`.
  bool convert(uint32_t b) {
    if (next_[b] == kGone || code_[b].empty()) return false;
    const Op branch = code_[b].back();
    const uint32_t body = next_[b];
    if (branch.kind != OpKind::kBranch || branch.guard == kNoVar || body >= next_.size()) return false;
    const uint32_t after = next_[body];
    if (branch.target != after || predecessors_[body] != 1 || converted_[body]) return false;
    const uint32_t longest = divergent_[branch.guard] ? kMostPredicated : kMostOfUniform;
    if (sizes_[body] > longest || !predicable(body, branch.guard)) return false;
    if (loads_far(code_[body]) && !has_beside(b, body, in_loop_[b] ? kLeastBesideInLoop : kLeastBeside))
      return false;
    Code& code = code_[body];
    const bool goes_on = code.empty() || code.back().kind != OpKind::kBranch || code.back().guard != kNoVar;
    Code& ops = take_body(b, body);
    const auto counting =
        std::find_if(code.begin(), code.end(), [](const Op& op) { return op.guard == kNoVar; });
    for (Op& op : code) {
      if (op.guard != kNoVar) {
        counting->ptx_count = static_cast<uint16_t>(counting->ptx_count + op.ptx_count);
        op.ptx_count = 0;
      }
    }
    for (Op& op : code) {
      if (op.guard != kNoVar) {
        const Var both = form(Opcode::kAnd, ops, op.ptx_index, {op.guard, branch.guard},
                              {op.guard_negated, !branch.guard_negated});
        guard(op, both, false);
      } else {
        guard(op, branch.guard, !branch.guard_negated);
      }
      ops.push_back(op);
    }
    converted_[b] = true;
    if (goes_on) --predecessors_[after];  // it was led to from both
    absorb(b, body);
    const bool falls = ops.empty() || ops.back().kind != OpKind::kBranch;
    if (falls && after < next_.size() && predecessors_[after] == 1) {
      Code& rest = code_[after];
      // The shorter to the longer: in thousands of such branches each block would copy all that is behind it.
      if (ops.size() < rest.size()) {
        rest.insert(rest.begin(), ops.begin(), ops.end());
        ops.swap(rest);
      } else {
        ops.insert(ops.end(), rest.begin(), rest.end());
      }
      absorb(b, after);
    }
    return true;
  }
  /// `b` branches on a condition, and the block behind it does nothing but branch to the same place on
  /// another.
  bool combine(uint32_t b) {
    if (next_[b] == kGone || code_[b].empty()) return false;
    const Op branch = code_[b].back();
    const uint32_t body = next_[b];
    if (branch.kind != OpKind::kBranch || branch.guard == kNoVar || body >= next_.size()) return false;
    if (predecessors_[body] != 1 || code_[body].empty()) return false;
    const Op& second = code_[body].back();
    if (second.kind != OpKind::kBranch || second.guard == kNoVar || second.target != branch.target ||
        !predicable(body, branch.guard))
      return false;
    Code& ops = take_body(b, body);
    Op last = code_[body].back();
    code_[body].pop_back();
    for (Op& op : code_[body]) {
      guard(op, branch.guard, !branch.guard_negated);
      ops.push_back(op);
    }
    // What the second branch counted: where it would have been executed.
    if (ops.back().counts_guarded)
      ops.back().ptx_count = static_cast<uint16_t>(ops.back().ptx_count + last.ptx_count);
    const Var either = form(Opcode::kOr, ops, last.ptx_index, {last.guard, branch.guard},
                            {last.guard_negated, branch.guard_negated});
    last.ptx_count = 0;
    last.guard = either;
    last.guard_negated = false;
    ++mentions_[either];
    ops.push_back(last);
    --predecessors_[last.target];
    absorb(b, body);
    return true;
  }
  /// The ops of `b` without its branch, whose count goes to an operation before it that all its lanes
  /// execute.
  Code& take_body(uint32_t b, uint32_t body) {
    Code& ops = code_[b];
    const Op branch = ops.back();
    ops.pop_back();
    --sizes_[b];
    keep_count(ops, branch);
    mark_local(code_[body]);
    return ops;
  }

  void absorb(uint32_t b, uint32_t other) {
    sizes_[b] += sizes_[other];
    uint8_t& named = program_.blocks[b].shared_named;
    named = std::max(named, program_.blocks[other].shared_named);
    next_[b] = next_[other];
    next_[other] = kGone;
    if (next_[b] < next_.size()) before_[next_[b]] = b;
    // With its memory: thousands of blocks that each took all behind them would hold as many copies.
    code_[other] = Code();
  }

  static bool is_far(const Op& op) {
    const bool near = op.memory.space == Space::kShared || op.memory.space == Space::kConst ||
                      op.memory.space == Space::kParam;
    return op.kind == OpKind::kLoad && (!near || op.memory.is_volatile);
  }
  static bool loads_far(const Code& code) { return std::any_of(code.begin(), code.end(), is_far); }

  /// Code that a branch at the end of `b` jumps over and that may become predicated, or kGone.
  uint32_t short_code_behind(uint32_t b) const {
    if (code_[b].empty()) return kGone;
    const Op& branch = code_[b].back();
    const uint32_t body = next_[b];
    if (branch.kind != OpKind::kBranch || branch.guard == kNoVar || body >= next_.size()) return kGone;
    if (branch.target != next_[body] || next_[body] >= next_.size() || predecessors_[body] != 1) return kGone;
    return sizes_[body] <= kMostPredicated && predicable(body, branch.guard) ? body : kGone;
  }

  /// Whether at least so many instructions may run while loads of `body` wait: in the blocks that become one
  /// with it, if all short branches among them become predicates, and neither needed for these loads nor
  /// waiting for them. It looks no further then: what became one block may be long.
  bool has_beside(uint32_t b, uint32_t body, uint32_t least) const {
    uint32_t first = b;
    for (uint32_t n = 0; n < kFarthest && first != 0 && predecessors_[first] == 2; ++n) {
      const uint32_t code = before_[first];
      if (code == 0 || short_code_behind(before_[code]) != code) break;
      first = before_[code];
    }
    uint32_t last = next_[body];
    for (uint32_t n = 0; n < kFarthest && predecessors_[last] <= 2; ++n) {
      const uint32_t code = short_code_behind(last);
      if (code == kGone || predecessors_[next_[code]] > 2) break;
      last = next_[code];
    }
    if (predecessors_[last] > 2)
      last = body;  // a place that is led to from elsewhere begins a block of its own
    std::unordered_set<Var> needed{code_[b].back().guard}, waiting;
    for (const Op& op : code_[body]) {
      for_each_use(op, [&](Var v) { needed.insert(v); });
      for_each_def(op, [&](Var v) { waiting.insert(v); });
    }
    uint32_t count = 0;
    for (uint32_t x = body; x != first;) {
      x = before_[x];
      const Code& ops = code_[x];
      for (size_t i = ops.size(); i-- > 0;) {
        bool leads = false;
        for_each_def(ops[i], [&](Var v) { leads = leads || needed.count(v) != 0; });
        if (leads)
          for_each_use(ops[i], [&](Var v) { needed.insert(v); });
        else
          count += instructions(ops[i]);
        if (count >= least) return true;
      }
    }
    bool behind_barrier = false;
    for (uint32_t x = body; x != last;) {
      x = next_[x];
      for (const Op& op : code_[x]) {
        behind_barrier = behind_barrier || op.kind == OpKind::kBarrier;
        bool waits = behind_barrier && op.kind != OpKind::kAlu;
        for_each_use(op, [&](Var v) { waits = waits || waiting.count(v) != 0; });
        if (waits)
          for_each_def(op, [&](Var v) { waiting.insert(v); });
        else
          count += instructions(op);
        if (count >= least) return true;
      }
    }
    return false;
  }
  static uint32_t instructions(const Op& op) {
    if (op.kind == OpKind::kNop || op.kind == OpKind::kBranch || op.kind == OpKind::kBarrier) return 0;
    return op.op_class == OpClass::kInt64 ? 2 : 1;
  }

  /// A block that ends with a guarded branch is, if it only computes the condition.
  bool predicable(uint32_t b, Var guard) const {
    if (program_.blocks[b].no_unroll) return false;
    const Code& code = code_[b];
    // One operation that has no guard of its own counts for those that have.
    uint32_t count = 0;
    bool unguarded = false;
    for (const Op& op : code) {
      count += op.ptx_count;
      unguarded = unguarded || op.guard == kNoVar;
    }
    if (count > 0xffffu || !(unguarded || code.empty())) return false;
    for (size_t i = 0; i < code.size(); ++i) {
      const Op& op = code[i];
      const bool last = i + 1 == code.size();
      bool changes_guard = false;
      for_each_def(op, [&](Var v) { changes_guard = changes_guard || v == guard; });
      if (changes_guard) return false;
      switch (op.kind) {
        case OpKind::kNop:
          break;
        case OpKind::kAlu:
          if (op.op_class == OpClass::kSpecial || op.op_class == OpClass::kWarp || op.whole_warp)
            return false;
          break;
        case OpKind::kLoad:
          if (op.op_class == OpClass::kTexture) return false;
          break;
        case OpKind::kStore:
          if (op.memory.is_volatile) return false;
          break;
        case OpKind::kBranch:
          if (!last || (op.guard != kNoVar && !only_condition(code))) return false;
          break;
        default:
          return false;
      }
    }
    return true;
  }

  bool only_condition(const Code& code) const {
    if (code.size() < 2) return false;
    std::unordered_map<Var, uint32_t> here;
    for (const Op& op : code) each_mention(op, [&](Var v) { ++here[v]; });
    for (const Op& op : code) {
      if (op.kind != OpKind::kAlu && op.kind != OpKind::kBranch) return false;
      bool local = op.guard == kNoVar || op.kind == OpKind::kBranch;
      for_each_def(op, [&](Var v) { local = local && here[v] == mentions_[v]; });
      if (!local) return false;
    }
    return true;
  }

  /// What the removed branch counted goes to an operation before it that counts in the same lanes.
  static void keep_count(Code& ops, const Op& branch) {
    if (branch.ptx_count == 0) return;
    for (size_t i = ops.size(); i-- > 0;) {
      if (branch.counts_guarded && writes(ops[i], branch.guard))
        break;  // before it the guard says something else
      if (ops[i].counts_guarded != branch.counts_guarded ||
          (branch.counts_guarded &&
           (ops[i].guard != branch.guard || ops[i].guard_negated != branch.guard_negated)) ||
          ops[i].ptx_count > 0xffffu - branch.ptx_count)
        continue;
      ops[i].ptx_count = static_cast<uint16_t>(ops[i].ptx_count + branch.ptx_count);
      return;
    }
    Op nop;
    nop.kind = OpKind::kNop;
    nop.op_class = OpClass::kNop;
    nop.ptx_index = branch.ptx_index;
    nop.ptx_count = branch.ptx_count;
    nop.counts_guarded = branch.counts_guarded;
    if (branch.counts_guarded) {
      nop.guard = branch.guard;
      nop.guard_negated = branch.guard_negated;
    }
    ops.push_back(nop);
  }

  /// Values that nothing outside `body` reads: lanes that the predicate leaves out need not keep what was
  /// there.
  void mark_local(Code& body) {
    std::unordered_map<Var, uint32_t> here;
    std::unordered_map<Var, bool> written_first;
    for (const Op& op : body) {
      for_each_use(op, [&](Var v) { written_first.emplace(v, false); });
      for_each_def(op, [&](Var v) { written_first.emplace(v, op.guard == kNoVar); });
      each_mention(op, [&](Var v) { ++here[v]; });
    }
    for (Op& op : body) {
      if (op.guard != kNoVar) continue;
      bool local = true;
      for_each_def(op, [&](Var v) { local = local && here[v] == mentions_[v] && written_first[v]; });
      op.writes_all = local;
    }
  }

  void guard(Op& op, Var guard, bool negated) {
    op.guard = guard;
    op.guard_negated = negated;
    op.counts_guarded = true;
    ++mentions_[guard];
  }

  /// A predicate made of two.
  Var form(Opcode opcode, Code& ops, uint32_t ptx_index, std::array<Var, 2> sources,
           std::array<bool, 2> negated) {
    const Var result = program_.new_var(VarClass::kPredicate);
    mentions_.push_back(0);
    divergent_.push_back(divergent_[sources[0]] || divergent_[sources[1]]);
    Op op;
    op.key = form_key(opcode, Type::kPred);
    const SemanticRow* row = find_form(op.key, level_);
    op.kind = OpKind::kAlu;
    op.exec = row->exec;
    op.op_class = row->op_class;
    op.type = Type::kPred;
    op.ptx_index = ptx_index;
    op.pred_dst[0] = result;
    for (size_t i = 0; i < 2; ++i) {
      op.pred_src[i] = sources[i];
      op.pred_negated[i] = negated[i];
    }
    each_mention(op, [&](Var v) { ++mentions_[v]; });
    ops.push_back(op);
    return result;
  }

  void renumber() {
    std::vector<uint32_t> place(program_.blocks.size(), kNone);
    std::vector<Block> kept;
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) {
      if (next_[b] == kGone) continue;
      place[b] = static_cast<uint32_t>(kept.size());
      kept.push_back(std::move(program_.blocks[b]));
      kept.back().ops.assign(code_[b].begin(), code_[b].end());
    }
    for (Block& block : kept)
      for (Op& op : block.ops)
        if (op.kind == OpKind::kBranch) op.target = place[op.target];
    for (std::vector<uint32_t>& table : program_.tables)
      for (uint32_t& target : table) target = place[target];
    program_.blocks = std::move(kept);
  }

  Program& program_;
  SimdLevel level_;
  std::vector<Code> code_;       // of the blocks, which grow at both ends
  std::vector<uint32_t> sizes_;  // of blocks, in instructions
  std::vector<bool> divergent_;
  std::vector<uint32_t> mentions_;  // of variables, in the whole program
  std::vector<uint32_t> predecessors_;
  std::vector<uint32_t> next_;    // the block that follows, kGone for one that is part of another
  std::vector<uint32_t> before_;  // the block that it follows
  std::vector<bool> converted_;   // has a branch that became a predicate
  std::vector<bool> in_loop_;
};

}  // namespace

bool predicate_branches(Program& program, const Flow& flow, SimdLevel level) {
  return Predicator(program, flow, level).run();
}

}  // namespace gpusim::isa::lir
