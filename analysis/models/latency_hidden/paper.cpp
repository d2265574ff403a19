#include "analysis/models/latency_hidden/paper.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gpusim::analysis::latency_hidden {
namespace {

FactorInput factor_input(const Segment& s, const Segment& next, const Parameters& p,
                         const PaperParameters& paper) {
  FactorInput in;
  in.ilp = s.paper_ilp;
  in.next_ilp = next.paper_ilp;
  in.latency = s.global ? paper.memory_latency : s.shared ? paper.shared_latency : 0;
  in.bandwidth = s.requested / (paper.bytes_per_second / p.sms / p.core_hz);
  return in;
}

double exposed(const std::vector<ExposedLatency>& warps, Aggregate aggregate) {
  double sum = 0;
  for (const ExposedLatency& e : warps) sum += e.exposed();
  switch (aggregate) {
    case Aggregate::kLast:
      return warps.back().exposed();
    case Aggregate::kSum:
      return sum;
    case Aggregate::kMean:
      return sum / static_cast<double>(warps.size());
  }
  return 0;
}

/// The paper's cases: whether the segment and the next one compute for as long as the data take.
int case_of(const FactorInput& in) {
  if (in.ilp >= in.bandwidth) return in.next_ilp >= in.bandwidth ? 1 : 2;
  return in.next_ilp < in.bandwidth ? 3 : 4;
}

double one_round(const Workload& w, const Parameters& p, const PaperParameters& paper, uint32_t blocks,
                 Aggregate aggregate) {
  double time = 0;
  for (const PaperSegment& s : paper_segments(w, p, paper, blocks))
    time += s.times * (static_cast<double>(s.warps.size()) * s.input.ilp + exposed(s.warps, aggregate));
  return time;
}

}  // namespace

std::vector<PaperSegment> paper_segments(const Workload& w, const Parameters& p, const PaperParameters& paper,
                                         uint32_t resident) {
  const uint32_t block = w.shape.warps_per_block, warps = resident * block;
  std::vector<PaperSegment> segments;
  for (size_t i = 0; i < w.segments.size(); ++i) {
    const Segment& s = w.segments[i];
    PaperSegment out;
    out.last = s.last;
    out.end = s.end;
    out.times = s.weight;
    out.input = factor_input(s, w.segments[(i + 1) % w.segments.size()], p, paper);
    out.data = s.requested;
    out.which = case_of(out.input);
    // Blocks of 1.x are retired whole: their end is a barrier.
    out.barrier = s.end == Wait::kBarrier || (s.end == Wait::kEnd && p.capability < 20);
    for (uint32_t j = 1; j <= warps; ++j)
      out.warps.push_back(out.barrier ? barrier_factor(out.input, j, warps, block)
                                      : continuous_factor(out.input, j, warps));
    segments.push_back(std::move(out));
  }
  return segments;
}

PaperEstimate paper_estimate(const Workload& w, const Parameters& p, const PaperParameters& paper,
                             Aggregate aggregate) {
  PaperEstimate e;
  const auto sms = static_cast<uint64_t>(p.sms);
  const uint64_t per_sm = (w.shape.blocks + sms - 1) / sms;
  e.resident = static_cast<uint32_t>(std::min<uint64_t>(w.blocks_per_sm, per_sm));
  e.segments = count_of(w.segments);
  e.round = one_round(w, p, paper, e.resident, aggregate);
  e.rounds = static_cast<double>(w.shape.blocks) / static_cast<double>(sms * e.resident);
  const uint64_t full = w.shape.blocks / (sms * e.resident), rest = w.shape.blocks % (sms * e.resident);
  e.cycles = static_cast<double>(full) * e.round;
  if (rest > 0) e.cycles += one_round(w, p, paper, static_cast<uint32_t>((rest + sms - 1) / sms), aggregate);
  return e;
}

}  // namespace gpusim::analysis::latency_hidden
