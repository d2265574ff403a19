#include "analysis/models/latency_hidden/paper.h"

#include <algorithm>
#include <cmath>

#include "analysis/models/latency_hidden/factor.h"

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

double exposed(const FactorInput& in, bool barrier, uint32_t warps, uint32_t block_warps,
               Aggregate aggregate) {
  double sum = 0, last = 0;
  for (uint32_t j = 1; j <= warps; ++j) {
    const ExposedLatency e =
        barrier ? barrier_factor(in, j, warps, block_warps) : continuous_factor(in, j, warps);
    last = e.exposed();
    sum += last;
  }
  switch (aggregate) {
    case Aggregate::kLast:
      return last;
    case Aggregate::kSum:
      return sum;
    case Aggregate::kMean:
      return sum / warps;
  }
  return 0;
}

double one_round(const Workload& w, const Parameters& p, const PaperParameters& paper, uint32_t blocks,
                 Aggregate aggregate) {
  const uint32_t warps = blocks * w.shape.warps_per_block;
  double time = 0;
  for (size_t i = 0; i < w.segments.size(); ++i) {
    const Segment& s = w.segments[i];
    const Segment& next = w.segments[(i + 1) % w.segments.size()];
    // Blocks of 1.x are retired whole: their end is a barrier.
    const bool barrier = s.end == Wait::kBarrier || (s.end == Wait::kEnd && p.capability < 20);
    time += s.weight * (warps * s.paper_ilp + exposed(factor_input(s, next, p, paper), barrier, warps,
                                                      w.shape.warps_per_block, aggregate));
  }
  return time;
}

}  // namespace

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
