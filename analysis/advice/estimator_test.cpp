// How long a kernel takes by the estimate, for work that is known.
#include "analysis/advice/estimator.h"

#include <gtest/gtest.h>

#include <cmath>

namespace gpusim::analysis::advice {
namespace {

TEST(Overlap, OneRoundAddsUpAndManyHideTheShorter) {
  EXPECT_DOUBLE_EQ(overlapped(100, 40, 1), 140);
  EXPECT_DOUBLE_EQ(overlapped(40, 100, 1), 140);
  EXPECT_NEAR(overlapped(100, 40, 1000), 100, 1);
  EXPECT_NEAR(overlapped(100, 100, 1000), 100 * std::pow(2, 0.25), 1e-9)
      << "both are felt where they are alike";
  EXPECT_EQ(overlapped(0, 0, 1), 0);
}

TEST(EstimatorTest, GivesTheRecordedCyclesForTheRecordedWork) {
  Work work;
  work.start = 1000;
  work.units = {{"dram_bus", 8000}, {"issue", 500}};
  work.chain = {300, 20};
  work.longest = 300;
  for (const double rounds : {1.0, 5.0, 60.0})
    for (const double cycles : {9500.0, 12'000.0, 40'000.0}) {
      work.rounds = rounds;
      const Estimator estimator(work, cycles);
      EXPECT_NEAR(estimator.cycles(work), cycles, 1e-6 * cycles) << rounds << " rounds";
    }
}

TEST(EstimatorTest, ItsOwnErrorIsTheOneBeforeCalibration) {
  Work work;
  work.start = 1000;
  work.units = {{"dram_bus", 3000}};
  EXPECT_NEAR(Estimator(work, 8000).own_error(), -0.5, 1e-9);
  EXPECT_NEAR(Estimator(work, 4000).own_error(), 0, 1e-9);
}

TEST(EstimatorTest, AFullUnitWithHalfTheWorkHalvesAllButTheStart) {
  Work work;
  work.start = 1000;
  work.units = {{"pipe_fp64", 20'000}, {"issue", 100}};
  const Estimator estimator(work, 22'000);
  work.scale("pipe_fp64", 0.5);
  EXPECT_NEAR(estimator.cycles(work), 11'500, 1);
  work.scale("no such unit", 0.5);
  EXPECT_NEAR(estimator.cycles(work), 11'500, 1);
}

/// Units that take longer than the kernel did say nothing of its waits, which a change can leave as they are.
TEST(EstimatorTest, UnitsThatAreTooSlowLeaveTheWaitsAsTheyAre) {
  Work work;
  work.units = {{"lsu_port", 40'000}};
  work.chain = {200};
  work.longest = 2;
  work.rounds = 50;
  const Estimator estimator(work, 39'000);
  EXPECT_NEAR(estimator.cycles(work), 39'000, 1);
  work.scale("lsu_port", 0.1);
  EXPECT_NEAR(estimator.cycles(work), 10'000, 600) << "the waits, of which none is hidden now";
}

TEST(EstimatorTest, WhatItMissesIsQueueingAsFarAsWarpsWaitForMemory) {
  Work work;
  work.units = {{"dram_bus", 4000}, {"pipe_fp32", 1000}};
  work.memory_share = 0.5;
  const Estimator estimator(work, 8000);
  EXPECT_NEAR(estimator.cycles(work), 8000, 1);
  work.scale("dram_bus", 0.5);
  EXPECT_NEAR(estimator.cycles(work), 2000 * 1.5 + 2000 / 2, 1) << "half as long queues, of 2000 cycles";
  work.scale("dram_bus", 0);
  EXPECT_NEAR(estimator.cycles(work), 1000 * 1.5, 1) << "and no queues without traffic";
}

/// Traffic that the L2 has makes the interconnect's queues long, and leaves DRAM's as they are.
TEST(EstimatorTest, QueuesGoWithTheWorkOfWhatIsBehindThem) {
  Work work;
  work.units = {{"dram_bus", 4000}, {"request_in", 3000}};
  work.memory_share = 1;
  work.behind_dram = 0.25;
  const Estimator estimator(work, 8000);
  work.scale("request_in", 0.1);
  EXPECT_NEAR(estimator.cycles(work), 4000 + 4000 * (0.25 + 0.75 * 0.1), 1);
  work.scale("dram_bus", 0.5);
  EXPECT_NEAR(estimator.cycles(work), 2000 + 4000 * (0.25 * 0.5 + 0.75 * 0.1), 1);
}

TEST(EstimatorTest, QueuesGoWithTheBurstOfAnAccessToo) {
  Work work;
  work.units = {{"dram_bus", 4000}};
  work.memory_share = 1;
  work.burst = 32;
  const Estimator estimator(work, 8000);
  work.burst = 4;
  EXPECT_NEAR(estimator.cycles(work), 4000 + 4000 / 8.0, 1) << "as much traffic, an eighth at a time";
  work.burst = 64;
  EXPECT_NEAR(estimator.cycles(work), 8000, 1) << "no change makes them longer";
}

TEST(EstimatorTest, NothingRunsBesideTheTail) {
  Work work;
  work.units = {{"dram_bus", 4000}};
  const Estimator estimator(work, 4000);
  work.tail = 1500;
  EXPECT_NEAR(estimator.cycles(work), 5500, 1);
}

}  // namespace
}  // namespace gpusim::analysis::advice
