// Where the time of a kernel goes, segment by segment, as the model predicts it and as the run recorded it:
// issue slots at the segment's operations, waits for data and at barriers counted to the segment that they
// end. So an error of the prediction has a place.
#pragma once
#include <string>
#include <vector>

#include "analysis/models/latency_hidden/analysis.h"
#include "analysis/recording/recording.h"

namespace gpusim::analysis::latency_hidden {

/// All occurrences of a segment; times in core cycles of the whole kernel, mean of the SMs.
struct SegmentTime {
  uint32_t first = 0, last = 0;
  Wait end = Wait::kEnd;
  double weight = 0;     ///< occurrences per warp
  double ilp = 0;        ///< busiest unit, of one warp and occurrence
  double latency = 0;    ///< left when the data are needed, of one warp alone
  double bytes = 0;      ///< of memory, moved by one warp and occurrence
  double compute = 0;    ///< predicted: of its stage's work, as much as it keeps the SM's units busy
  double exposed = 0;    ///< predicted: waits that nothing hides
  double simulated = 0;  ///< recorded: issue slots at it, as cycles
  /// Share of the segment's waits that stays exposed: the paper's factor for all warps together. Segments of
  /// one stage expose the same share.
  double factor = 0;
  [[nodiscard]] double predicted() const { return compute + exposed; }
};

struct Breakdown {
  std::vector<SegmentTime> segments;  ///< in the order of the code
  double idle_predicted = 0;          ///< SMs without a warp: launch, tail, the last stores
  double idle_simulated = 0;
};
/// `kernel`: as it was recorded; null: nothing was simulated.
[[nodiscard]] Breakdown break_down(const Subject& subject, const Estimate& estimate,
                                   const KernelRecord* kernel);

}  // namespace gpusim::analysis::latency_hidden
