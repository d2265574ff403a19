// How much of a round's latency its work does not hide. A round is compared with the same one on a machine
// without latencies, whose results and bytes are there at once: what it takes longer is exposed.
#pragma once
#include <vector>

#include "analysis/models/latency_hidden/extended.h"

namespace gpusim::analysis::latency_hidden {

/// Core cycles of a round, or of a stage in it.
struct RoundPart {
  double work = 0;     ///< of the round without latencies
  double exposed = 0;  ///< what the latencies make it longer; at most `latency`
  double latency = 0;  ///< what a block waits for on its path, and the time of all bytes: if nothing hid it
  /// How far the two rounds differ by more than the latency: see part_of().
  double beyond = 0;
  [[nodiscard]] double factor() const { return latency > 0 ? exposed / latency : 0; }
};

class Exposure {
 public:
  Exposure(const Workload& w, const Parameters& p);

  [[nodiscard]] const std::vector<Stage>& stages() const { return stages_; }
  /// As of round_time().
  [[nodiscard]] RoundPart round(double blocks, double resident, bool together) const;
  /// The parts of its stages, which add up to those of the round.
  [[nodiscard]] std::vector<RoundPart> by_stage(double blocks, double resident, bool together) const;

 private:
  std::vector<Stage> stages_;
  std::vector<Stage> without_latency_;
};

}  // namespace gpusim::analysis::latency_hidden
