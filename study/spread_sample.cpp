#include "study/spread_sample.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace gpusim::study {

namespace {

constexpr double kSettled = 1e-9;  ///< probabilities so near to 0 or 1 are that, but for rounding

/// Numbers that are the same with every compiler: of the distributions of <random> that is not said.
class Draws {
 public:
  explicit Draws(std::span<const uint64_t> seeds) {
    std::vector<uint32_t> words;
    for (const uint64_t seed : seeds) {
      words.push_back(static_cast<uint32_t>(seed));
      words.push_back(static_cast<uint32_t>(seed >> 32));
    }
    std::seed_seq sequence(words.begin(), words.end());
    engine_.seed(sequence);
  }
  size_t below(size_t count) { return engine_() % count; }
  /// At least 0, below 1.
  double share() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace

/// The local pivotal method (Grafström, Lundström and Schelin, "Spatially Balanced Sampling through the
/// Pivotal Method", Biometrics 68, 2012, their second variant). All rows begin with the same probability. A
/// row and its nearest neighbour settle between them which of the two takes over as much as it can of both
/// probabilities, so that neither's expected value changes, until every probability is 0 or 1.
std::vector<size_t> spread_sample(std::span<const size_t> rows, size_t count,
                                  const std::function<double(size_t, size_t)>& distance,
                                  std::span<const uint64_t> seeds) {
  if (count >= rows.size()) return {rows.begin(), rows.end()};
  Draws draws(seeds);
  std::vector<double> chance(rows.size(), static_cast<double>(count) / static_cast<double>(rows.size()));
  std::vector<size_t> open;
  for (size_t i = 0; i < rows.size(); ++i) open.push_back(i);
  const auto settle = [&](size_t i) {
    if (chance[i] > kSettled && chance[i] < 1 - kSettled) return;
    chance[i] = std::round(chance[i]);
    std::erase(open, i);
  };
  std::vector<size_t> nearest;
  while (open.size() > 1) {
    const size_t one = open[draws.below(open.size())];
    double least = HUGE_VAL;
    for (const size_t other : open) {
      if (other == one) continue;
      const double away = distance(rows[one], rows[other]);
      if (away < least) nearest.clear(), least = away;
      if (away == least) nearest.push_back(other);
    }
    // On a grid many are equally near.
    const size_t two = nearest[draws.below(nearest.size())];
    double &a = chance[one], &b = chance[two];
    const double sum = a + b;
    if (sum < 1) {
      const bool to_one = draws.share() < a / sum;
      a = to_one ? sum : 0;
      b = to_one ? 0 : sum;
    } else {
      const bool to_one = draws.share() < (1 - b) / (2 - sum);
      a = to_one ? 1 : sum - 1;
      b = to_one ? sum - 1 : 1;
    }
    settle(one);
    settle(two);
  }
  std::vector<size_t> sample;
  for (size_t i = 0; i < rows.size(); ++i)
    if (chance[i] > 0.5) sample.push_back(rows[i]);
  return sample;
}

}  // namespace gpusim::study
