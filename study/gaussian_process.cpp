#include "study/gaussian_process.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

namespace gpusim::study {

namespace {

/// Standard deviations of the mean's constant and of its slope before anything is known.
constexpr double kConstant = 10, kSlope = 1;
constexpr double kFar = 100;  ///< a length at which a dimension does nothing
constexpr std::array kLengths = {0.15, 0.25, 0.4, 0.7, 1.2, 2.0, 4.0, 8.0, kFar};
constexpr std::array kAmplitudes = {0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6};
constexpr std::array kRough = {0.002, 0.005, 0.015, 0.04};
// The least roughness: that much, a simulated time depends on the order of things that happen at once.
constexpr int kSweeps = 3;
/// Choices of scales that are kept, if they are as plausible as this share of the best.
constexpr size_t kMembers = 16;
constexpr double kLeastWeight = 0.01;

/// The lower root of a symmetric matrix: a = L L'. Rows of different length. False if there is none.
using Triangle = std::vector<std::vector<double>>;
bool take_root(Triangle& a) {
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t k = 0; k <= i; ++k) {
      const double sum =
          std::inner_product(a[i].begin(), a[i].begin() + static_cast<ptrdiff_t>(k), a[k].begin(), 0.0);
      if (k == i) {
        if (a[i][i] - sum <= 0) return false;
        a[i][i] = std::sqrt(a[i][i] - sum);
      } else {
        a[i][k] = (a[i][k] - sum) / a[k][k];
      }
    }
  return true;
}

/// x := L^-1 x
void solve(const Triangle& root, std::vector<double>& x) {
  for (size_t i = 0; i < x.size(); ++i) {
    const double sum =
        std::inner_product(root[i].begin(), root[i].begin() + static_cast<ptrdiff_t>(i), x.begin(), 0.0);
    x[i] = (x[i] - sum) / root[i][i];
  }
}

}  // namespace

double Coordinates::difference(size_t dimension, size_t a, size_t b) const {
  const double difference = values[a * dimensions + dimension] - values[b * dimensions + dimension];
  return ordered[dimension] ? difference : difference == 0 ? 0 : 1;
}

GaussianProcess::GaussianProcess(const Coordinates& where, std::vector<size_t> rows,
                                 std::vector<double> values)
    : where_(where), rows_(std::move(rows)), values_(std::move(values)) {
  const auto count = static_cast<double>(rows_.size());
  level_ = std::accumulate(values_.begin(), values_.end(), 0.0) / count;
  for (double& value : values_) value -= level_;
  if (!where_.slope.empty())
    for (const size_t row : rows_) feature_ += where_.slope[row] / count;
  choose_scales();
  for (Member& member : members_) predict_all(member);
  mix();
}

double GaussianProcess::covariance(const Scales& s, size_t a, size_t b) const {
  double square = 0;
  for (size_t d = 0; d < where_.dimensions; ++d) {
    const double part = where_.difference(d, a, b) / s.lengths[d];
    square += part * part;
  }
  const double r = std::sqrt(5 * square);
  double sum = kConstant * kConstant + s.amplitude * s.amplitude * (1 + r + r * r / 3) * std::exp(-r);
  if (!where_.slope.empty())
    sum += kSlope * kSlope * (where_.slope[a] - feature_) * (where_.slope[b] - feature_);
  return sum;
}

double GaussianProcess::likelihood(const Scales& s) const {
  const size_t n = rows_.size();
  Triangle root(n);
  for (size_t i = 0; i < n; ++i) {
    root[i].resize(i + 1);
    for (size_t k = 0; k <= i; ++k) root[i][k] = covariance(s, rows_[i], rows_[k]);
    root[i][i] += s.rough * s.rough;
  }
  if (!take_root(root)) return -HUGE_VAL;
  std::vector<double> x = values_;
  solve(root, x);
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum -= x[i] * x[i] / 2 + std::log(root[i][i]);
  for (const double length : s.lengths) sum -= std::log(length) * std::log(length) / 8;
  return sum;
}

