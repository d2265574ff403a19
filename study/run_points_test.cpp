#include "study/run_points.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "simcore/text/text_file.h"

namespace gpusim::study {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RunPoints : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              fmt::format("gpusim_study_{}", testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    study_.path = "s.toml";
    study_.machines = {"tesla_c1060"};
    study_.workloads.push_back(
        {"vecadd", GPUSIM_SOURCE_DIR "/workloads/vecadd/vecadd.ptx", "", {"N=1024"}, {}});
    study_.axes = {axis_from_option("sms=1,2,31")};
    points_ = points_of(study_);
    options_.store = folder_.string();
    options_.program = "p";
    options_.config_folders = {GPUSIM_SOURCE_DIR "/configs"};
    options_.parallel = 2;
    options_.on_start = [this] { started_ = true; };
    options_.on_done = [this](size_t, const PointResult&) { ++(started_ ? simulated_ : known_); };
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::vector<PointResult> run() {
    started_ = false;
    simulated_ = known_ = 0;
    const std::vector<size_t> all = {0, 1, 2};
    return run_points(study_, points_, all, options_);
  }

  fs::path folder_;
  Study study_;
  std::vector<Point> points_;
  RunOptions options_;
  bool started_ = false;
  int simulated_ = 0, known_ = 0;
};

TEST_F(RunPoints, SimulatesWhatIsMissingAndNothingTwice) {
  const auto first = run();
  EXPECT_EQ(simulated_, 2);
  EXPECT_EQ(first[0].status, PointResult::Status::kComplete);
  EXPECT_EQ(first[0].verified, "yes");
  EXPECT_GT(first[0].cycles, first[1].cycles) << "one SM takes longer than two";
  EXPECT_EQ(first[2].status, PointResult::Status::kRefused) << "there are 30";
  const auto second = run();
  EXPECT_EQ(simulated_, 0);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(result_json(second[i]), result_json(first[i]));
  fs::remove(folder_ / (first[1].key + ".json"));
  (void)run();
  EXPECT_EQ(simulated_, 1);
}

TEST_F(RunPoints, ADamagedResultIsSimulatedAgain) {
  const auto first = run();
  const fs::path file = folder_ / (first[0].key + ".json");
  const std::string text = core::read_text_file(file.string());
  for (const size_t bytes : {size_t{0}, size_t{1}, text.size() / 2, text.size() - 2}) {
    std::ofstream(file, std::ios::binary) << text.substr(0, bytes);
    int damaged = 0;
    options_.on_damaged = [&](const std::string& name) { damaged += name == file.string() ? 1 : 0; };
    const auto again = run();
    EXPECT_EQ(damaged, 1) << bytes;
    EXPECT_EQ(simulated_, 1) << bytes;
    EXPECT_EQ(result_json(again[0]), result_json(first[0]));
    EXPECT_EQ(core::read_text_file(file.string()), text) << "byte for byte";
  }
}

TEST_F(RunPoints, TwoPointsOfOneSimulationAreSimulatedOnce) {
  study_.axes = {axis_from_option("l1.mshrs=64,128"), axis_from_option("sms=1")};
  study_.sets = {};
  study_.axes[0] = axis_from_option("scheduler.policy=lrr,gto");
  study_.axes[0].values[1].texts[0] = "lrr";  // labels differ, machines do not
  points_ = points_of(study_);
  const std::vector<size_t> all = {0, 1};
  const auto results = run_points(study_, points_, all, options_);
  EXPECT_EQ(results[0].cycles, results[1].cycles);
  EXPECT_EQ(std::ranges::count_if(fs::directory_iterator(folder_),
                                  [](const auto& file) { return file.path().extension() == ".json"; }),
            1);
}

TEST_F(RunPoints, FailedProgramsKeepTheirReason) {
  fs::create_directories(folder_ / "launch");
  study_.workloads[0].launch = (folder_ / "launch" / "short.toml").string();
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
  study_.axes = {axis_from_option("sms=1,2")};
  points_ = points_of(study_);
  const std::vector<size_t> all = {0, 1};
  const auto results = run_points(study_, points_, all, options_);
  EXPECT_EQ(results[0].status, PointResult::Status::kFailed);
  EXPECT_FALSE(results[0].reason.empty());
  simulated_ = 0;
  (void)run_points(study_, points_, all, options_);
  EXPECT_EQ(simulated_, 2) << "of the first run";
  options_.again = true;
  simulated_ = 0;
  started_ = false;
  (void)run_points(study_, points_, all, options_);
  EXPECT_EQ(simulated_, 2) << "simulated again";
}

TEST_F(RunPoints, AKernelThatTakesTooLongHasFailed) {
  study_.max_cycles = 10;
  const auto results = run();
  EXPECT_EQ(results[0].status, PointResult::Status::kFailed);
  EXPECT_THAT(results[0].reason, HasSubstr("10"));
  const std::string key = results[0].key;
  study_.max_cycles = kDefaultMaxCycles;
  EXPECT_NE(run()[0].key, key) << "another simulation";
}

TEST_F(RunPoints, APointThatCannotBeWrittenHasNotFailed) {
  study_.axes = {axis_from_option("sms=1,2")};
  points_ = points_of(study_);
  const std::vector<size_t> all = {0, 1};
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  // A failed point, without counters, has room; a result has none.
  const rlimit tight{3000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  std::string error;
  try {
    (void)run_points(study_, points_, all, options_);
  } catch (const core::InputError& e) {
    error = e.what();
  }
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_THAT(error, HasSubstr("cannot be written: File too large"));
  for (const PointResult& r : stored_results(study_, points_, options_))
    EXPECT_EQ(r.status, PointResult::Status::kMissing) << r.reason;
  for (const PointResult& r : run_points(study_, points_, all, options_))
    EXPECT_EQ(r.status, PointResult::Status::kComplete) << r.reason;
}

TEST_F(RunPoints, TheStoreMustBeAFolder) {
  std::ofstream(folder_.string()) << "a file";
  EXPECT_THROW((void)run(), core::InputError);
  fs::remove(folder_);
}

TEST(CountWarpInstructions, AreThoseOfTheTimedRun) {
  Study study;
  study.machines = {"tesla_c1060"};
  study.workloads.push_back({"vecadd", GPUSIM_SOURCE_DIR "/workloads/vecadd/vecadd.ptx", "", {"N=1024"}, {}});
  const std::vector<std::string> configs = {GPUSIM_SOURCE_DIR "/configs"};
  const Counted counted = count_warp_instructions(prepare(study, points_of(study)[0], configs, "p"));
  EXPECT_EQ(counted.warp_instructions, 1024 / 32 * 20U);
  EXPECT_TRUE(counted.whole);
}

}  // namespace
}  // namespace gpusim::study
