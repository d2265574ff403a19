#include "study/guided.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "simcore/text/input_error.h"
#include "study/findings.h"

namespace gpusim::study {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class GuidedStudy : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              fmt::format("gpusim_guided_{}", testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    study_.path = "s.toml";
    study_.machines = {"gtx470"};
    study_.workloads.push_back(
        {"vecadd", GPUSIM_SOURCE_DIR "/workloads/vecadd/vecadd.ptx", "", {"N=4096"}, {}});
    study_.axes = {axis_from_option("sms=1,2,3,4,8,14"),
                   axis_from_option("core_clock=600MHz,900MHz,1215MHz")};
    points_ = points_of(study_);
    options_.store = folder_.string();
    options_.program = "p";
    options_.config_folders = {GPUSIM_SOURCE_DIR "/configs"};
    options_.on_done = [this](size_t, const PointResult&) { ++ended_; };
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
  Study study_;
  std::vector<Point> points_;
  RunOptions options_;
  size_t ended_ = 0;
};

TEST_F(GuidedStudy, SimulatesAsManyAsItMayAndEstimatesTheOthers) {
  const Guided guided = run_guided(study_, points_, 7, kGuidedSeed, options_);
  EXPECT_EQ(ended_, 7U);
  EXPECT_EQ(guided.chosen.size(), 7U);
  ASSERT_EQ(guided.groups.size(), 1U);
  EXPECT_EQ(guided.groups[0].simulated, 7U);
  EXPECT_EQ(guided.groups[0].no_model, "");
  for (size_t i = 0; i < points_.size(); ++i) {
    const Estimate& e = guided.estimates[i];
    EXPECT_GT(e.model_s, 0) << i;
    if (e.simulated) {
      EXPECT_EQ(e.value, guided.results[i].time_s);
      EXPECT_EQ(e.low, e.high);
    } else {
      EXPECT_EQ(guided.results[i].status, PointResult::Status::kMissing);
      EXPECT_LT(e.low, e.value);
      EXPECT_LT(e.value, e.high);
    }
  }
  const Guided again = run_guided(study_, points_, 7, kGuidedSeed, options_);
  EXPECT_EQ(again.chosen, guided.chosen) << "what is stored changes nothing";
  EXPECT_EQ(predictions_csv(study_, points_, again), predictions_csv(study_, points_, guided));
}

TEST_F(GuidedStudy, NamesTheValuesThatNoSimulatedPointHas) {
  const auto said = [&](size_t simulations) {
    const Guided guided = run_guided(study_, points_, simulations, kGuidedSeed, options_);
    const Outcome outcome{study_, points_, guided.results, &guided};
    return findings_text(outcome, find(outcome));
  };
  // Three points have three numbers of SMs of six at most.
  EXPECT_THAT(said(3), testing::ContainsRegex("at no simulated point: sms=.*, sms=.*, sms="));
  EXPECT_THAT(said(points_.size()), testing::Not(HasSubstr("at no simulated point")));
}

TEST_F(GuidedStudy, DoesNotUseWhatItDidNotChoose) {
  const Guided alone = run_guided(study_, points_, 5, kGuidedSeed, options_);
  std::vector<size_t> all(points_.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  (void)run_points(study_, points_, all, options_);
  const Guided beside_all = run_guided(study_, points_, 5, kGuidedSeed, options_);
  EXPECT_EQ(predictions_csv(study_, points_, beside_all), predictions_csv(study_, points_, alone));
}

TEST_F(GuidedStudy, DrawsOtherPointsWithAnotherSeedAndAlwaysTakesTheOneThatTheModelLikesBest) {
  study_.axes.push_back(axis_from_option("dram_clock=1000MHz,1674MHz"));
  points_ = points_of(study_);
  EXPECT_NE(run_guided(study_, points_, 5, 1, options_).chosen,
            run_guided(study_, points_, 5, 2, options_).chosen);
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const Guided guided = run_guided(study_, points_, 3, seed, options_);
    const auto least = std::ranges::min_element(guided.estimates, {}, &Estimate::model_s);
    EXPECT_THAT(guided.chosen, testing::Contains(static_cast<size_t>(least - guided.estimates.begin())));
  }
}

TEST_F(GuidedStudy, SaysWhereTheModelDoesNotApply) {
  study_.machines = {"tesla_c1060"};
  study_.axes = {axis_from_option("sms=1,2,4,8,16,31")};
  points_ = points_of(study_);
  const Guided guided = run_guided(study_, points_, 3, kGuidedSeed, options_);
  EXPECT_THAT(guided.groups[0].no_model, HasSubstr("L1"));
  EXPECT_EQ(guided.groups[0].points, 5U) << "one is refused: there are 30 SMs";
  EXPECT_EQ(guided.results[5].status, PointResult::Status::kRefused);
  EXPECT_TRUE(std::isnan(guided.estimates[5].value));
  EXPECT_TRUE(std::isfinite(guided.estimates[2].value));
  EXPECT_TRUE(std::isnan(guided.groups[0].model_error));
}

TEST_F(GuidedStudy, RefusesTooFewSimulations) {
  try {
    (void)run_guided(study_, points_, 2, kGuidedSeed, options_);
    ADD_FAILURE() << "two points are not enough";
  } catch (const core::InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("at least 3"));
  }
}

TEST_F(GuidedStudy, TheModelKnowsTheMachineOfEachPoint) {
  const Guided guided = run_guided(study_, points_, 3, kGuidedSeed, options_);
  const auto seconds = [&](uint32_t sms, uint32_t clock) {
    const auto at = std::ranges::find(points_, std::vector{sms, clock}, &Point::values);
    return guided.estimates[static_cast<size_t>(at - points_.begin())].model_s;
  };
  EXPECT_GT(seconds(0, 0), 1.3 * seconds(5, 0)) << "one SM and fourteen";
  EXPECT_GT(seconds(0, 0), 1.3 * seconds(0, 2)) << "600 and 1215 MHz";
}

}  // namespace
}  // namespace gpusim::study
