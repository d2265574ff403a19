// Spilling: variables leave their register until at most `limit` registers are alive anywhere. Victims are
// chosen where the pressure is too high: first those whose accesses lie in the least deep loop, each loop
// counting tenfold, then those with the fewest accesses per step of their range. A value that needs no
// register to compute (recomputable()) is computed again before each reader. Others go to local memory: each
// access then goes through a short-lived variable and a local load or store under the guard of its op.
#include <algorithm>
#include <unordered_map>

#include "isa/lowering/dominance.h"
#include "isa/lowering/liveness.h"

namespace gpusim::isa::lir {
namespace {

/// What one recomputation costs, where a local access costs 1: less, even one loop deeper.
constexpr double kRecomputeCost = 0.05;
constexpr int kMaxRounds = 12;  // each round adds short ranges; the rest is what one op needs at once

struct Cost {
  double peak = 0;  ///< of the access in the deepest loop
  double accesses = 0;
  uint64_t length = 0;
};

class Spiller {
 public:
  Spiller(Program& program, const Flow& flow, uint32_t limit, SimdLevel level)
      : program_(program), flow_(flow), limit_(limit), level_(level), weights_(block_weights(program)) {
    const SsaValues ssa(program, flow);
    for (const Block& block : program.blocks) {
      for (const Op& op : block.ops) {
        if (recomputable(op) && ssa.is_value(op.dst[0])) recompute_.emplace(op.dst[0], op);
      }
    }
  }

  uint32_t run() {
    uint32_t moved = 0;
    for (int round = 0; round < kMaxRounds; ++round) {
      if (!choose()) break;
      for (Var v = 0; v < chosen_.size(); ++v) {
        if (chosen_[v] && !recompute_.contains(v)) moved += register_width(program_, v);
      }
      rewrite();
    }
    return moved;
  }

 private:
  /// Marks victims; false if no point is above the limit or nothing can move.
  bool choose() {
    const Liveness live = compute_liveness(program_, flow_);
    costs_.assign(program_.vars.size(), Cost{});
    fixed_.resize(program_.vars.size(), false);
    if (program_.stack_pointer != kNoVar) fixed_[program_.stack_pointer] = true;
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) {
      const auto count = [&](Var v) {
        const double cost = weights_[b] * (recompute_.contains(v) ? kRecomputeCost : 1);
        costs_[v].peak = std::max(costs_[v].peak, cost);
        costs_[v].accesses += cost;
      };
      for (const Op& op : program_.blocks[b].ops) {
        for_each_use(op, count);
        for_each_def(op, count);
        if (op.folded == kNone) continue;
        for_each_use(program_.folded[op.folded], count);
        for_each_def(program_.folded[op.folded], [&](Var v) { fixed_[v] = true; });
      }
      for (const Segment& s : live.segments[b]) costs_[s.var].length += s.end - s.begin + 1;
    }
    for_each_through(program_, live, [&](const Segment& s) { costs_[s.var].length += s.end - s.begin + 1; });
    chosen_.assign(program_.vars.size(), false);
    for (const uint32_t width : {1, 2}) by_width_[width - 1] = BitSet(live.crossings.variables.size());
    for (size_t n = 0; n < live.crossings.variables.size(); ++n) {
      const Var v = live.crossings.variables[n];
      const uint32_t width = register_width(program_, v);
      if (width != 0 && v != program_.stack_pointer) by_width_[width - 1].set(n);
    }
    bool any = false;
    for (uint32_t b = 0; b < program_.blocks.size(); ++b) any = relieve(live, b) || any;
    return any;
  }

  /// Walks the points of one block; above the limit the cheapest live variables leave.
  bool relieve(const Liveness& live, uint32_t block) {
    if (most_at_once(live, block) <= limit_) return false;
    std::vector<Segment> segments = all_segments(program_, live, block);
    std::sort(segments.begin(), segments.end(),
              [](const Segment& a, const Segment& b) { return a.begin < b.begin; });
    std::vector<Segment> alive;
    uint32_t pressure = 0;
    bool any = false;
    for (size_t i = 0; i < segments.size(); ++i) {
      const uint32_t at = segments[i].begin;
      // What begins together, as all that lives into a block does, ends nothing of each other.
      if (i == 0 || segments[i - 1].begin != at) {
        std::erase_if(alive, [&](const Segment& s) {
          if (s.end >= at) return false;
          pressure -= register_width(program_, s.var);
          return true;
        });
      }
      if (chosen_[segments[i].var] || register_width(program_, segments[i].var) == 0 ||
          segments[i].var == program_.stack_pointer)
        continue;
      alive.push_back(segments[i]);
      pressure += register_width(program_, segments[i].var);
      if (i + 1 < segments.size() && segments[i + 1].begin == at) continue;
      while (pressure > limit_) {
        auto victim = std::min_element(alive.begin(), alive.end(), [&](const Segment& a, const Segment& b) {
          return rank(a.var) < rank(b.var);
        });
        if (victim == alive.end() || fixed_[victim->var]) break;
        chosen_[victim->var] = true;
        if (const uint32_t n = live.crossings.number[victim->var]; n != kNone)
          for (BitSet& variables : by_width_) variables.reset(n);
        any = true;
        pressure -= register_width(program_, victim->var);
        alive.erase(victim);
      }
    }
    return any;
  }
  /// Registers if all that is alive anywhere in the block were so at once.
  [[nodiscard]] size_t most_at_once(const Liveness& live, uint32_t block) const {
    const BitSet& through = live.crossings.through[block];
    size_t most = through.common(by_width_[0]) + 2 * through.common(by_width_[1]);
    for (const Segment& s : live.segments[block])
      if (!chosen_[s.var] && s.var != program_.stack_pointer) most += register_width(program_, s.var);
    return most;
  }
  std::pair<double, double> rank(Var v) const {
    if (fixed_[v]) return {1e300, 0};
    const Cost& c = costs_[v];
    return {c.peak, c.accesses / static_cast<double>(c.length + 1) / register_width(program_, v)};
  }

