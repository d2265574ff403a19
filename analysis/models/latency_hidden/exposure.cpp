#include "analysis/models/latency_hidden/exposure.h"

#include <algorithm>

namespace gpusim::analysis::latency_hidden {
namespace {

Workload without_latency(Workload w) {
  for (Segment& s : w.segments) {
    const double step = std::min(s.step_chain, w.shape.warps_per_block * s.in_turn);
    s.shorten(std::min(s.chain, s.compute()), 0);
    s.step_chain = step;  // units that warps in step use in turn are work
    s.asks = std::min(s.asks, s.chain);
    s.read = s.written = s.second = s.pages = 0;
    s.behind = {};
  }
  return w;
}

/// `stages` are `bare` with their latencies.
RoundPart part_of(const std::vector<Stage>& stages, const std::vector<Stage>& bare, double blocks,
                  double resident, bool together) {
  RoundPart part;
  for (const Stage& s : stages) part.latency += s.waits + resident * s.memory + (together ? s.pages : 0);
  const double time = round_time(stages, blocks, resident, together);
  const double longer = time - round_time(bare, blocks, resident, together);
  // Warps that waited are apart, and may use different units better than those that never waited: no latency
  // is exposed then. Of warps in step a wait may be counted in their first steps and in part again in what is
  // left of the path: no more is exposed than there is. No kernel of the suites comes to this upper bound.
  part.exposed = std::clamp(longer, 0.0, part.latency);
  part.beyond = std::max(0.0, longer - part.latency);
  part.work = time - part.exposed;
  return part;
}

}  // namespace

Exposure::Exposure(const Workload& w, const Parameters& p)
    : stages_(stages_of(w, p)), without_latency_(stages_of(without_latency(w), p)) {}

RoundPart Exposure::round(double blocks, double resident, bool together) const {
  return part_of(stages_, without_latency_, blocks, resident, together);
}

std::vector<RoundPart> Exposure::by_stage(double blocks, double resident, bool together) const {
  std::vector<RoundPart> parts;
  RoundPart sum;
  for (size_t i = 0; i < stages_.size(); ++i) {
    parts.push_back(part_of({stages_[i]}, {without_latency_[i]}, blocks, resident, together));
    sum.work += parts.back().work;
    sum.exposed += parts.back().exposed;
    sum.latency += parts.back().latency;
  }
  // Stages hide each other's latencies, or disturb each other: each has of the round's parts as much as its
  // own are of their sum; where more is exposed, each exposes as much of what it hides alone.
  const RoundPart all = round(blocks, resident, together);
  const double shrink = sum.exposed > 0 ? std::min(1.0, all.exposed / sum.exposed) : 1;
  const double hidden = sum.latency - sum.exposed;
  const double more = hidden > 0 ? std::clamp((all.exposed - sum.exposed) / hidden, 0.0, 1.0) : 0;
  for (RoundPart& part : parts) {
    part.work *= sum.work > 0 ? all.work / sum.work : 0;
    // The lesser of the two: rounding.
    part.exposed = std::min(part.latency, shrink * part.exposed + more * (part.latency - part.exposed));
  }
  return parts;
}

}  // namespace gpusim::analysis::latency_hidden
