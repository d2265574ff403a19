// Gaussian-process regression (Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006,
// chapters 2, 4 and 5): what a few values say of all points, and how sure that is. The mean is a constant and
// a slope times a given feature (both unknown, section 2.7), the rest varies smoothly: Matern 5/2 with a
// length scale for each dimension. A few values do not tell the scales, so the predictions are those of the
// most plausible ones, each weighted by its marginal likelihood. Everything is deterministic.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace gpusim::study {

/// Points as rows of coordinates. Of a dimension that is not ordered, two coordinates are equal or one apart.
struct Coordinates {
  size_t dimensions = 0;
  std::vector<char> ordered;   ///< of each dimension
  std::vector<double> values;  ///< a row after the other
  std::vector<double> slope;   ///< of each row: the mean's feature; empty: the mean is constant
  [[nodiscard]] size_t rows() const { return dimensions == 0 ? 0 : values.size() / dimensions; }
  [[nodiscard]] double difference(size_t dimension, size_t a, size_t b) const;
};

class GaussianProcess {
 public:
  /// `rows` of `where` have `values`; at least one.
  GaussianProcess(const Coordinates& where, std::vector<size_t> rows, std::vector<double> values);

  [[nodiscard]] double mean(size_t row) const { return means_[row]; }
  /// Of a new value there; at least that of what is not smooth.
  [[nodiscard]] double deviation(size_t row) const;
  /// As if the value at `row` were its mean: what choosing it tells of the others.
  void believe(size_t row);

 private:
  struct Scales {
    std::vector<double> lengths;
    double amplitude = 1, rough = 0.003;  ///< standard deviations of the smooth rest and of what is not
    friend bool operator==(const Scales&, const Scales&) = default;
  };
  /// What one choice of scales says of all rows.
  struct Member {
    Scales scales;
    double likelihood = 0, weight = 0;
    std::vector<double> means, variances;
    std::vector<std::vector<double>> projected;  ///< of each row: inverse root times its covariances
  };
  [[nodiscard]] double covariance(const Scales& s, size_t a, size_t b) const;
  /// Logarithm of the marginal likelihood with a weak preference for lengths near the whole range.
  [[nodiscard]] double likelihood(const Scales& s) const;
  /// Climbs to the most plausible scales and keeps the best of all that it met.
  void choose_scales();
  void predict_all(Member& member) const;
  /// Means and variances of the mixture.
  void mix();

  const Coordinates& where_;
  std::vector<size_t> rows_;
  std::vector<double> values_;
  double level_ = 0, feature_ = 0;  ///< means of the values and of the feature
  std::vector<Member> members_;
  std::vector<double> means_, variances_;  ///< of each row of `where_`; with what is not smooth
};

/// A given value against its prediction from the others, whose scales are chosen without it.
struct LeftOut {
  double error = 0;      ///< value - prediction
  double deviation = 0;  ///< standard deviation of the prediction
};
/// Of each of the rows with at most kMostLeftOut parts left out in turn; empty if there are fewer than two.
inline constexpr size_t kMostLeftOut = 40;
[[nodiscard]] std::vector<LeftOut> leave_out(const Coordinates& where, const std::vector<size_t>& rows,
                                             const std::vector<double>& values);

}  // namespace gpusim::study