  void rewrite() {
    slots_.resize(program_.vars.size(), kNone);
    for (Block& block : program_.blocks) {
      std::vector<Op> ops;
      ops.reserve(block.ops.size() * 2);
      for (Op& op : block.ops) rewrite_op(op, ops);
      block.ops = std::move(ops);
      drop_nops(block);
    }
  }

  void rewrite_op(Op& op, std::vector<Op>& out) {
    std::array<std::pair<Var, Var>, 16> renamed;  // at most 10 sources, 4 results and a folded address
    size_t count = 0;
    const auto stand_in = [&](Var v) {
      for (size_t i = 0; i < count; ++i) {
        if (renamed[i].first == v) return renamed[i].second;
      }
      const Var t = program_.new_var(program_.vars[v]);
      fixed_.resize(program_.vars.size(), false);
      chosen_.resize(program_.vars.size(), false);
      slots_.resize(program_.vars.size(), kNone);
      fixed_[t] = true;
      renamed[count++] = {v, t};
      return t;
    };
    const auto reload = [&](Op& reader) {
      for (int i = 0; i < reader.num_src; ++i) {
        if (reader.src[i].is_literal() || !chosen_[reader.src[i].var]) continue;
        const Var v = reader.src[i].var;
        const size_t before = count;
        const Var t = stand_in(v);
        if (count != before) out.push_back(bring(v, t, op));
        reader.src[i].var = t;
      }
    };
    reload(op);
    if (op.folded != kNone) reload(program_.folded[op.folded]);
    std::array<std::pair<Var, Var>, 4> stores;
    size_t num_stores = 0;
    for (int i = 0; i < op.num_dst; ++i) {
      if (!chosen_[op.dst[i]]) continue;
      const Var v = op.dst[i];
      if (recompute_.contains(v)) {  // its readers compute it themselves
        op.kind = OpKind::kNop;
        continue;
      }
      op.dst[i] = stand_in(v);
      stores[num_stores++] = {v, op.dst[i]};
    }
    const Op model = op;
    out.push_back(op);
    for (size_t i = 0; i < num_stores; ++i)
      out.push_back(transfer(OpKind::kStore, stores[i].first, stores[i].second, model));
  }

  /// Brings the value of `spilled` into `temporary`, for the op `model`.
  Op bring(Var spilled, Var temporary, const Op& model) {
    const auto it = recompute_.find(spilled);
    if (it == recompute_.end()) return transfer(OpKind::kLoad, spilled, temporary, model);
    Op op = it->second;
    op.dst[0] = temporary;
    op.guard = model.guard;
    op.guard_negated = model.guard_negated;
    op.ptx_index = model.ptx_index;
    op.ptx_count = 0;
    return op;
  }

  Op transfer(OpKind kind, Var spilled, Var temporary, const Op& model) {
    if (slots_[spilled] == kNone)
      slots_[spilled] = extend_frame(program_, program_.vars[spilled] == VarClass::kRow64 ? 8 : 4);
    Op op = frame_access(program_, kind, temporary, slots_[spilled], level_);
    op.guard = model.guard;
    op.guard_negated = model.guard_negated;
    op.ptx_index = model.ptx_index;
    return op;
  }

  Program& program_;
  const Flow& flow_;
  uint32_t limit_;
  SimdLevel level_;
  std::vector<double> weights_;
  std::unordered_map<Var, Op> recompute_;  // variables that need no register to compute, and how
  std::vector<Cost> costs_;
  std::array<BitSet, 2> by_width_;    // variables that cross blocks and were not chosen, of 32 and 64 bits
  std::vector<bool> chosen_, fixed_;  // fixed_: short ranges made here, and folded loads
  std::vector<uint32_t> slots_;
};

}  // namespace

uint32_t spill(Program& program, const Flow& flow, uint32_t limit, SimdLevel level) {
  return Spiller(program, flow, limit, level).run();
}

}  // namespace gpusim::isa::lir
