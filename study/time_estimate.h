// How long the missing points of a study will take on this computer: from points that it has simulated, or
// else from simulations of some of the missing ones that are stopped after a moment.
#pragma once
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "study/points.h"
#include "study/run_points.h"

namespace gpusim::study {

/// What a simulation took on the computer that ran it.
struct HostTime {
  double processor_s = 0;
  double wall_s = 0;  ///< more than processor_s if it had to share its processor
};

/// Of this process, since the construction.
class HostClock {
 public:
  HostClock();
  [[nodiscard]] HostTime now() const;

 private:
  std::chrono::steady_clock::time_point wall_ = std::chrono::steady_clock::now();
  double processor_s_;
};

/// Host times stand beside the points of a store, not in them: equal points have equal bytes.
void store_host_time(const std::string& store, const std::string& key, HostTime time);
/// Nothing if it is not there or damaged.
[[nodiscard]] std::optional<HostTime> stored_host_time(const std::string& store, const std::string& key);

struct TimeEstimate {
  size_t missing = 0;      ///< points
  size_t unknown = 0;      ///< of these, without an estimate, for their program fails
  double processor_s = 0;  ///< of the others together
  double warp_instructions = 0;
  bool whole = true;    ///< false: programs of some were too long to be counted, and these take longer
  size_t measured = 0;  ///< simulated points of this study whose times it rests on
  size_t tried = 0;     ///< points that were simulated for a moment
  double share = 1;     ///< of a processor that these simulations got, at most 1

  /// With so many simulations at the same time, each with a processor of its own; or with as much of one as
  /// those had that were measured.
  [[nodiscard]] double wall_s(unsigned parallel) const { return processor_s / parallel; }
  [[nodiscard]] double shared_wall_s(unsigned parallel) const { return wall_s(parallel) / share; }
};

/// `trials_s`: processor seconds that all trials together may take.
[[nodiscard]] TimeEstimate estimate_time(const Study& study, std::span<const Point> points,
                                         std::span<const PointResult> results, const RunOptions& options,
                                         double trials_s);

}  // namespace gpusim::study
