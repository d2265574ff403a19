#include "analysis/models/latency_hidden/breakdown.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/profile/stall_causes.h"

namespace gpusim::analysis::latency_hidden {
namespace {

using Key = std::tuple<uint32_t, uint32_t, Wait>;

Key key_of(const Segment& s) { return {s.first, s.last, s.end}; }

/// Issue slots of an operation: those that its warps waited for data or at a barrier, and the others.
struct Slots {
  double waiting = 0, working = 0;
};

Slots slots_at(const KernelRecord& kernel, uint64_t pc) {
  Slots s;
  for (const CauseSlots& cause : kernel.causes) {
    const auto slots = static_cast<double>(kernel.per_pc[slots_column(cause.name)][pc]);
    const bool waits = cause.name == "barrier" ||
                       (waits_for_memory(cause_info(cause.name)) && cause.name != "memory_shared");
    (waits ? s.waiting : s.working) += slots;
  }
  return s;
}

}  // namespace

Breakdown break_down(const Subject& subject, const Estimate& estimate, const KernelRecord* kernel) {
  const Workload& w = subject.workload;
  // All of a stage's segments expose the same share of their latencies.
  std::vector<size_t> stage_of, place;  // of a segment, and in that its place
  std::vector<double> stage_compute(estimate.stages.size(), 0);
  for (const Segment& s : w.segments) {
    const bool first = stage_of.empty() || s.stage != w.segments[stage_of.size() - 1].stage;
    place.push_back(first ? 0 : place.back() + 1);
    stage_of.push_back(stage_of.empty() ? 0 : stage_of.back() + first);
    stage_compute[stage_of.back()] += s.weight * s.compute();
  }

  std::map<Key, SegmentTime> merged;
  std::map<uint32_t, double> executed, ended;  // of each operation, over all segments
  for (const Segment& s : w.segments) {
    for (const auto& [pc, n] : s.executed) executed[pc] += s.weight * n;
    ended[s.last] += s.weight;
  }
  std::map<uint32_t, Slots> slots;
  double cycles_per_slot = 0;
  if (kernel != nullptr) {
    for (uint64_t pc = 0; pc < kernel->per_pc.rows; ++pc)
      slots[static_cast<uint32_t>(pc)] = slots_at(*kernel, pc);
    cycles_per_slot = static_cast<double>(kernel->cycles) /
                      static_cast<double>(std::max<uint64_t>(1, kernel->total_slots()));
  }
  std::map<Key, double> latency_sum;
  for (size_t i = 0; i < w.segments.size(); ++i) {
    const Segment& s = w.segments[i];
    SegmentTime& t = merged[key_of(s)];
    t.first = s.first;
    t.last = s.last;
    t.end = s.end;
    t.weight += s.weight;
    t.ilp += s.weight * s.compute();
    t.latency += s.weight * s.wait;
    t.bytes += s.weight * (s.read + s.written);
    const RoundPart& part = estimate.all.stages[stage_of[i]];
    const Stage::Latency& latency = estimate.stages[stage_of[i]].latencies[place[i]];
    const double all = estimate.all.rounds * latency.waits + estimate.all.resident * latency.memory +
                       estimate.all.first * latency.pages;
    t.compute += part.work * s.weight * s.compute() / std::max(1e-9, stage_compute[stage_of[i]]);
    t.exposed += part.factor() * all;
    latency_sum[key_of(s)] += all;
    t.simulated += cycles_per_slot * slots[s.last].waiting * s.weight / ended[s.last];
    // A wait may go on behind the operation that it began at: other data that come at about the same time, or
    // the first operation after a barrier. It is the wait that the segment before ended with.
    SegmentTime& before = i == 0 ? t : merged[key_of(w.segments[i - 1])];
    for (const auto& [pc, n] : s.executed) {
      const double share = cycles_per_slot * s.weight * n / executed[pc];
      t.simulated += share * slots[pc].working;
      if (!ended.contains(pc)) before.simulated += share * slots[pc].waiting;
    }
  }
  Breakdown b;
  for (auto& [key, t] : merged) {
    t.ilp /= t.weight;
    t.latency /= t.weight;
    t.bytes /= t.weight;
    const double latency = latency_sum[key];
    t.factor = latency > 0 ? t.exposed / latency : 0;
    b.segments.push_back(t);
  }
  b.idle_predicted = estimate.cycles - estimate.active;
  if (kernel != nullptr) b.idle_simulated = cycles_per_slot * static_cast<double>(kernel->idle_slots());
  return b;
}

}  // namespace gpusim::analysis::latency_hidden
