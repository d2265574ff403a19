#include "isa/lowering/ready_operations.h"

#include <algorithm>

#include "isa/lowering/schedule_rules.h"

namespace gpusim::isa::lir {
namespace {

/// Registers above the limit that it may take for a moment (from compute capability 7.0 on) where the
/// alternative is to wait for global memory: the address of one more load, which the load gives back.
constexpr int kLoan = 4;

/// What takes a register for code behind a barrier passes it if it is wanted within these cycles, or while
/// the warp waits for global memory. Of 20 to 200 tried with the kernels of regress/compiler, 40 to 60 give
/// the registers of those that have barriers best.
constexpr uint32_t kNear = 60;

/// Predicates of a thread: P0 to P6 (PT is always true).
constexpr int kPredicates = 7;

/// The key that puts the longest way first.
constexpr uint32_t kLongestWay = ~0u;

/// The first cycle from which on `due` is less than `ahead` cycles away.
uint32_t nearer_than(uint32_t ahead, uint32_t due) { return due < ahead ? 0 : due - ahead + 1; }

}  // namespace

bool ReadyOperations::is_ahead(const Candidate& c, const Moment& moment) const {
  return c.growth.registers > 0 && c.barriers > moment.barriers && c.due >= moment.now + kNear;
}
bool ReadyOperations::is_early(const Candidate& c, const Moment& moment) const {
  return c.growth.registers > 0 && c.due >= moment.now + c.horizon;
}

ReadyOperations::Rank ReadyOperations::rank(const Candidate& c, const Moment& moment) const {
  Rank r;
  r.index = c.index;
  r.over = std::max(0, moment.pressure.registers + c.growth.registers - static_cast<int>(options_.limit));
  if (options_.only_loads) {
    r.way = c.way >= kGlobalLatency ? 1 : 0;
    return r;
  }
  const uint32_t stall = c.ready_at <= moment.now ? 0 : c.ready_at - moment.now;
  const bool lockstep = options_.lockstep;
  const bool no_predicate =
      !lockstep && c.growth.predicates > 0 && moment.pressure.predicates + c.growth.predicates > kPredicates;
  r.late = no_predicate                                 ? kNoPredicate
           : r.over > kLoan || (r.over > 0 && lockstep) ? kOver
           : r.over > 0                                 ? kLoaned
           : is_ahead(c, moment)                        ? kAhead
           : is_early(c, moment) && !lockstep           ? kEarly
           : stall >= kGlobalLatency / 2 && !lockstep   ? kWaits
                                                        : kFits;
  r.stall = r.over > 0 ? 0 : stall;
  if (r.late == kOver && !lockstep)
    r.over = 0;  // what frees a register now may take more later, so the order is kept
  else
    r.way = c.way;
  return r;
}

uint32_t ReadyOperations::way_key(const Candidate& c) const {
  return kLongestWay - (options_.only_loads ? (c.way >= kGlobalLatency ? 1 : 0) : c.way);
}

/// The cycle from which on it neither waits nor is ahead or early, if no barrier is taken until then.
uint32_t ReadyOperations::plain_from(const Candidate& c, const Moment& moment) const {
  uint32_t from = c.ready_at;
  if (c.growth.registers <= 0) return from;
  if (!options_.lockstep) from = std::max(from, nearer_than(c.horizon, c.due));
  if (c.barriers > moment.barriers) from = std::max(from, nearer_than(kNear, c.due));
  return from;
}

void ReadyOperations::add(const Candidate& candidate, const Moment& moment) {
  const uint32_t index = candidate.index;
  all_[index] = candidate;
  const auto [number, added] =
      group_numbers_.try_emplace({candidate.growth.registers, std::max(candidate.growth.predicates, 0)},
                                 static_cast<uint32_t>(groups_.size()));
  if (added) groups_.emplace_back().growth = candidate.growth;
  Group& group = groups_[number->second];
  group_of_[index] = number->second;
  place_[index] = static_cast<uint32_t>(group.members.size());
  group.members.push_back(index);
  ++count_;
  group.by_way.emplace(way_key(candidate), index);
  if (options_.only_loads) return;
  group.by_index.emplace(0, index);
  sort_in(index, group, moment);
}

void ReadyOperations::sort_in(uint32_t index, Group& group, const Moment& moment) {
  const Candidate& c = all_[index];
  const uint32_t from = plain_from(c, moment);
  if (from <= moment.now)
    group.plain_by_way.emplace(way_key(c), index);
  else
    group.others.emplace(from, index);
}

void ReadyOperations::remove(uint32_t index) {
  Group& group = groups_[group_of_[index]];
  const uint32_t last = group.members.back();
  group.members[place_[index]] = last;
  place_[last] = place_[index];
  group.members.pop_back();
  group_of_[index] = kNone;
  --count_;
}

void ReadyOperations::change(uint32_t index, const Occupied& growth, const Moment& moment) {
  Candidate candidate = all_[index];
  if (candidate.growth.registers == growth.registers && candidate.growth.predicates == growth.predicates)
    return;
  remove(index);
  candidate.growth = growth;
  add(candidate, moment);
}

void ReadyOperations::pass_barrier(const Moment& moment) {
  if (options_.only_loads) return;
  for (Group& group : groups_) {
    if (group.growth.registers <= 0 || group.members.empty()) continue;
    group.others = {};
    group.plain_by_way = {};
    for (const uint32_t index : group.members) sort_in(index, group, moment);
  }
}

uint32_t ReadyOperations::first_of(Heap& heap, const Group& group) const {
  const auto number = static_cast<uint32_t>(&group - groups_.data());
  while (!heap.empty() && group_of_[heap.top().second] != number) heap.pop();
  return heap.empty() ? kNone : heap.top().second;
}

uint32_t ReadyOperations::search(const Group& group, const Moment& moment) const {
  uint32_t best = kNone;
  Rank best_rank;
  for (const uint32_t index : group.members) {
    const Rank r = rank(all_[index], moment);
    if (best != kNone && !r.before(best_rank)) continue;
    best = index;
    best_rank = r;
  }
  return best;
}

uint32_t ReadyOperations::best_of(Group& group, const Moment& moment) {
  if (options_.only_loads) return first_of(group.by_way, group);
  const Rank any = rank(all_[group.members.front()], moment);
  if (any.late == kOver && !options_.lockstep) return first_of(group.by_index, group);
  const int over = moment.pressure.registers + group.growth.registers - static_cast<int>(options_.limit);
  if (over > 0) return first_of(group.by_way, group);  // it is as late for all, and no stall counts
  if (any.late == kNoPredicate) return search(group, moment);
  const auto number = static_cast<uint32_t>(&group - groups_.data());
  for (; !group.others.empty() && group.others.top().first <= moment.now; group.others.pop()) {
    const uint32_t index = group.others.top().second;
    if (group_of_[index] == number) group.plain_by_way.emplace(way_key(all_[index]), index);
  }
  const uint32_t plain = first_of(group.plain_by_way, group);
  return plain != kNone ? plain : search(group, moment);
}

uint32_t ReadyOperations::take_best(const Moment& moment) {
  uint32_t best = kNone;
  Rank best_rank;
  for (Group& group : groups_) {
    if (group.members.empty()) continue;
    const uint32_t index = best_of(group, moment);
    const Rank r = rank(all_[index], moment);
    if (best != kNone && !r.before(best_rank)) continue;
    best = index;
    best_rank = r;
  }
  remove(best);
  return best;
}

}  // namespace gpusim::isa::lir
