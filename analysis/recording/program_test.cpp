// Parameters and operation counts of recorded launch files, and trajectories of several programs' runs.
#include "analysis/recording/program.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/models/latency_hidden/report.h"
#include "analysis/models/reuse_distance/analysis.h"
#include "analysis/models/roofline/roofline.h"
#include "analysis/testing/small_recording.h"
#include "simcore/text/input_error.h"

namespace gpusim::analysis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

const char* const kLaunchFile =
    "[params]\nN = 10\nM = \"2*N\"\n[flops]\ntotal = \"3*N\"\nfirst = \"N\"\n[[buffer]]\nname = \"b\"\n"
    "init = \"file:gone.npy\"\n";

/// Kernels `first` and `second`, 100 operations each by the counters, on two SMs and `idle` ones more.
Recording run(const std::string& program, uint32_t idle, const std::string& params = "",
              const std::string& launch_text = kLaunchFile) {
  test::SmallRecording r;
  r.kernels = r.finished_kernels = 2;
  r.launch_text = launch_text;
  r.command = fmt::format("gpusim --config m.cfg#1 k.ptx#2 --launch {}.toml#3{} --seed 0", program, params);
  r.counters["flop_count"] = 100;
  for (uint32_t i = 0; i < idle; ++i) {
    r.sms.push_back({{"sm", 2 + i}, {"slots_no_warp", 10}});
    r.totals["no_warp"] += 10;
  }
  return Recording(r.write(test::temp_path(fmt::format("{}_{}{}.h5", program, idle, params.size()))));
}

std::string error_of(const auto& action) {
  try {
    action();
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Program, IsReadFromTheRecordedTexts) {
  const Recording recording = run("style", 0, " --param 'N=7' --set 'l1.size=16K' --param 'N=5*4'");
  const Program program = program_of(recording);
  EXPECT_EQ(program.name, "style");
  EXPECT_THAT(program.params, ElementsAre(Pair("N", 20), Pair("M", 40)));
  EXPECT_EQ(program.stated_flops("total"), 60);
  EXPECT_EQ(program.stated_flops("second"), 0);
  EXPECT_EQ(program.param("M", recording), 40);
  EXPECT_THAT(error_of([&] { (void)program.param("m", recording); }), HasSubstr("did you mean 'M'?"));
}

TEST(Program, WithoutALaunchFileIsThePtx) {
  test::SmallRecording r;
  r.launch_text = "--kernel k --grid 1 --block 32\n";
  r.command = "gpusim --config m.cfg#1 my.kernel.ptx#2 --kernel 'k' --grid '1' --param 'N=8' --seed 0";
  const Program program = program_of(Recording(r.write(test::temp_path("r.h5"))));
  EXPECT_EQ(program.name, "my.kernel");
  EXPECT_THAT(program.params, ElementsAre(Pair("N", 8)));
}

TEST(Program, DamagedTextsAreAnError) {
  const auto message = [](const std::string& launch_text, const char* params) {
    return error_of([&] { (void)program_of(run("p", 0, params, launch_text)); });
  };
  EXPECT_THAT(message("[params", ""), HasSubstr("p_00.h5:/inputs/launch:1"));
  EXPECT_THAT(message(kLaunchFile, " --param 'K=1'"), HasSubstr("has no parameter 'K'"));
  EXPECT_THAT(message(kLaunchFile, " --param 'N="), HasSubstr("damaged"));
}

std::vector<std::string> titles(const std::vector<Trajectory>& all) {
  std::vector<std::string> out;
  out.reserve(all.size());
  for (const Trajectory& t : all) out.push_back(t.title());
  return out;
}

TEST(Trajectories, OperationsAreThoseThatTheLaunchFileStates) {
  std::vector<Recording> runs;
  runs.push_back(run("a", 2));
  runs.push_back(run("a", 0));
  const std::vector<Trajectory> all = trajectories(runs, {});
  EXPECT_THAT(titles(all), ElementsAre("first", "second", "all kernels"));
  ASSERT_EQ(all[0].points.size(), 2u);
  EXPECT_EQ(all[0].points[0].sms, 2u);
  EXPECT_EQ(all[0].points[0].flops, 10);
  EXPECT_EQ(all[1].points[0].flops, 100) << "counted";
  EXPECT_EQ(all[2].points[1].flops, 30);
  EXPECT_EQ(all[2].points[1].operations, 12);
  EXPECT_TRUE(all[2].application);
  EXPECT_FALSE(all[1].application);
  EXPECT_EQ(trajectories(runs, {.flops = 7})[2].points[1].flops, 7);
  EXPECT_EQ(trajectories(runs, {.flops = 7})[0].points[1].flops, 10);
}

TEST(Trajectories, WorkThatGrowsIsWeakScaling) {
  std::vector<Recording> runs;
  runs.push_back(run("a", 0));
  runs.push_back(run("a", 2, " --param 'N=20'"));
  EXPECT_THAT(error_of([&] { (void)trajectories(runs, {}); }), HasSubstr("scaling=weak"));
  const std::vector<Trajectory> all = trajectories(runs, {.weak = true});
  EXPECT_EQ(all[2].points[0].flops, 30);
  EXPECT_EQ(all[2].points[1].flops, 60);
}

TEST(Trajectories, ProgramsAreApart) {
  std::vector<Recording> runs;
  for (const char* program : {"a", "b"})
    for (const uint32_t idle : {0, 2}) runs.push_back(run(program, idle));
  EXPECT_THAT(titles(trajectories(runs, {})), ElementsAre("first (a)", "second (a)", "all kernels (a)",
                                                          "first (b)", "second (b)", "all kernels (b)"));
  EXPECT_THAT(titles(trajectories(std::span(runs).first(2), {.by_launch = true})),
              ElementsAre("first, launch 0", "second, launch 1", "all kernels"));
  runs.push_back(run("b", 2));
  EXPECT_THAT(error_of([&] { (void)trajectories(runs, {}); }), HasSubstr("two runs have kernel 'first'"));
}

TEST(PlotOptions, AreChecked) {
  const auto message = [](auto model, std::map<std::string, std::string, std::less<>> values) {
    return error_of([&] { (void)model({}, ModelOptions{"", std::move(values)}); });
  };
  const auto latency = [&](auto values) { return message(latency_hidden::run_model, std::move(values)); };
  using Values = std::map<std::string, std::string, std::less<>>;
  EXPECT_THAT(latency(Values{{"plots", "a.svg"}}), HasSubstr("did you mean 'plot'?"));
  EXPECT_THAT(latency(Values{{"plot", ""}}), HasSubstr("expected a value"));
  EXPECT_THAT(latency(Values{{"x", ""}}), HasSubstr("expected a value"));
  EXPECT_THAT(message(analyze_reuse, Values{{"plot", ""}}), HasSubstr("the name of an SVG file"));
}

}  // namespace
}  // namespace gpusim::analysis
