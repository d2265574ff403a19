// What the results of a study say: best points, what each axis is worth, which axes depend on each other,
// where more of something gains nothing any more, and which points no other one beats in time, energy and
// SRAM. Simulated points are compared with each other and nothing is interpolated, except in a guided study.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "study/guided.h"
#include "study/points.h"
#include "study/run_points.h"

namespace gpusim::study {

/// Going from one value of an axis to the next with everything else equal: the mean over all such pairs.
struct Step {
  uint32_t from = 0, to = 0;   ///< values of the axis
  double factor = 1;           ///< geometric mean of objective(to) / objective(from)
  double least = 1, most = 1;  ///< over the pairs
  uint32_t pairs = 0;
};

/// An axis in one group (a workload on a machine).
struct Effect {
  uint32_t axis = 0;
  std::vector<uint32_t> order;  ///< of the values: by number if they are numbers, else as in the file
  std::vector<Step> steps;      ///< between neighbours in that order
  double range =
      1;  ///< largest factor between two values, over the geometric means: 1 if the axis does nothing
  /// The first value in that order from which on all further steps together change the objective by less than
  /// kNoGain; the last one if none is.
  uint32_t suffices = 0;
  bool numeric = false;
};
inline constexpr double kNoGain = 0.02;

/// How much the effect of one axis depends on another one.
struct Interaction {
  uint32_t axis = 0, by = 0;
  /// Objective at the axis' last value by that at its first one, where it gains most and where it gains
  /// least.
  double least = 1, most = 1;
  uint32_t at_least = 0, at_most = 0;  ///< values of `by`
};

struct GroupFindings {
  uint32_t machine = 0, workload = 0;
  uint32_t simulated = 0, predicted = 0;
  uint32_t failed = 0;         ///< missing, refused or failed
  std::vector<uint32_t> best;  ///< the kShown best points; of equal ones those with less SRAM first
  /// What the best point is explained against: of those with the same program the first simulated one, with
  /// the first value of each axis if it is there, or the worst one if the first is the best. The best one
  /// itself: there is no other, or it is predicted.
  uint32_t against = 0;
  uint32_t equally_good = 0;  ///< all that are as good as the best within kEqual
  double best_value = 0, worst_value = 0, median_value = 0;
  std::vector<Effect> effects;            ///< largest range first
  std::vector<Interaction> interactions;  ///< strongest first, at most kShown
  std::vector<uint32_t>
      pareto;  ///< of simulated points, in time, energy and SRAM, by time; of equal points the first
};
inline constexpr size_t kShown = 5;
inline constexpr double kEqual = 0.005;

/// What is compared: results, and of a guided study estimates of those that are missing.
struct Outcome {
  const Study& study;
  std::span<const Point> points;
  std::span<const PointResult> results;
  const Guided* guided = nullptr;  ///< its estimates are of the objective
  /// Not a number if there is none.
  [[nodiscard]] double objective(size_t point) const;
};
/// Groups in the order of the study. Throws core::InputError if the objective is no column of the results.
[[nodiscard]] std::vector<GroupFindings> find(const Outcome& outcome);

/// Why points have no results: a line for all of the chosen ones that share a reason.
[[nodiscard]] std::string reasons_text(const Study& study, std::span<const Point> points,
                                       std::span<const PointResult> results,
                                       const std::function<bool(size_t)>& chosen);
[[nodiscard]] std::string findings_text(const Outcome& outcome, std::span<const GroupFindings> groups);
[[nodiscard]] std::string findings_json(const Outcome& outcome, std::span<const GroupFindings> groups);

}  // namespace gpusim::study
