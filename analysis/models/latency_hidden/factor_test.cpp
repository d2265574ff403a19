// The united formula against the paper's own four cases and against its barrier form.
#include "analysis/models/latency_hidden/factor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace gpusim::analysis::latency_hidden {
namespace {

/// Equations of section 2.3.1 to 2.3.4, each as printed.
double of_case(const FactorInput& in, double j, double warps) {
  const double ilp = in.ilp, next = in.next_ilp, la = in.latency, bw = in.bandwidth;
  if (ilp >= bw && next >= bw)
    return std::max(0.0, 1 - (ilp * (warps - j) + (j - 1) * (next - std::max(0.0, next - ilp))) / (la + bw));
  if (ilp >= bw) return std::max(0.0, 1 - (ilp * (warps - j) + (j - 1) * next) / (la + bw));
  if (next < bw)
    return std::max(0.0, 1 - (ilp * (warps - j) + (j - 1) * next) / (la + bw + (j - 1) * (bw - ilp)));
  return std::max(
      0.0, 1 - (ilp * (warps - j) + (j - 1) * (next - (next - bw))) / (la + bw + (j - 1) * (bw - ilp)));
}

FactorInput random_input(std::mt19937& random) {
  std::uniform_real_distribution<double> time(0.5, 200);
  return {time(random), time(random), 3 * time(random), time(random)};
}

TEST(LatencyHiddenFactor, UnitesTheFourCases) {
  std::mt19937 random(1);
  int seen[4] = {};
  for (int n = 0; n < 20000; ++n) {
    const FactorInput in = random_input(random);
    const uint32_t warps = 1 + random() % 32, j = 1 + random() % warps;
    ++seen[2 * (in.ilp >= in.bandwidth) + (in.next_ilp >= in.bandwidth)];
    EXPECT_NEAR(continuous_factor(in, j, warps).factor, of_case(in, j, warps), 1e-12);
  }
  for (const int count : seen) EXPECT_GT(count, 1000);
}

TEST(LatencyHiddenFactor, IsAShareOfTheLatency) {
  std::mt19937 random(2);
  for (int n = 0; n < 5000; ++n) {
    const FactorInput in = random_input(random);
    const uint32_t warps = 1 + random() % 32, j = 1 + random() % warps, block = 1 + random() % warps;
    for (const ExposedLatency& e : {continuous_factor(in, j, warps), barrier_factor(in, j, warps, block)}) {
      EXPECT_GE(e.factor, 0);
      EXPECT_LE(e.factor, 1);
      EXPECT_GE(e.latency, in.latency + in.bandwidth);
    }
    // A barrier can only expose more.
    EXPECT_GE(barrier_factor(in, j, warps, block).exposed(),
              continuous_factor(in, j, warps).exposed() - 1e-9);
  }
}

TEST(LatencyHiddenFactor, BarriersRoundToWholeBlocks) {
  const FactorInput in{10, 20, 400, 30};  // a warp's data take 20 cycles longer than issuing
  // Warp 6 of 12 in blocks of 4: one whole block before it hides with its next segment, two have data to
  // come.
  const ExposedLatency e = barrier_factor(in, 6, 12, 4);
  EXPECT_DOUBLE_EQ(e.latency, 400 + 30 + 8 * 20);
  EXPECT_DOUBLE_EQ(e.factor, 1 - (10 * 6 + 4 * 20) / 590.0);
  // The first warp of a block has nothing to round.
  EXPECT_DOUBLE_EQ(barrier_factor(in, 5, 12, 4).exposed(), continuous_factor(in, 5, 12).exposed());
  EXPECT_DOUBLE_EQ(barrier_factor(in, 7, 12, 1).exposed(), continuous_factor(in, 7, 12).exposed());
}

TEST(LatencyHiddenFactor, NoLatencyHidesNothing) {
  EXPECT_EQ(continuous_factor({10, 10, 0, 0}, 1, 8).exposed(), 0);
  EXPECT_DOUBLE_EQ(continuous_factor({10, 10, 500, 0}, 1, 1).exposed(), 500);  // one warp: all is exposed
}

}  // namespace
}  // namespace gpusim::analysis::latency_hidden
