// How far predictions are off where nothing was simulated, by how far they are off at points that were drawn
// at random, each predicted from all others.
#pragma once
#include <span>

#include "study/gaussian_process.h"

namespace gpusim::study {

inline constexpr double kErrorBars = 0.9;  ///< share of values that they are to hold

class ErrorBars {
 public:
  /// `drawn`: of the points that were drawn at random. May be empty.
  explicit ErrorBars(std::span<const LeftOut> drawn);
  /// Half of the bar of a prediction whose standard deviation is this.
  [[nodiscard]] double half(double deviation) const { return width_ * expected(deviation); }
  /// Halves of bars, in errors that are expected.
  [[nodiscard]] double width() const { return width_; }

 private:
  /// A deviation follows from how near simulated points are, as far as the process knows; predictions are off
  /// elsewhere as well.
  [[nodiscard]] double expected(double deviation) const;

  double everywhere_ = 0;  ///< root of the mean square of the errors
  double width_ = 0;
};

}  // namespace gpusim::study
