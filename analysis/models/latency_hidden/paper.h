// The model as printed: factor of every segment and warp from the paper's parameters of the Tesla C1060 and
// the bytes that threads ask for. The print does not say how the exposed latencies of a segment's warps
// become one time, so three readings are given.
#pragma once
#include <array>
#include <string_view>
#include <vector>

#include "analysis/models/latency_hidden/extended.h"
#include "analysis/models/latency_hidden/factor.h"

namespace gpusim::analysis::latency_hidden {

enum class Aggregate : uint8_t { kLast, kSum, kMean };
inline constexpr std::array<std::string_view, 3> kAggregates{"last", "sum", "mean"};

struct PaperEstimate {
  uint32_t resident = 0;  ///< BLP of a full round
  double segments = 0;    ///< NBB
  double round = 0;       ///< TimeOneRep, core cycles
  double rounds = 0;      ///< RepNum
  double cycles = 0;      ///< TimeTotal: full rounds, and one with the blocks that are left
};
/// A segment of the path as the print describes it, in a full round.
struct PaperSegment {
  uint32_t last = 0;  ///< operation that waits at its end
  Wait end = Wait::kEnd;
  double times = 0;  ///< that a warp executes it
  FactorInput input;
  double data = 0;                    ///< bytes of a warp: DataSize
  int which = 1;                      ///< of the paper's four cases
  bool barrier = false;               ///< the form for a barrier behind the segment
  std::vector<ExposedLatency> warps;  ///< of warp 1, 2, ...; those of a block follow one another
};
[[nodiscard]] std::vector<PaperSegment> paper_segments(const Workload& w, const Parameters& p,
                                                       const PaperParameters& paper, uint32_t resident);

[[nodiscard]] PaperEstimate paper_estimate(const Workload& w, const Parameters& p,
                                           const PaperParameters& paper, Aggregate aggregate);

}  // namespace gpusim::analysis::latency_hidden
