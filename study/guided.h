// A study of which only some points are simulated: the analytical model (study/predict_time.h) predicts every
// point, a Gaussian process (study/gaussian_process.h) learns from the simulated ones how far it is off, and
// says which points are worth simulating next and how sure the predictions of the others are. docs/study.md
// describes the method, docs/studies/guided.md how often it is right.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "study/error_bars.h"
#include "study/points.h"
#include "study/run_points.h"

namespace gpusim::study {

inline constexpr size_t kMostGuidedPoints = 20'000;    ///< of a group, which all have to be predicted
inline constexpr size_t kMostGuidedSimulations = 500;  ///< of a group: the cube of it is the time of a choice

/// The objective at a point.
struct Estimate {
  double value = 0, low = 0, high = 0;  ///< all the same if it is simulated; not a number if unknown
  bool simulated = false;
  double model_s = 0;  ///< seconds that the analytical model predicts; not a number if it does not apply
};

/// A workload on a machine.
struct GuidedGroup {
  uint32_t machine = 0, workload = 0;
  size_t points = 0, simulated = 0;
  std::string no_model;  ///< why the analytical model does not apply; empty if it does
  /// Mean relative error at the simulated points: of the analytical model times a constant (not a number
  /// without one, or if the objective is no time), and of the prediction from all other simulated points.
  double model_error = 0, left_out_error = 0;
  double width = 0;  ///< of the error bars to each side, in errors that are expected
};

struct Guided {
  std::vector<PointResult> results;  ///< of all points; those that were not chosen are missing
  std::vector<Estimate> estimates;
  std::vector<GuidedGroup> groups;  ///< in the order of find()
  std::vector<size_t> chosen;
};

/// Calls of the analytical model that have ended, of all.
using OnPredicted = std::function<void(size_t done, size_t all)>;

/// Of the random choice of points, if nothing else is said.
inline constexpr uint64_t kGuidedSeed = 1;

/// Simulates `simulations` points, shared evenly among the groups. For the same seed the same points are
/// chosen, whatever the number of processes, and whatever else the store has. Throws core::InputError if a
/// group gets fewer than three points, or has too many.
[[nodiscard]] Guided run_guided(const Study& study, std::span<const Point> points, size_t simulations,
                                uint64_t seed, const RunOptions& options,
                                const OnPredicted& on_predicted = {});

/// A row for each point: axes, whether it was simulated, the objective with its error bar, the model's time.
[[nodiscard]] std::string predictions_csv(const Study& study, std::span<const Point> points,
                                          const Guided& guided);

}  // namespace gpusim::study
