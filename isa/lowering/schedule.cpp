// List scheduling inside basic blocks: what takes long starts early, as far as registers allow. Operations
// are taken one after the other from those whose inputs are there: the one with the longest way to the end
// of its stretch of code, or, where each would need more registers than the limit, the first one.
// Order is kept between writes and reads of a variable; between accesses that may touch the same memory;
// around volatile accesses and atomics; between operations of several lanes; and around whatever is no
// plain computation or access (branches, fences, calls, exits, reads of a clock): nothing passes those. From
// compute capability 7.0 on, what cannot see other threads' writes passes barriers. So every value is the
// same as before, and a clock still brackets what it did. Each operation keeps its PTX statement and count.
#include "isa/lowering/schedule.h"

#include <algorithm>

#include "isa/lowering/machine_count.h"
#include "isa/lowering/schedule_rules.h"

namespace gpusim::isa::lir {
namespace {

/// Longer stretches are scheduled piece by piece, which bounds the time.
constexpr uint32_t kLongest = 16384;

/// Cycles from an access to memory to the next operation: sub-cores share the load/store unit. It decides how
/// many loads fill the latency of the first one, and so how many registers they need, and which loads come
/// first where addresses are not ready at once. ptxas 13 leaves 4 between accesses (stall counts in its code
/// for 7.5, 8.0 and 9.0). Before 8.0, where it leaves 2 between operations of one pipe and here they take 1,
/// 3 gives its registers best.
uint32_t access_cycles(int capability) { return capability >= 80 ? 4 : 3; }

}  // namespace

BlockScheduler::BlockScheduler(const Program& program, const Crossings& crossings, bool lockstep)
    : program_(program),
      crossings_(crossings),
      dependences_(program, lockstep),
      segments_(program, crossings),
      alive_(program.vars.size(), false),
      kept_(program.vars.size(), false),
      wanted_(program.vars.size()) {}

void BlockScheduler::choose(uint32_t block) {
  block_ = block;
  ops_ = &program_.blocks[block].ops;
  find_borders();
  find_stretches();
}

void BlockScheduler::find_borders() {
  in_.clear();
  out_.clear();
  end_ = {};
  if (ops_->empty()) return;
  const Op& last = ops_->back();
  if (program_.machine_capability >= 70) end_.guard = last.guard;
  if (last.kind == OpKind::kBranch && last.target <= block_) end_.loop_guard = end_.guard;
  const auto last_step = 2 * static_cast<uint32_t>(ops_->size()) - 1;
  for (const Segment& s : segments_.find(block_, *ops_, 0)) {
    if (s.var == program_.stack_pointer) continue;
    if (s.begin == 0) in_.push_back(s.var);
    if (s.end >= last_step) out_.push_back(s.var);
  }
}

void BlockScheduler::find_stretches() {
  stretches_.clear();
  reset();
  const std::vector<Op>& ops = *ops_;
  const int capability = program_.machine_capability;
  for (size_t at = 0; at < ops.size();) {
    size_t end = at;
    for (bool branches = false;
         end < ops.size() && end - at < kLongest && !is_wall(ops[end], capability) && !branches; ++end)
      branches = capability >= 70 && branches_inside(ops[end]);
    Stretch stretch{at, end, {}};
    if (end - at > 1)
      stretch.nodes = dependences_.find(std::span(ops).subspan(at, end - at), end_, alive_, kept_);
    for (; at < end; ++at) take(at);
    stretches_.push_back(std::move(stretch));
    for (; at < ops.size() && is_wall(ops[at], capability); ++at) take(at);
    if (at > end) stretches_.push_back({end, at, {}});
  }
}

/// Puts what is alive, and what is still to come, to the start of the block.
void BlockScheduler::reset() {
  for (const Var v : touched_) {
    alive_[v] = kept_[v] = false;
    wanted_[v] = {};
  }
  touched_.clear();
  pressure_ = {static_cast<int>(crossings_.through_registers[block_]),
               static_cast<int>(crossings_.through_predicates[block_])};
  if (program_.stack_pointer != kNoVar) {
    touched_.push_back(program_.stack_pointer);
    alive_[program_.stack_pointer] = kept_[program_.stack_pointer] = true;
  }
  for (const Var v : in_) {
    touched_.push_back(v);
    alive_[v] = true;
    pressure_ += cost(v);
  }
  for (const Var v : out_) {
    touched_.push_back(v);
    kept_[v] = true;
  }
  for (uint32_t i = 0; i < ops_->size(); ++i) {
    find_mentioned((*ops_)[i]);
    for (const auto& [v, times] : mentioned_) {
      touched_.push_back(v);
      wanted_[v].times += times;
      ++wanted_[v].operations;
      wanted_[v].last ^= i;
    }
  }
}

Occupied BlockScheduler::cost(Var v) const {
  return {static_cast<int>(thread_registers(program_, v)), program_.vars[v] == VarClass::kPredicate ? 1 : 0};
}

void BlockScheduler::find_mentioned(const Op& op) const {
  mentioned_.clear();
  each(op, [&](Var v) {
    const auto same = std::ranges::find(mentioned_, v, &std::pair<Var, uint32_t>::first);
    if (same != mentioned_.end())
      ++same->second;
    else
      mentioned_.emplace_back(v, 1);
  });
}

/// How many more `op` leaves occupied.
Occupied BlockScheduler::growth(const Op& op) const {
  Occupied change;
  for_each_def(op, [&](Var v) {
    if (!alive_[v]) change += cost(v);
  });
  find_mentioned(op);
  for (const auto& [v, times] : mentioned_) {
    if (!kept_[v] && wanted_[v].times == times) change -= cost(v);
  }
  return change;
}

/// The operation with this number in the block. last_ones_ then has those whose growth it changes: that of
/// another one that is ready changes if it alone is left to mention a variable, and never because a variable
/// comes alive, for its writers keep their order.
void BlockScheduler::take(size_t at) {
  const Op& op = (*ops_)[at];
  pressure_ += growth(op);
  for_each_def(op, [&](Var v) { alive_[v] = true; });
  last_ones_.clear();
  for (const auto& [v, times] : mentioned_) {
    Mentions& left = wanted_[v];
    left.times -= times;
    --left.operations;
    left.last ^= static_cast<uint32_t>(at);
    if (left.operations == 1) last_ones_.push_back(left.last);
    if (left.times == 0 && !kept_[v]) alive_[v] = false;
  }
}

Order BlockScheduler::order(const ScheduleOptions& options) {
  reset();
  Order order;
  order.ops.reserve(ops_->size());
  for (const Stretch& stretch : stretches_) {
    if (!stretch.nodes.empty()) {
      schedule(stretch, options, order);
      continue;
    }
    for (size_t at = stretch.begin; at < stretch.end; ++at) {
      take(at);
      order.ops.push_back((*ops_)[at]);
    }
  }
  return order;
}

void BlockScheduler::schedule(const Stretch& stretch, const ScheduleOptions& options, Order& order) {
  const std::span<const Op> ops = std::span(*ops_).subspan(stretch.begin, stretch.end - stretch.begin);
  const std::vector<Node>& nodes = stretch.nodes;
  const auto count = static_cast<uint32_t>(ops.size());
  Moment moment{0, 0, pressure_};
  ReadyOperations ready(options, count);
  std::vector<bool> done(count, false);
  std::vector<uint32_t> waits(count), ready_at(count, 0);
  for (uint32_t i = 0; i < count; ++i) waits[i] = nodes[i].waits;
  uint32_t oldest = 0, seen = 0;  // the first operation that is not taken; behind those of the window
  const auto add = [&](uint32_t i) {
    const Node& n = nodes[i];
    const uint32_t horizon = n.horizon != 0 ? n.horizon : kGlobalLatency;
    ready.add({i, n.way, ready_at[i], n.due, n.barriers, horizon, growth(ops[i])}, moment);
  };
  const auto look_further = [&] {
    while (oldest < count && done[oldest]) ++oldest;
    for (; seen < count && seen < oldest + options.window; ++seen) {
      if (waits[seen] == 0) add(seen);
    }
  };
  look_further();
  while (!ready.empty()) {
    const uint32_t i = ready.take_best(moment);
    const Op& op = ops[i];
    done[i] = true;
    if (ready_at[i] >= moment.now + kGlobalLatency / 2) ++order.waits;
    moment.now = std::max(moment.now, ready_at[i]);
    const uint32_t started = moment.now;
    if (!nodes[i].joins)
      moment.now += access_of(program_, op) != nullptr ? access_cycles(program_.machine_capability) : 1;
    take(stretch.begin + i);
    moment.pressure = pressure_;
    order.ops.push_back(op);
    if (is_barrier(op)) {
      ++moment.barriers;
      ready.pass_barrier(moment);
    }
    for (const uint32_t last : last_ones_) {
      if (last < stretch.begin || last >= stretch.end) continue;
      const auto changed = static_cast<uint32_t>(last - stretch.begin);
      if (ready.contains(changed)) ready.change(changed, growth(ops[changed]), moment);
    }
    for (const uint32_t n : nodes[i].next) {
      ready_at[n] = std::max(ready_at[n], started + dependences_.gap(ops, nodes, i, n));
      if (--waits[n] == 0 && n < seen) add(n);
    }
    look_further();
  }
}

uint32_t BlockScheduler::registers(const Order& order) {
  return block_registers(program_, order.ops, segments_.find(block_, order.ops, 0),
                         crossings_.through_registers[block_]);
}

}  // namespace gpusim::isa::lir
