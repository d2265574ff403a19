#include "study/time_estimate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "study/time_text.h"

namespace gpusim::study {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Time : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              fmt::format("gpusim_time_{}", testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    study_.path = "s.toml";
    study_.machines = {"tesla_c1060"};
    study_.workloads.push_back(
        {"vecadd", GPUSIM_SOURCE_DIR "/workloads/vecadd/vecadd.ptx", "", {"N=1024"}, {}});
    study_.axes = {axis_from_option("sms=1,2,3,4")};
    points_ = points_of(study_);
    options_.store = folder_.string();
    options_.program = "p";
    options_.config_folders = {GPUSIM_SOURCE_DIR "/configs"};
    options_.parallel = 2;
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] TimeEstimate estimate() {
    return estimate_time(study_, points_, stored_results(study_, points_, options_), options_, 0.2);
  }

  fs::path folder_;
  Study study_;
  std::vector<Point> points_;
  RunOptions options_;
};

TEST_F(Time, WithoutASimulatedPointTwoAreTried) {
  const TimeEstimate e = estimate();
  EXPECT_EQ(e.missing, 4U);
  EXPECT_EQ(e.unknown, 0U);
  EXPECT_EQ(e.measured, 0U);
  EXPECT_EQ(e.tried, 2U);
  EXPECT_GT(e.processor_s, 0);
  EXPECT_GT(e.share, 0);
  EXPECT_LE(e.share, 1);
  EXPECT_FALSE(fs::exists(folder_)) << "a plan leaves nothing";
}

TEST_F(Time, WhatSimulatedPointsTookCounts) {
  study_.workloads[0].params = {};
  study_.axes = {axis_from_option("sms=1,2"), axis_from_option("param.N=1024,8192")};
  points_ = points_of(study_);
  const std::vector<size_t> which = {0, 2};
  const auto results = run_points(study_, points_, which, options_);
  for (const PointResult& r : results) {
    const auto time = stored_host_time(options_.store, r.key);
    ASSERT_TRUE(time);
    EXPECT_GT(time->processor_s, 0);
  }
  // Half an hour each, for which they had half a processor.
  for (const PointResult& r : results) store_host_time(options_.store, r.key, {1800, 3600});
  const TimeEstimate e = estimate();
  EXPECT_EQ(e.missing, 2U);
  EXPECT_EQ(e.measured, 2U);
  EXPECT_EQ(e.tried, 0U);
  EXPECT_NEAR(e.processor_s, 2 * 8 * 1800, 1000)
      << "an instruction takes as long where there are eight times as many";
  EXPECT_DOUBLE_EQ(e.share, 0.5);
  EXPECT_DOUBLE_EQ(e.shared_wall_s(2), e.processor_s);
  std::ofstream(folder_ / (results[0].key + ".seconds")) << "-1 processor seconds, 2 seconds\n";
  EXPECT_FALSE(stored_host_time(options_.store, results[0].key)) << "no time is negative";
}

TEST_F(Time, AProgramThatFailsHasNone) {
  study_.workloads[0].launch = (folder_ / "short.toml").string();
  fs::create_directories(folder_);
  std::ofstream(study_.workloads[0].launch) << R"(
[[buffer]]
name = "a"
type = "f32"
count = 16
[[launch]]
grid = [8]
block = [128]
args = ["a", "a", "a", 1024]
)";
  study_.workloads[0].params = {};
  const TimeEstimate e = estimate();
  EXPECT_EQ(e.missing, 4U);
  EXPECT_EQ(e.unknown, 4U);
  EXPECT_THAT(time_text(e, study_, 4, 2), HasSubstr("without 4 points whose program fails"));
}

TEST_F(Time, ALongStudyIsToldWhatIsSooner) {
  TimeEstimate e;
  e.missing = 48;
  e.measured = 2;
  e.processor_s = 500;
  EXPECT_THAT(time_text(e, study_, 48, 2), HasSubstr("about 8 min on one processor, 4 min on 2"));
  EXPECT_THAT(time_text(e, study_, 48, 2), Not(HasSubstr("sooner"))) << "four minutes";
  e.share = 0.25;
  const std::string text = time_text(e, study_, 48, 2);
  EXPECT_THAT(text,
              HasSubstr("about 17 min if processors stay as busy as they were: these simulations got 25 %"));
  EXPECT_THAT(text, HasSubstr("study run --guided 20  simulates 20 of the 48 points"));
  EXPECT_THAT(text, HasSubstr("with error bars: about 7 min"));
  EXPECT_THAT(text, HasSubstr("vecadd: N=1024"));
  EXPECT_THAT(time_text(e, study_, 24, 2), Not(HasSubstr("--guided"))) << "most of them would be simulated";
}

TEST(GuidedPoints, ATenthOrAsManyAsErrorBarsAskFor) {
  Study study;
  study.machines = {"a"};
  study.workloads.resize(1);
  EXPECT_EQ(guided_points(study, 39), 0U);
  EXPECT_EQ(guided_points(study, 40), 20U);
  EXPECT_EQ(guided_points(study, 1000), 100U);
  study.workloads.resize(2);
  EXPECT_EQ(guided_points(study, 100), 40U);
}

}  // namespace
}  // namespace gpusim::study
