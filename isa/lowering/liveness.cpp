#include "isa/lowering/liveness.h"

#include <algorithm>

#include "isa/lowering/bit_set.h"
#include "isa/ptx/control_flow.h"

namespace gpusim::isa::lir {
namespace {

template <class Fn>
void visit_uses(const Program& program, const Op& op, Fn fn) {
  for_each_use(op, fn);
  if (op.folded != kNone) for_each_use(program.folded[op.folded], fn);
}
template <class Fn>
void visit_defs(const Program& program, const Op& op, Fn fn) {
  for_each_def(op, fn);
  if (op.folded != kNone) for_each_def(program.folded[op.folded], fn);
}

/// Dense numbers for the variables that some block reads before it has certainly written them: only those can
/// be alive at a block's start.
std::vector<uint32_t> number_crossing(const Program& program, uint32_t& count) {
  std::vector<uint32_t> number(program.vars.size(), kNone), written_in(program.vars.size(), kNone);
  count = 0;
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    for (const Op& op : program.blocks[b].ops) {
      const Var own = op.folded == kNone ? kNoVar : program.folded[op.folded].dst[0];
      visit_uses(program, op, [&](Var v) {
        if (v != own && written_in[v] != b && number[v] == kNone) number[v] = count++;
      });
      if (op.overwrites()) {
        visit_defs(program, op, [&](Var v) { written_in[v] = b; });
      } else {
        // Lanes outside the guard keep the old value: it is read, so to say.
        visit_defs(program, op, [&](Var v) {
          if (v != own && written_in[v] != b && number[v] == kNone) number[v] = count++;
        });
      }
    }
  }
  return number;
}

struct DataFlow {
  std::vector<BitSet> live_in, live_out, defined_in;
};

DataFlow solve(const Program& program, const Flow& flow, const std::vector<uint32_t>& number,
               uint32_t count) {
  const size_t n = program.blocks.size();
  std::vector<BitSet> reads(n, BitSet(count)), kills(n, BitSet(count)), defines(n, BitSet(count));
  for (size_t b = 0; b < n; ++b) {
    for (const Op& op : program.blocks[b].ops) {
      visit_uses(program, op, [&](Var v) {
        if (number[v] != kNone && !kills[b].test(number[v])) reads[b].set(number[v]);
      });
      visit_defs(program, op, [&](Var v) {
        if (number[v] == kNone) return;
        defines[b].set(number[v]);
        if (op.overwrites()) kills[b].set(number[v]);
      });
    }
  }
  DataFlow d;
  d.live_in = reads;
  d.live_out.assign(n, BitSet(count));
  d.defined_in.assign(n, BitSet(count));
  std::vector<BitSet>& defined_out = defines;
  std::vector<std::vector<uint32_t>> predecessors(n);
  for (const auto& [from, to] : flow.edges) predecessors[to].push_back(from);
  std::vector<uint32_t> work;
  std::vector<bool> queued(n, true);
  for (uint32_t b = 0; b < n; ++b) work.push_back(b);
  while (!work.empty()) {  // backward: live
    const uint32_t b = work.back();
    work.pop_back();
    queued[b] = false;
    for (const auto& [from, s] : flow.out_of(b)) d.live_out[b].add(d.live_in[s], nullptr);
    if (!d.live_in[b].add(d.live_out[b], &kills[b])) {
      // nothing new, but the first visit of a block must still reach its predecessors through reads
    }
    for (const uint32_t p : predecessors[b]) {
      if (!queued[p] && d.live_out[p].add(d.live_in[b], nullptr)) {
        queued[p] = true;
        work.push_back(p);
      }
    }
  }
  for (uint32_t b = static_cast<uint32_t>(n); b-- > 0;) work.push_back(b);
  queued.assign(n, true);
  while (!work.empty()) {  // forward: may be defined
    const uint32_t b = work.back();
    work.pop_back();
    queued[b] = false;
    defined_out[b].add(d.defined_in[b], nullptr);
    for (const auto& [from, s] : flow.out_of(b)) {
      if (d.defined_in[s].add(defined_out[b], nullptr) && !queued[s]) {
        queued[s] = true;
        work.push_back(s);
      }
    }
  }
  return d;
}

}  // namespace

bool early_clobber(const Program& program, const Op& op) {
  int results = 0;
  bool wide = false, narrow = false;
  for (int i = 0; i < op.num_dst; ++i) {
    ++results;
    (is_wide(program.vars[op.dst[i]]) ? wide : narrow) = true;
  }
  if (results == 0) return false;
  for (int i = 0; i < op.num_src; ++i) {
    if (!op.src[i].is_literal()) (is_wide(program.vars[op.src[i].var]) ? wide : narrow) = true;
  }
  return results > 1 || (wide && narrow);
}

