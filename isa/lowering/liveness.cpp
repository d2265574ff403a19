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
  std::vector<BitSet> mentioned;
};

DataFlow solve(const Program& program, const Flow& flow, const std::vector<uint32_t>& number,
               uint32_t count) {
  const size_t n = program.blocks.size();
  DataFlow d;
  d.live_in.assign(n, BitSet(count));
  d.mentioned.assign(n, BitSet(count));
  std::vector<BitSet> kills(n, BitSet(count)), defines(n, BitSet(count));
  for (size_t b = 0; b < n; ++b) {
    for (const Op& op : program.blocks[b].ops) {
      visit_uses(program, op, [&](Var v) {
        if (number[v] == kNone) return;
        d.mentioned[b].set(number[v]);
        if (!kills[b].test(number[v])) d.live_in[b].set(number[v]);
      });
      visit_defs(program, op, [&](Var v) {
        if (number[v] == kNone) return;
        d.mentioned[b].set(number[v]);
        defines[b].set(number[v]);
        if (op.overwrites()) kills[b].set(number[v]);
      });
    }
  }
  d.live_out.assign(n, BitSet(count));
  d.defined_in.assign(n, BitSet(count));
  std::vector<std::vector<uint32_t>> predecessors(n);
  for (const auto& [from, to] : flow.edges) predecessors[to].push_back(from);
  // Along the flow, not the layout: else a chain of blocks that stand in another order is walked once for
  // each.
  std::vector<uint32_t> order = post_order(flow);
  std::vector<bool> waiting(n, true);
  for (bool changed = true; changed;) {  // backward: live
    changed = false;
    for (const uint32_t b : order) {
      if (!waiting[b]) continue;
      waiting[b] = false;
      for (const auto& [from, s] : flow.out_of(b)) d.live_out[b].add(d.live_in[s]);
      if (!d.live_in[b].add(d.live_out[b], kills[b])) continue;
      for (const uint32_t p : predecessors[b]) waiting[p] = changed = true;
    }
  }
  std::ranges::reverse(order);
  waiting.assign(n, true);
  for (bool changed = true; changed;) {  // forward: may be defined
    changed = false;
    for (const uint32_t b : order) {
      if (!waiting[b]) continue;
      waiting[b] = false;
      defines[b].add(d.defined_in[b]);
      for (const auto& [from, s] : flow.out_of(b)) {
        if (d.defined_in[s].add(defines[b])) waiting[s] = changed = true;
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

uint32_t count_crossing(const Program& program) {
  uint32_t count = 0;
  (void)number_crossing(program, count);
  return count;
}

Crossings find_crossings(const Program& program, const Flow& flow) {
  Crossings c;
  uint32_t count = 0;
  c.number = number_crossing(program, count);
  c.variables.resize(count);
  BitSet one(count), two(count), predicate(count);  // by what a thread has for it
  for (Var v = 0; v < c.number.size(); ++v) {
    const uint32_t n = c.number[v];
    if (n == kNone) continue;
    c.variables[n] = v;
    if (v == program.stack_pointer) continue;
    if (const uint32_t width = thread_registers(program, v); width != 0) (width == 1 ? one : two).set(n);
    if (program.vars[v] == VarClass::kPredicate) predicate.set(n);
  }
  DataFlow d = solve(program, flow, c.number, count);
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    BitSet& through = d.live_in[b];
    through.keep(d.defined_in[b]);
    std::vector<Var>& entering = c.entering.emplace_back();
    through.for_each_with(d.mentioned[b], [&](size_t v) { entering.push_back(c.variables[v]); });
    through.remove(d.mentioned[b]);
    if (program.blocks[b].ops.empty()) through = BitSet(count);
    c.through_registers.push_back(static_cast<uint32_t>(through.common(one) + 2 * through.common(two)));
    c.through_predicates.push_back(static_cast<uint32_t>(through.common(predicate)));
  }
  c.through = std::move(d.live_in);
  c.live_out = std::move(d.live_out);
  return c;
}

std::vector<Segment> SegmentFinder::find(uint32_t block, const std::vector<Op>& ops, uint32_t first_op) {
  std::vector<Segment> segments;
  // An empty block has no half-step of its own: what lives through it has a segment in the next one.
  if (ops.empty()) return segments;
  uint32_t index = first_op;
  const uint32_t block_end = 2 * (index + static_cast<uint32_t>(ops.size())) - 1;
  const auto open = [&](Var v, uint32_t at) {
    slot_[v] = static_cast<uint32_t>(segments.size());
    segments.push_back({v, at, at});
  };
  for (const Var v : crossings_.entering[block]) open(v, 2 * index);
  const auto read = [&](Var v, uint32_t at) {
    if (slot_[v] == kNone) open(v, at);
    segments[slot_[v]].end = std::max(segments[slot_[v]].end, at);
  };
  const auto write = [&](Var v, uint32_t at, bool kills) {
    // The range of the old value ended with its last reader; nothing lives in the gap.
    if (kills && slot_[v] != kNone && segments[slot_[v]].end + 1 < at) open(v, at);
    read(v, at);
  };
  for (const Op& op : ops) {
    const uint32_t at = 2 * index++;
    const Var own = op.folded == kNone ? kNoVar : program_.folded[op.folded].dst[0];
    visit_uses(program_, op, [&](Var v) {
      if (v != own) read(v, at);
    });
    const bool clobber = early_clobber(program_, op), kills = op.overwrites();
    for (int i = 0; i < op.num_dst; ++i) {
      if (clobber) write(op.dst[i], at, kills);
    }
    for_each_def(op, [&](Var v) { write(v, at + 1, kills); });
  }
  for (uint32_t i = 0; i < segments.size(); ++i) {
    Segment& s = segments[i];
    if (slot_[s.var] != i) continue;
    const uint32_t n = crossings_.number[s.var];
    if (n != kNone && crossings_.live_out[block].test(n)) s.end = std::max(block_end, s.end);
  }
  for (const Segment& s : segments) slot_[s.var] = kNone;
  return segments;
}

void find_segments(const Program& program, Liveness& live) {
  SegmentFinder finder(program, live.crossings);
  live.first_op.clear();
  live.segments.clear();
  uint32_t index = 0;
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    const std::vector<Op>& ops = program.blocks[b].ops;
    live.first_op.push_back(index);
    live.segments.push_back(finder.find(b, ops, index));
    index += static_cast<uint32_t>(ops.size());
  }
}

Liveness compute_liveness(const Program& program, const Flow& flow) {
  Liveness live;
  live.crossings = find_crossings(program, flow);
  find_segments(program, live);
  return live;
}

std::vector<Segment> all_segments(const Program& program, const Liveness& live, uint32_t block) {
  const Crossings& c = live.crossings;
  const uint32_t begin = 2 * live.first_op[block],
                 end = begin + 2 * static_cast<uint32_t>(program.blocks[block].ops.size()) - 1;
  std::vector<Segment> all;
  auto own = live.segments[block].begin();
  const auto first_of_others = own + static_cast<std::ptrdiff_t>(c.entering[block].size());
  c.through[block].for_each([&](size_t n) {
    for (; own != first_of_others && c.number[own->var] < n; ++own) all.push_back(*own);
    all.push_back({c.variables[n], begin, end});
  });
  all.insert(all.end(), own, live.segments[block].end());
  return all;
}

std::vector<uint32_t> pressure_of(const Program& program, const std::vector<Segment>& segments,
                                  uint32_t through, uint32_t first_op, size_t ops) {
  const uint32_t first = 2 * first_op;
  const size_t steps = 2 * ops + 1;
  std::vector<int64_t> change(steps + 1, 0);
  change[0] += through;
  change[steps - 1] -= through;
  for (const Segment& s : segments) {
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

std::vector<uint32_t> block_pressure(const Program& program, const Liveness& live, uint32_t block) {
  return pressure_of(program, live.segments[block], live.crossings.through_registers[block],
                     live.first_op[block], program.blocks[block].ops.size());
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

std::vector<uint32_t> post_order(const Flow& flow) {
  const auto blocks = static_cast<uint32_t>(flow.first_edge.size() - 1);
  std::vector<uint32_t> order;
  order.reserve(blocks);
  std::vector<bool> seen(blocks, false);
  std::vector<std::pair<uint32_t, uint32_t>> stack;  // a block, and its next edge
  for (uint32_t root = 0; root < blocks; ++root) {
    if (seen[root]) continue;
    seen[root] = true;
    stack.emplace_back(root, flow.first_edge[root]);
    while (!stack.empty()) {
      auto& [b, edge] = stack.back();
      if (edge == flow.first_edge[b + 1]) {
        order.push_back(b);
        stack.pop_back();
        continue;
      }
      const uint32_t next = flow.edges[edge++].second;
      if (seen[next]) continue;
      seen[next] = true;
      stack.emplace_back(next, flow.first_edge[next]);
    }
  }
  return order;
}

std::vector<bool> read_variables(const Program& program) {
  std::vector<bool> read(program.vars.size(), false);
  const auto note = [&](Var v) { read[v] = true; };
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops) for_each_use(op, note);
  for (const Op& op : program.folded) for_each_use(op, note);
  return read;
}

}  // namespace gpusim::isa::lir
