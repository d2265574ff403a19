#include "study/spread_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace gpusim::study {
namespace {

/// A grid of 8 columns.
double grid(size_t a, size_t b) {
  const double x = static_cast<double>(a % 8) - static_cast<double>(b % 8);
  const double y = static_cast<double>(a / 8) - static_cast<double>(b / 8);
  return x * x + y * y;
}

std::vector<size_t> numbers(size_t count) {
  std::vector<size_t> all(count);
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

std::vector<size_t> sample(const std::vector<size_t>& rows, size_t count, uint64_t seed) {
  return spread_sample(rows, count, grid, std::array{seed});
}

TEST(SpreadSample, EachRowIsAsLikelyAsAnyOther) {
  const std::vector<size_t> rows = numbers(64);
  std::vector<int> drawn(64);
  constexpr int kTimes = 2000;
  for (int seed = 0; seed < kTimes; ++seed) {
    const std::vector<size_t> some = sample(rows, 8, static_cast<uint64_t>(seed));
    ASSERT_EQ(some.size(), 8U);
    for (const size_t row : some) ++drawn[row];
  }
  // Of 2000 draws with probability 1/8, the standard deviation is 15.
  for (size_t row = 0; row < drawn.size(); ++row) EXPECT_NEAR(drawn[row], kTimes / 8, 60) << row;
}

TEST(SpreadSample, NeighboursAreSeldomDrawnTogether) {
  const std::vector<size_t> rows = numbers(64);
  int neighbours = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<size_t> some = sample(rows, 8, seed);
    for (const size_t a : some)
      for (const size_t b : some) neighbours += a < b && grid(a, b) == 1;
  }
  // Drawn without regard to distance it is 112 pairs of 2016, of each of which both are drawn in 28 of 2016
  // cases: 311 in 200 draws.
  EXPECT_LT(neighbours, 60);
}

TEST(SpreadSample, IsThatOfItsSeeds) {
  const std::vector<size_t> rows = numbers(64);
  EXPECT_EQ(sample(rows, 8, 1), sample(rows, 8, 1));
  EXPECT_NE(sample(rows, 8, 1), sample(rows, 8, 2));
  EXPECT_NE(sample(rows, 8, 1), sample(rows, 8, uint64_t{1} << 32)) << "all bits count";
  const std::vector<size_t> expected = {12, 25, 28, 39, 49};
  EXPECT_EQ(sample(rows, 5, 1), expected) << "on any computer";
}

TEST(SpreadSample, DrawsOfTheRowsThatItIsGiven) {
  const std::vector<size_t> rows = {3, 9, 20, 41};
  for (uint64_t seed = 0; seed < 20; ++seed)
    for (const size_t row : sample(rows, 2, seed)) EXPECT_TRUE(std::ranges::binary_search(rows, row));
  EXPECT_EQ(sample(rows, 4, 1), rows);
  EXPECT_EQ(sample(rows, 9, 1), rows) << "there are no more";
  EXPECT_TRUE(sample(rows, 0, 1).empty());
  EXPECT_TRUE(sample({}, 3, 1).empty());
}

}  // namespace
}  // namespace gpusim::study
