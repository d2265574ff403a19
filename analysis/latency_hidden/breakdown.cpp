#include "analysis/latency_hidden/breakdown.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/stall_causes.h"

namespace gpusim::analysis::latency_hidden {
namespace {

using Key = std::tuple<uint32_t, uint32_t, Wait>;

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

/// Latency of a segment in one round: waits of a warp for data and results, and the bandwidth's for all
/// warps.
double latency_of(const Segment& s, const Subject& subject, const Estimate& estimate) {
  const double warps = estimate.resident * subject.parameters.sms * subject.workload.shape.warps_per_block;
  return s.weight *
         (s.wait + std::max(0.0, s.chain - s.compute()) + warps * memory_time(s, subject.parameters));
}

}  // namespace

Breakdown break_down(const Subject& subject, const Estimate& estimate, const KernelRecord& kernel) {
  const Workload& w = subject.workload;
  const double warps_of_sm =
      static_cast<double>(w.shape.blocks) * w.shape.warps_per_block / subject.parameters.sms;
  std::vector<double> stage_time, stage_compute, stage_latency;
  const size_t num_stages = estimate.stages.size();
  stage_compute.assign(num_stages, 0);
  stage_latency.assign(num_stages, 0);
  std::vector<size_t> stage_of;
  for (const Segment& s : w.segments) {
    if (stage_of.empty() || s.stage != w.segments[stage_of.size() - 1].stage)
      stage_of.push_back(stage_of.empty() ? 0 : stage_of.back() + 1);
    else
      stage_of.push_back(stage_of.back());
    stage_compute[stage_of.back()] += warps_of_sm * s.weight * s.compute();
    stage_latency[stage_of.back()] += latency_of(s, subject, estimate);
  }
  double all = 0;
  for (const Stage& s : estimate.stages) {
    stage_time.push_back(
        round_time({s}, estimate.resident, estimate.resident * subject.parameters.sms, true));
    all += stage_time.back();
  }
  for (double& t : stage_time) t *= all > 0 ? estimate.active / all : 0;

  std::map<Key, SegmentTime> merged;
  std::map<uint32_t, double> executed, ended;  // of each operation, over all segments
  for (const Segment& s : w.segments) {
    for (const auto& [pc, n] : s.executed) executed[pc] += s.weight * n;
    ended[s.last] += s.weight;
  }
  std::map<uint32_t, Slots> slots;
  for (uint64_t pc = 0; pc < kernel.per_pc.rows; ++pc)
    slots[static_cast<uint32_t>(pc)] = slots_at(kernel, pc);
  const double cycles_per_slot =
      static_cast<double>(kernel.cycles) / static_cast<double>(std::max<uint64_t>(1, kernel.total_slots()));
  std::map<Key, double> latency_sum;
  for (size_t i = 0; i < w.segments.size(); ++i) {
    const Segment& s = w.segments[i];
    SegmentTime& t = merged[{s.first, s.last, s.end}];
    t.first = s.first;
    t.last = s.last;
    t.end = s.end;
    t.weight += s.weight;
    t.ilp += s.weight * s.compute();
    t.latency += s.weight * s.wait;
    t.bytes += s.weight * (s.read + s.written);
    // Operations of different units overlap: a stage is not busier than all its time.
    const size_t stage = stage_of[i];
    const double fits =
        std::min(1.0, stage_compute[stage] > 0 ? stage_time[stage] / stage_compute[stage] : 1);
    t.compute += fits * warps_of_sm * s.weight * s.compute();
    const double exposed = std::max(0.0, stage_time[stage] - stage_compute[stage]);
    const double share = stage_latency[stage] > 0
                             ? latency_of(s, subject, estimate) / stage_latency[stage]
                             : warps_of_sm * s.weight * s.compute() / std::max(1e-9, stage_compute[stage]);
    t.exposed += exposed * share;
    latency_sum[{s.first, s.last, s.end}] += latency_of(s, subject, estimate);
    for (const auto& [pc, n] : s.executed)
      t.simulated += cycles_per_slot * slots[pc].working * s.weight * n / executed[pc];
    t.simulated += cycles_per_slot * slots[s.last].waiting * s.weight / ended[s.last];
  }
  Breakdown b;
  const double rounds_of_sm =
      static_cast<double>(w.shape.blocks) / (estimate.resident * subject.parameters.sms);
  for (auto& [key, t] : merged) {
    t.ilp /= t.weight;
    t.latency /= t.weight;
    t.bytes /= t.weight;
    const double latency = rounds_of_sm * latency_sum[key];
    t.factor = latency > 0 ? t.exposed / latency : 0;
    b.segments.push_back(t);
  }
  b.idle_predicted = estimate.cycles - estimate.active;
  b.idle_simulated = cycles_per_slot * static_cast<double>(kernel.slots_of("no_warp"));
  return b;
}

}  // namespace gpusim::analysis::latency_hidden
