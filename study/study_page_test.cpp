#include "study/study_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "study/result_tables.h"

namespace gpusim::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

TEST(StudyFolder, CellsOfCsvMayHoldWhatSeparatesThem) {
  EXPECT_THAT(csv_cells("a,b\n\"x,\"\"y\"\"\nz\",\n", "f"),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("x,\"y\"\nz", "")));
  EXPECT_THROW((void)csv_cells("\"a", "f"), core::InputError);
}

/// A study of 3 x 2 points whose times are known: more of `a` halves it, `b` matters only at the first `a`.
class StudyPage : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = (fs::path(testing::TempDir()) / "page.study").string();
    fs::remove_all(folder_);
    fs::create_directories(folder_ + "/points");
    write("study.toml", kFile);
    const Study study = parse_study(kFile, folder_ + "/study.toml");
    const std::vector<Point> points = points_of(study);
    std::vector<PointResult> results;
    for (const Point& p : points) {
      PointResult r;
      r.status = PointResult::Status::kComplete;
      r.key = "k" + std::to_string(results.size());
      r.verified = "yes";
      r.sram_kib = 100.0 * (1 + p.values[0]);
      r.time_s = 8.0 / (1 << p.values[0]) + (p.values[0] == 0 ? p.values[1] : 0);
      r.energy_j = 1.0 + p.values[0];
      r.cycles = static_cast<uint64_t>(r.time_s * 100);
      r.kernels.push_back({"k", "1x1x1", "32x1x1", r.cycles, r.time_s, {{"inst_executed", 5}}});
      write("points/" + r.key + ".json", result_json(r));
      results.push_back(r);
    }
    results.back() = {};
    results.back().status = PointResult::Status::kRefused;
    results.back().reason = "too <large>, it is";
    write("results.csv", results_csv(study, points, results));
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }
  static constexpr const char* kFile = R"([study]
machines = ["tesla_v100"]
[[workload]]
ptx = "/w/<k>.ptx"
name = "w"
[[axis]]
name = "a"
of = "l1.mshrs"
values = [16, 32, 64]
[[axis]]
name = "b"
of = "lsu.mshrs"
values = [8, 4]
)";
  std::string folder_;
};

TEST_F(StudyPage, PointsAreReadByTheKeysOfTheTable) {
  const StudyFolder f = read_study_folder(folder_, "");
  ASSERT_EQ(f.results.size(), 6u);
  EXPECT_EQ(f.results[1].time_s, 9);
  EXPECT_EQ(f.results[1].status, PointResult::Status::kComplete);
  EXPECT_EQ(f.results[5].status, PointResult::Status::kRefused);
  EXPECT_EQ(f.results[5].reason, "too <large>, it is");
  EXPECT_EQ(f.study.name, "page.study");
}

TEST_F(StudyPage, HasTheBestPointAndAPlotOfEachKind) {
  const std::string html = study_section(read_study_folder(folder_, ""), "s0");
  EXPECT_THAT(html, HasSubstr("2 at a=64 b=8"));
  EXPECT_THAT(html, HasSubstr("What each axis does to time_s"));
  EXPECT_THAT(html, HasSubstr("time_s over a, for each value of b, on which it depends"));
  EXPECT_THAT(html, HasSubstr("a \\ b<th class=\"n\">4"));
  EXPECT_THAT(html, HasSubstr("Time against SRAM"));
  EXPECT_THAT(html, HasSubstr("Time against energy"));
  EXPECT_THAT(html, HasSubstr("1 missing, refused or failed"));
  EXPECT_THAT(html, Not(HasSubstr("<k>"))) << "a path's markup is text";
}

TEST_F(StudyPage, EstimatesOfAGuidedStudyAreMarked) {
  std::string rows = "point,machine,workload,a,b,simulated,time_s,time_s_low,time_s_high,model_time_s\n";
  const char* kRows[] = {"0,m,w,16,8,yes,8,8,8,", "1,m,w,16,4,yes,9,9,9,",  "2,m,w,32,8,yes,4,4,4,",
                         "3,m,w,32,4,yes,4,4,4,", "4,m,w,64,8,no,1.5,1,2,", "5,m,w,64,4,no,2,1,3,"};
  for (const char* row : kRows) rows += std::string(row) + "\n";
  write("predictions.csv", rows);
  const std::string html = study_section(read_study_folder(folder_, ""), "s0");
  EXPECT_THAT(html, HasSubstr("predicted, 1 to 2"));
  EXPECT_THAT(html, HasSubstr("\u2248 1.5"));
}

TEST_F(StudyPage, AFolderWithoutItsPointsSaysWhatIsMissing) {
  fs::remove(folder_ + "/points/k2.json");
  try {
    (void)read_study_folder(folder_, "");
    FAIL();
  } catch (const core::InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("lacks 1 of the points"));
    EXPECT_THAT(e.what(), HasSubstr("--store FOLDER"));
  }
  EXPECT_THROW((void)read_study_folder(testing::TempDir(), ""), core::InputError);
  write("results.csv", "point,key,status,reason\n9,k,complete,\n");
  EXPECT_THROW((void)read_study_folder(folder_, ""), core::InputError);
}

}  // namespace
}  // namespace gpusim::study
