// The model as printed: factor of every segment and warp from the paper's parameters of the Tesla C1060 and
// the bytes that threads ask for. The print does not say how the exposed latencies of a segment's warps
// become one time, so three readings are given.
#pragma once
#include <array>
#include <string_view>

#include "analysis/models/latency_hidden/extended.h"

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
[[nodiscard]] PaperEstimate paper_estimate(const Workload& w, const Parameters& p,
                                           const PaperParameters& paper, Aggregate aggregate);

}  // namespace gpusim::analysis::latency_hidden
