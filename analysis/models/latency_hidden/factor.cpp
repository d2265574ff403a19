#include "analysis/models/latency_hidden/factor.h"

#include <algorithm>

namespace gpusim::analysis::latency_hidden {
namespace {

/// `hiding`: warps before j whose next segment hides latency; `queued`: warps before j whose data come first.
ExposedLatency united(const FactorInput& in, uint32_t j, uint32_t warps, uint32_t hiding, uint32_t queued) {
  ExposedLatency e;
  e.latency = in.latency + in.bandwidth + queued * std::max(0.0, in.bandwidth - in.ilp);
  const double hidden = in.ilp * (warps - j) + hiding * std::min(in.next_ilp, std::max(in.ilp, in.bandwidth));
  e.factor = e.latency > 0 ? std::max(0.0, 1 - hidden / e.latency) : 0;
  return e;
}

}  // namespace

ExposedLatency continuous_factor(const FactorInput& in, uint32_t j, uint32_t warps) {
  return united(in, j, warps, j - 1, j - 1);
}

ExposedLatency barrier_factor(const FactorInput& in, uint32_t j, uint32_t warps, uint32_t block_warps) {
  const uint32_t before = j - 1;
  const uint32_t down = before / block_warps * block_warps;
  const uint32_t up = (before + block_warps - 1) / block_warps * block_warps;
  return united(in, j, warps, down, up);
}

}  // namespace gpusim::analysis::latency_hidden
