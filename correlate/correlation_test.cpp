#include "correlate/correlation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "correlate/profile_counters.h"

namespace gpusim::correlate {
namespace {

HardwareKernel measured(const std::string& name, double cycles, Method method = Method::kEvents) {
  HardwareKernel k;
  k.name = name;
  k.cycles = k.least = k.most = cycles;
  k.method = method;
  return k;
}

SimulatedKernel simulated(const std::string& name, double cycles, double clocks = -1) {
  SimulatedKernel k;
  k.name = name;
  k.cycles = cycles;
  k.clock_buffer = clocks;
  return k;
}

/// A run of one kernel with these cycles.
void add(HardwareFile& file, std::vector<SimulatedRun>& runs, double hardware, double simulation,
         bool fitting = false) {
  HardwareRun run;
  run.name = "run" + std::to_string(file.runs.size());
  run.role = fitting ? Role::kFitting : Role::kNone;
  run.kernels = {measured("k", hardware)};
  file.runs.push_back(run);
  SimulatedRun s;
  s.kernels = {simulated("k", simulation)};
  runs.push_back(s);
}

TEST(Correlation, TotalsAreThoseOfTheJudgedRows) {
  HardwareFile file;
  std::vector<SimulatedRun> runs;
  add(file, runs, 100, 110);      // +10 %
  add(file, runs, 1000, 700);     // -30 %
  add(file, runs, 10000, 10400);  // +4 %
  add(file, runs, 200, 192);      // -4 %
  add(file, runs, 50, 500, true);
  const Correlation c = correlate(file, runs);
  EXPECT_FALSE(c.incomplete);
  const Totals t = totals_of(c.rows, counts);
  EXPECT_EQ(t.rows, 4u);
  EXPECT_NEAR(t.bias, -0.05, 1e-12);
  EXPECT_NEAR(t.mean_absolute, 0.12, 1e-12);
  EXPECT_NEAR(t.median_absolute, 0.07, 1e-12);
  EXPECT_EQ(t.worst->run, "run1");
  EXPECT_NEAR(*t.correlation, 0.99947998, 1e-8);  // computed elsewhere
  EXPECT_NEAR(*t.log_correlation, 0.99512467, 1e-8);
  const Totals fitting = totals_of(c.rows, [](const Row& row) { return row.role == Role::kFitting; });
  EXPECT_EQ(fitting.rows, 1u);
  EXPECT_NEAR(fitting.bias, 9, 1e-12);
  EXPECT_FALSE(fitting.correlation);
}

TEST(Correlation, PearsonOfALineIsOneAndOfAConstantNothing) {
  EXPECT_NEAR(*pearson({1, 2, 4}, {3, 5, 9}), 1, 1e-12);
  EXPECT_NEAR(*pearson({1, 2, 4}, {-3, -5, -9}), -1, 1e-12);
  EXPECT_NEAR(*pearson({1, 2, 3, 4}, {1, -1, -1, 1}), 0, 1e-12);
  EXPECT_FALSE(pearson({1, 2, 3}, {5, 5, 5}));
  EXPECT_FALSE(pearson({1, 2}, {1, 2}));
}

TEST(Correlation, LaunchesOfAKernelAreARow) {
  HardwareFile file;
  HardwareRun run;
  run.name = "r";
  run.kernels = {measured("a", 100), measured("b", 50), measured("a", 300)};
  run.kernels[0].least = 90, run.kernels[2].most = 330;
  file.runs = {run};
  SimulatedRun s;
  s.kernels = {simulated("a", 120), simulated("b", 60), simulated("a", 240)};
  const Correlation c = correlate(file, {s});
  ASSERT_EQ(c.rows.size(), 2u);
  EXPECT_EQ(c.rows[0].kernel, "a");
  EXPECT_EQ(c.rows[0].launches, 2u);
  EXPECT_EQ(c.rows[0].hardware, 400);
  EXPECT_EQ(c.rows[0].simulated, 360);
  EXPECT_NEAR(c.rows[0].spread, 0.1, 1e-12);
  EXPECT_NEAR(c.rows[1].error(), 0.2, 1e-12);
}

/// What a method measures is what it is compared with.
TEST(Correlation, MethodsMeasureDifferentThings) {
  HardwareFile file;
  HardwareRun run;
  run.name = "r";
  run.kernels = {measured("a", 100, Method::kClockBuffer), measured("b", 100, Method::kClock64),
                 measured("c", 100, Method::kEvents), measured("d", 100, Method::kClockBuffer)};
  file.runs = {run};
  SimulatedRun s;
  s.kernels = {simulated("a", 500, 70), simulated("b", 500), simulated("c", 500), simulated("d", 500)};
  s.empty_cycles = 400;
  const Correlation c = correlate(file, {s});
  EXPECT_EQ(c.rows[0].simulated, 70);
  EXPECT_EQ(c.rows[1].simulated, 100);
  EXPECT_EQ(c.rows[2].simulated, 500);
  EXPECT_THAT(c.rows[3].why_not, ::testing::HasSubstr("no buffer 'd'"));
  EXPECT_TRUE(c.incomplete);
}

TEST(Correlation, WhatIsNotComparedSaysWhy) {
  HardwareFile file;
  std::vector<SimulatedRun> runs;
  for (int i = 0; i < 5; ++i) add(file, runs, 100, 100);
  file.runs[0].not_run = "no room";
  runs[1].failure = "a.ptx: error: cannot open";
  runs[2].kernels[0].grid = {2, 1, 1};
  runs[3].kernels.push_back(simulated("k", 1));
  runs[4].kernels[0].name = "other";
  const Correlation c = correlate(file, runs);
  ASSERT_EQ(c.rows.size(), 5u);
  EXPECT_EQ(c.rows[0].why_not, "not measured: no room");
  EXPECT_EQ(c.rows[1].why_not, "a.ptx: error: cannot open");
  EXPECT_EQ(c.rows[2].why_not,
            "launch 1 was k of 1x1x1 blocks of 1x1x1 threads, the launch file's is k of 2x1x1 of 1x1x1");
  EXPECT_EQ(c.rows[3].why_not, "1 launches were measured, the launch file has 2");
  EXPECT_THAT(c.rows[4].why_not, ::testing::HasSubstr("is other of"));
  EXPECT_TRUE(c.incomplete);
  EXPECT_EQ(totals_of(c.rows, counts).rows, 0u);
  runs.resize(1), file.runs.resize(1);
  EXPECT_FALSE(correlate(file, runs).incomplete);
}

TEST(Correlation, ResultsThatDifferAreMarkedAndCount) {
  HardwareFile file;
  std::vector<SimulatedRun> runs;
  for (int i = 0; i < 3; ++i) add(file, runs, 100, 100);
  file.runs[0].buffers = {{"C", "1"}}, runs[0].buffers = {{"A", "0"}, {"C", "1"}};
  file.runs[1].buffers = {{"C", "1"}}, runs[1].buffers = {{"C", "2"}};
  const Correlation c = correlate(file, runs);
  EXPECT_EQ(c.rows[0].results, Results::kSame);
  EXPECT_EQ(c.rows[1].results, Results::kDiffer);
  EXPECT_EQ(c.rows[2].results, Results::kUnknown);
  EXPECT_TRUE(c.results_differ());
  EXPECT_EQ(totals_of(c.rows, counts).rows, 3u);
}

TEST(Correlation, ARateIsTurnedIntoCyclesByTheApplicationsFlops) {
  HardwareFile file;
  file.core_hz = 2e9;
  HardwareRun run;
  run.name = "r";
  run.whole = WholeRun{WholeRun::Kind::kFlopRate, 1e12};
  file.runs = {run};
  SimulatedRun s;
  s.flops = 5e6;
  s.kernels = {simulated("a", 4000), simulated("b", 5000)};
  const Correlation c = correlate(file, {s});
  EXPECT_EQ(c.rows.at(0).hardware, 10000);
  EXPECT_EQ(c.rows.at(0).simulated, 9000);
  s.flops = 0;
  EXPECT_THAT(correlate(file, {s}).rows.at(0).why_not, ::testing::HasSubstr("[flops]"));
}

TEST(Correlation, AWholeRunsFigureBecomesCyclesOfItsClock) {
  HardwareFile file;
  file.core_hz = 2e9;
  file.machine = "m";  // whose clock the simulation tells
  HardwareRun run;
  run.name = "r";
  file.runs = {run};
  SimulatedRun s;
  s.core_hz = 1e9;
  s.kernels = {simulated("a", 4000), simulated("b", 5000)};
  const auto hardware = [&](WholeRun whole) {
    file.runs[0].whole = whole;
    const Correlation c = correlate(file, {s});
    EXPECT_EQ(c.rows.at(0).simulated, 9000);
    EXPECT_EQ(c.rows.at(0).launches, 2u);
    return c.rows.at(0).hardware;
  };
  WholeRun whole{WholeRun::Kind::kSeconds, 12e-6};
  whole.overhead_seconds = 2e-6;
  EXPECT_NEAR(hardware(whole), 10000, 1e-6);
  whole.part = 0.5;
  EXPECT_NEAR(hardware(whole), 5000, 1e-6);
  EXPECT_NEAR(hardware({WholeRun::Kind::kBytesPerSecond, 1e9, 8000}), 8000, 1e-6);
  EXPECT_NEAR(hardware({WholeRun::Kind::kCycles, 9500}), 9500, 1e-6);
  s.gap_cycles = 100;
  file.runs[0].whole = WholeRun{WholeRun::Kind::kSeconds, 12e-6};
  EXPECT_NEAR(correlate(file, {s}).rows.at(0).simulated, 9200, 1e-6) << "a gap before each of two launches";
  file.runs[0].whole->overhead_seconds = 2e-6;
  EXPECT_NEAR(correlate(file, {s}).rows.at(0).simulated, 9100, 1e-6) << "the one between the two launches";
  file.runs[0].whole->part = 0.5;
  EXPECT_NEAR(correlate(file, {s}).rows.at(0).simulated, 9000, 1e-6)
      << "launches of half the work: not known";
  file.runs[0].whole->part = 1;
  s.kernels.clear();
  EXPECT_EQ(correlate(file, {s}).rows.at(0).simulated, 0);
}

TEST(ProfileCounters, InstructionsAreEstimatedOrElseIssueSlots) {
  std::vector<core::Counter> counters = {{"issue_slots", 13, "1", ""}, {"shared_load", 2, "1", ""}};
  EXPECT_EQ(profile_counter("instructions", counters), 13);
  counters.push_back({"machine_instructions", 21, "1", ""});
  EXPECT_EQ(profile_counter("instructions", counters), 21);
  EXPECT_EQ(profile_counter("shared_accesses", counters), 2);
  EXPECT_EQ(profile_counter("l2_reads", counters), 0);
}

TEST(Correlation, RolesHaveTotalsOfTheirOwn) {
  HardwareFile file;
  std::vector<SimulatedRun> runs;
  add(file, runs, 100, 110);
  add(file, runs, 100, 80);
  file.runs[0].role = Role::kFit;
  file.runs[1].role = Role::kJudge;
  const Correlation c = correlate(file, runs);
  EXPECT_NEAR(totals_of(c.rows, counts).mean_absolute, 0.15, 1e-12);
  EXPECT_NEAR(totals_of(c.rows, [](const Row& r) { return r.role == Role::kJudge; }).mean_absolute, 0.2,
              1e-12);
}

}  // namespace
}  // namespace gpusim::correlate