void GaussianProcess::choose_scales() {
  std::vector<Member> met;
  Scales scales;
  scales.lengths.assign(where_.dimensions, 1.2);
  scales.amplitude = 0.2;
  double best = -HUGE_VAL;
  const auto meet = [&] {
    const double now = likelihood(scales);
    met.push_back({scales, now, 0, {}, {}, {}});
    return now;
  };
  best = meet();
  const auto try_all = [&](double& scale, const auto& choices) {
    double chosen = scale;
    for (const double choice : choices) {
      if (choice == chosen && !met.empty()) continue;
      scale = choice;
      if (const double now = meet(); now > best) best = now, chosen = choice;
    }
    scale = chosen;
  };
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    const double before = best;
    try_all(scales.amplitude, kAmplitudes);
    for (double& length : scales.lengths) try_all(length, kLengths);
    try_all(scales.rough, kRough);
    if (best == before) break;
  }
  std::ranges::stable_sort(met, std::greater(), &Member::likelihood);
  double sum = 0;
  for (Member& m : met) {
    if (members_.size() == kMembers || std::exp(m.likelihood - best) < kLeastWeight) break;
    if (std::ranges::find(members_, m.scales, &Member::scales) != members_.end()) continue;
    m.weight = std::exp(m.likelihood - best);
    sum += m.weight;
    members_.push_back(std::move(m));
  }
  for (Member& m : members_) m.weight /= sum;
}

void GaussianProcess::predict_all(Member& member) const {
  const Scales& s = member.scales;
  const size_t n = rows_.size();
  Triangle root(n);
  for (size_t i = 0; i < n; ++i) {
    root[i].resize(i + 1);
    for (size_t k = 0; k <= i; ++k) root[i][k] = covariance(s, rows_[i], rows_[k]);
    root[i][i] += s.rough * s.rough;
  }
  // Of the scales that were chosen it exists.
  (void)take_root(root);
  std::vector<double> weights = values_;
  solve(root, weights);

  member.means.resize(where_.rows());
  member.variances.resize(where_.rows());
  member.projected.resize(where_.rows());
  for (size_t row = 0; row < where_.rows(); ++row) {
    std::vector<double>& v = member.projected[row];
    v.resize(n);
    for (size_t i = 0; i < n; ++i) v[i] = covariance(s, row, rows_[i]);
    solve(root, v);
    member.means[row] = level_ + std::inner_product(v.begin(), v.end(), weights.begin(), 0.0);
    member.variances[row] = covariance(s, row, row) - std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
  }
}

void GaussianProcess::mix() {
  means_.assign(where_.rows(), 0);
  variances_.assign(where_.rows(), 0);
  for (const Member& m : members_)
    for (size_t row = 0; row < where_.rows(); ++row) means_[row] += m.weight * m.means[row];
  for (const Member& m : members_)
    for (size_t row = 0; row < where_.rows(); ++row) {
      const double away = m.means[row] - means_[row];
      variances_[row] +=
          m.weight * (std::max(m.variances[row], 0.0) + m.scales.rough * m.scales.rough + away * away);
    }
}

double GaussianProcess::deviation(size_t row) const { return std::sqrt(variances_[row]); }

void GaussianProcess::believe(size_t row) {
  for (Member& m : members_) {
    const double variance = std::max(m.variances[row], 0.0) + m.scales.rough * m.scales.rough;
    const std::vector<double> chosen = m.projected[row];
    const double root = std::sqrt(variance);
    for (size_t other = 0; other < m.projected.size(); ++other) {
      std::vector<double>& v = m.projected[other];
      const double shared =
          covariance(m.scales, other, row) - std::inner_product(v.begin(), v.end(), chosen.begin(), 0.0);
      v.push_back(shared / root);
      m.variances[other] -= shared * shared / variance;
    }
  }
  mix();
}

std::vector<LeftOut> leave_out(const Coordinates& where, const std::vector<size_t>& rows,
                               const std::vector<double>& values) {
  std::vector<LeftOut> all(rows.size());
  const size_t parts = std::min(rows.size(), kMostLeftOut);
  if (parts < 2) return {};
  for (size_t part = 0; part < parts; ++part) {
    std::vector<size_t> others;
    std::vector<double> known;
    for (size_t i = 0; i < rows.size(); ++i)
      if (i % parts != part) {
        others.push_back(rows[i]);
        known.push_back(values[i]);
      }
    const GaussianProcess process(where, std::move(others), std::move(known));
    for (size_t i = part; i < rows.size(); i += parts)
      all[i] = {values[i] - process.mean(rows[i]), process.deviation(rows[i])};
  }
  return all;
}

}  // namespace gpusim::study
