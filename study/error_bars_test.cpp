#include "study/error_bars.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace gpusim::study {
namespace {

TEST(ErrorBars, HoldTheLargestOfAFewErrors) {
  std::vector<LeftOut> drawn(8, {0.01, 0.01});
  drawn.push_back({-0.5, 0.01});
  const ErrorBars bars(drawn);
  EXPECT_GE(bars.half(0.01), 0.5 * (1 - 1e-9)) << "of nine, a tenth is less than one";
}

TEST(ErrorBars, AreWiderThanTheErrorsIfTheseAreFew) {
  // Of normally distributed values, whose mean square is 1, 90 % lie within 1.645.
  const auto width = [](size_t count) {
    std::vector<LeftOut> drawn(count, {1, 0});
    return ErrorBars(drawn).half(0);
  };
  EXPECT_NEAR(width(1000), 1.72, 0.02);
  EXPECT_NEAR(width(13), 2.72, 0.01) << "1.645 times the root of 13 / 4.77, a fiftieth of chi squared's";
  EXPECT_NEAR(width(5), 4.24, 0.01);
  EXPECT_GT(ErrorBars({}).half(1), 10) << "nothing is known";
}

TEST(ErrorBars, AreWiderWhereLessIsKnownButNowhereMuchLessThanPredictionsAreOff) {
  std::vector<LeftOut> drawn(12, {0.1, 0.01});
  const ErrorBars sure(drawn);
  EXPECT_GT(sure.half(0.3), 2 * sure.half(0.01));
  EXPECT_NEAR(sure.half(0.001), sure.half(0.01), 0.01 * sure.half(0.01))
      << "errors of a tenth do not follow from deviations of a hundredth";
}

TEST(ErrorBars, HoldTheirShareOfErrorsLikeThoseThatWereSeen) {
  // Errors as large as their deviations, which vary, and as those of heavy tails are.
  std::mt19937_64 engine(1);
  const auto normal = [&] {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(engine() >> 11) * 0x1p-53;
    return sum;
  };
  const auto drawn = [&] {
    const double deviation = 0.01 * static_cast<double>(1 + engine() % 5);
    const double one = normal(), two = normal();
    return LeftOut{deviation * normal() / std::sqrt((one * one + two * two) / 2 + 0.1), deviation};
  };
  int held = 0, all = 0;
  for (int study = 0; study < 300; ++study) {
    std::vector<LeftOut> seen;
    for (int i = 0; i < 15; ++i) seen.push_back(drawn());
    const ErrorBars bars(seen);
    for (int i = 0; i < 20; ++i) {
      const LeftOut other = drawn();
      held += std::abs(other.error) <= bars.half(other.deviation), ++all;
    }
  }
  EXPECT_GT(held, kErrorBars * all);
  EXPECT_LT(held, 0.98 * all);
}

}  // namespace
}  // namespace gpusim::study