Liveness compute_liveness(const Program& program, const Flow& flow) {
  uint32_t count = 0;
  const std::vector<uint32_t> number = number_crossing(program, count);
  std::vector<Var> var_of(count);
  for (Var v = 0; v < number.size(); ++v) {
    if (number[v] != kNone) var_of[number[v]] = v;
  }
  const DataFlow d = solve(program, flow, number, count);
  Liveness live;
  live.segments.resize(program.blocks.size());
  std::vector<uint32_t> slot(program.vars.size(), kNone);  // index into the block's segments
  uint32_t index = 0;
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    live.first_op.push_back(index);
    std::vector<Segment>& segments = live.segments[b];
    const uint32_t ops = static_cast<uint32_t>(program.blocks[b].ops.size());
    const uint32_t block_end = 2 * (index + ops) - 1;
    // An empty block has no half-step of its own: what lives through it has a segment in the next one.
    if (ops == 0) continue;
    d.live_in[b].for_each([&](size_t g) {
      if (!d.defined_in[b].test(g)) return;
      slot[var_of[g]] = static_cast<uint32_t>(segments.size());
      segments.push_back({var_of[g], 2 * index, 2 * index});
    });
    const auto open = [&](Var v, uint32_t at) {
      slot[v] = static_cast<uint32_t>(segments.size());
      segments.push_back({v, at, at});
    };
    const auto read = [&](Var v, uint32_t at) {
      if (slot[v] == kNone) open(v, at);
      segments[slot[v]].end = std::max(segments[slot[v]].end, at);
    };
    const auto write = [&](Var v, uint32_t at, bool kills) {
      // The range of the old value ended with its last reader; nothing lives in the gap.
      if (kills && slot[v] != kNone && segments[slot[v]].end + 1 < at) open(v, at);
      read(v, at);
    };
    for (const Op& op : program.blocks[b].ops) {
      const uint32_t at = 2 * index++;
      const Var own = op.folded == kNone ? kNoVar : program.folded[op.folded].dst[0];
      visit_uses(program, op, [&](Var v) {
        if (v != own) read(v, at);
      });
      const bool clobber = early_clobber(program, op), kills = op.overwrites();
      for (int i = 0; i < op.num_dst; ++i) {
        if (clobber) write(op.dst[i], at, kills);
      }
      for_each_def(op, [&](Var v) { write(v, at + 1, kills); });
    }
    for (uint32_t i = 0; i < segments.size(); ++i) {
      Segment& s = segments[i];
      if (slot[s.var] != i) continue;
      if (number[s.var] != kNone && d.live_out[b].test(number[s.var])) s.end = std::max(block_end, s.end);
    }
    for (const Segment& s : segments) slot[s.var] = kNone;
  }
  return live;
}

std::vector<uint32_t> block_pressure(const Program& program, const Liveness& live, uint32_t block) {
  const uint32_t first = 2 * live.first_op[block];
  const size_t steps = 2 * program.blocks[block].ops.size() + 1;
  std::vector<int64_t> change(steps + 1, 0);
  for (const Segment& s : live.segments[block]) {
    if (s.var == program.stack_pointer) continue;  // always alive: register_estimate() adds it
    const uint32_t width = thread_registers(program, s.var);
    change[s.begin - first] += width;
    change[std::min<size_t>(s.end - first + 1, steps)] -= width;
  }
  std::vector<uint32_t> pressure(steps);
  int64_t sum = 0;
  for (size_t i = 0; i < steps; ++i) {
    sum += change[i];
    pressure[i] = static_cast<uint32_t>(sum);
  }
  return pressure;
}

std::vector<double> block_weights(const Program& program) {
  std::vector<int> change(program.blocks.size() + 1, 0);
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    if (program.blocks[b].ops.empty()) continue;
    const Op& last = program.blocks[b].ops.back();
    uint32_t target = kNone;
    if (last.kind == OpKind::kBranch) target = last.target;
    if (last.kind == OpKind::kBranchTable) target = *std::ranges::min_element(program.tables[last.target]);
    if (target > b) continue;
    ++change[target];
    --change[b + 1];
  }
  std::vector<double> weights;
  int depth = 0;
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    depth += change[b];
    double w = 1;
    for (int i = 0; i < std::min(depth, 6); ++i) w *= 10;
    weights.push_back(w);
  }
  return weights;
}

uint32_t register_estimate(const Program& program, const Flow& flow) {
  const Liveness live = compute_liveness(program, flow);
  uint32_t most = 0;
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    for (const uint32_t p : block_pressure(program, live, b)) most = std::max(most, p);
  }
  return std::max(most + (program.stack_pointer != kNoVar ? 1 : 0), 1u);
}

Flow build_flow(const Program& program) {
  Flow flow;
  const uint32_t n = static_cast<uint32_t>(program.blocks.size());
  std::vector<uint32_t> next;
  for (uint32_t b = 0; b < n; ++b) {
    const Op* last = program.blocks[b].ops.empty() ? nullptr : &program.blocks[b].ops.back();
    const OpKind kind = last != nullptr ? last->kind : OpKind::kNop;
    const bool branch = kind == OpKind::kBranch || kind == OpKind::kBranchTable;
    const bool exit = kind == OpKind::kExit || kind == OpKind::kTrap || kind == OpKind::kReturn;
    const bool falls = !(branch || exit) || last->guard != kNoVar;
    next.clear();
    if (falls && b + 1 < n) next.push_back(b + 1);
    if (kind == OpKind::kBranch) next.push_back(last->target);
    if (kind == OpKind::kBranchTable)
      next.insert(next.end(), program.tables[last->target].begin(), program.tables[last->target].end());
    if (next.size() > 1) {
      std::sort(next.begin(), next.end());
      next.erase(std::unique(next.begin(), next.end()), next.end());
    }
    if (exit || (falls && b + 1 == n)) flow.exits.push_back(b);
    flow.first_edge.push_back(static_cast<uint32_t>(flow.edges.size()));
    for (const uint32_t s : next) flow.edges.emplace_back(b, s);
  }
  flow.first_edge.push_back(static_cast<uint32_t>(flow.edges.size()));
  return flow;
}

}  // namespace gpusim::isa::lir
