// The reuse-distance model of an L1 as its authors' program computes it (Nugteren, van den
// Braak, Corporaal and Bal, "A detailed GPU cache model based on reuse distance theory", HPCA 2014): misses
// of one core by kind, from a trace of its threads' loads. Counts equal that program's for sigma = 0, its
// oddities included: a distance of exactly `ways` is a miss while the model runs and a hit in the report, and
// the kinds need not add up.
#pragma once
#include <cstdint>

#include "analysis/models/reuse_distance/trace.h"

namespace gpusim::analysis {

struct ReuseCache {
  uint32_t line = 128;  ///< bytes
  uint32_t ways = 4;
  uint32_t sets = 32;
  uint32_t mshrs = 64;
  uint32_t latency = 100;  ///< cycles of a miss; a hit has none
  double sigma = 5;        ///< of the normal distribution whose magnitude is added to it; cycles
};

struct ReuseCounts {
  uint64_t accesses = 0, hits = 0, misses = 0;
  uint64_t compulsory = 0, capacity = 0, associativity = 0, latency = 0, mshr = 0;
};

/// `seed`: of the latencies, if sigma is not 0.
[[nodiscard]] ReuseCounts reference_reuse(const Trace& trace, const ReuseCache& cache, uint64_t seed = 1);

}  // namespace gpusim::analysis
