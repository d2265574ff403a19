#include "study/gaussian_process.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace gpusim::study {
namespace {

/// A line of `n` places from 0 to 1.
Coordinates line(size_t n) {
  Coordinates c;
  c.dimensions = 1;
  c.ordered = {1};
  for (size_t i = 0; i < n; ++i) c.values.push_back(static_cast<double>(i) / static_cast<double>(n - 1));
  return c;
}

TEST(GaussianProcess, GoesThroughWhatIsGivenAndFollowsSmoothFunctions) {
  const Coordinates c = line(41);
  const auto f = [&](size_t row) { return 3 + std::sin(2 * std::numbers::pi * c.values[row]) / 2; };
  std::vector<size_t> rows;
  std::vector<double> values;
  for (size_t row = 0; row < 41; row += 5) rows.push_back(row), values.push_back(f(row));
  const GaussianProcess process(c, rows, values);
  for (size_t row = 0; row < 41; ++row) {
    EXPECT_NEAR(process.mean(row), f(row), row % 5 == 0 ? 0.005 : 0.02) << row;
    EXPECT_LT(std::abs(process.mean(row) - f(row)), 4 * process.deviation(row)) << row;
  }
  EXPECT_LT(process.deviation(20), process.deviation(22)) << "it is sure of what is given";
}

TEST(GaussianProcess, ASlopeIsFollowedBeyondTheValues) {
  Coordinates c = line(11);
  for (const double x : c.values) c.slope.push_back(2 * x);
  const GaussianProcess process(c, {0, 1, 2, 3}, {1.0, 1.24, 1.48, 1.72});  // 1 + 1.2 * slope
  EXPECT_NEAR(process.mean(10), 1 + 1.2 * 2, 0.05);
  c.slope.clear();
  const GaussianProcess constant(c, {0, 1, 2, 3}, {1.0, 1.24, 1.48, 1.72});
  EXPECT_GT(constant.deviation(10), 2 * process.deviation(10)) << "without it nothing is known so far away";
}

TEST(GaussianProcess, WordsAreEquallyFarFromEachOther) {
  Coordinates c;
  c.dimensions = 2;
  c.ordered = {0, 1};
  for (const double word : {0.0, 1.0, 2.0})
    for (const double x : {0.0, 0.5, 1.0}) c.values.insert(c.values.end(), {word, x});
  EXPECT_EQ(c.difference(0, 0, 6), 1);
  EXPECT_EQ(c.difference(0, 0, 1), 0);
  EXPECT_EQ(c.difference(1, 2, 3), 1);
  // A word shifts the values; the last point of the last word follows from the others.
  const GaussianProcess process(c, {0, 1, 2, 3, 4, 5, 6, 7}, {0, .1, .2, .4, .5, .6, .2, .3});
  EXPECT_NEAR(process.mean(8), 0.4, 0.05);
}

TEST(GaussianProcess, BelievingAPointMakesItsNeighboursSurer) {
  const Coordinates c = line(21);
  GaussianProcess process(c, {0, 1, 2}, {1, 1.3, 0.8});
  const double far = process.deviation(20), near = process.deviation(19), mean = process.mean(19);
  process.believe(20);
  EXPECT_LT(process.deviation(20), far / 3);
  EXPECT_LT(process.deviation(19), near);
  EXPECT_EQ(process.mean(19), mean) << "it tells nothing new";
}

TEST(GaussianProcess, LeavingOutTellsHowFarTheOthersAreOff) {
  const Coordinates c = line(9);
  const std::vector<size_t> rows = {0, 2, 4, 6, 8};
  const std::vector<LeftOut> smooth = leave_out(c, rows, {1, 1.1, 1.2, 1.3, 1.4});
  const std::vector<LeftOut> jump = leave_out(c, rows, {1, 1.1, 2.2, 1.3, 1.4});
  ASSERT_EQ(smooth.size(), 5U);
  EXPECT_LT(std::abs(smooth[2].error), 0.02);
  EXPECT_GT(jump[2].error, 0.8) << "value less prediction";
  EXPECT_GT(jump[2].error, jump[2].deviation);
  EXPECT_TRUE(leave_out(c, {3}, {1}).empty());
}

}  // namespace
}  // namespace gpusim::study
