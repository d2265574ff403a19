// What gnuplot is told: nothing of the texts can become a command, and bars, ticks and marks lie where the
// numbers say. And what the models tell it.
#include "analysis/report/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "analysis/models/latency_hidden/rate_plot.h"
#include "analysis/models/reuse_distance/plot.h"
#include "simcore/text/input_error.h"
#include "simcore/text/text_file.h"

namespace gpusim::analysis {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const char* const kHostile = "it's a 'title'\n`rm -rf x`";

Plot sample() {
  Plot plot;
  plot.title = kHostile;
  plot.x_label = "x";
  plot.y_label = "y";
  plot.series.push_back({"rate", {{1, 2}, {2, 4}}, {"a\"\nEOD", ""}, true, false});
  return plot;
}

BarPlot bars() {
  BarPlot plot;
  plot.title = kHostile;
  plot.parts = {"one", "it's\nEOD", "unused"};
  plot.groups = {{"first", {{{1, 2}, "top\"\nEOD"}, {{3, -1}, ""}}}, {"'", {{{NAN, 4}, ""}, {{}, ""}}}};
  return plot;
}

std::string drawn(const auto& plot) {
  const std::string file = testing::TempDir() + "/plot_is_drawn.svg";
  std::filesystem::remove(file);
  draw_svg(plot, file);
  return core::read_text_file(file);
}

bool no_gnuplot() { return std::system("gnuplot --version >/dev/null 2>&1") != 0; }

TEST(Plot, TextsCannotBecomeCommands) {
  for (const std::string& commands : {plot_commands(sample()), plot_commands(bars())}) {
    EXPECT_THAT(commands, HasSubstr("set title 'it''s a ''title''?`rm -rf x`'"));
    EXPECT_THAT(commands, Not(HasSubstr("\nEOD\"")));
  }
  EXPECT_THAT(plot_commands(bars()), AllOf(HasSubstr("title 'it''s?EOD'"), HasSubstr("'''' 1")));
}

TEST(Plot, IsDrawnWhole) {
  if (no_gnuplot()) GTEST_SKIP() << "no gnuplot on this machine";
  EXPECT_THAT(drawn(sample()), AllOf(HasSubstr("<svg"), HasSubstr("</svg>"), HasSubstr("`rm -rf x`")));
  EXPECT_THAT(drawn(bars()), AllOf(HasSubstr("</svg>"), HasSubstr("first"), Not(HasSubstr("unused"))));
  EXPECT_THAT(drawn(BarPlot()), HasSubstr("</svg>"));
  EXPECT_THAT(drawn(Plot()), HasSubstr("</svg>"));
  EXPECT_THROW(draw_svg(sample(), "/no/such/folder/plot.svg"), core::InputError);
  EXPECT_THROW(draw_svg(bars(), "/dev/null"), core::InputError);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  std::filesystem::remove(testing::TempDir() + "/plot_command");
  const std::string command = testing::TempDir() + "/plot_|touch plot_command";
  draw_svg(sample(), command);
  EXPECT_TRUE(std::filesystem::exists(command));
  EXPECT_FALSE(std::filesystem::exists("plot_command"));
}

TEST(Plot, MarksStayClearOfTheFrame) {
  Plot plot = sample();
  EXPECT_THAT(plot_commands(plot), HasSubstr("set xrange [0.96:2.04]\n"));
  plot.log_x = true;
  plot.series[0].points = {{1, 2}, {1e25, 4}};
  EXPECT_THAT(plot_commands(plot), HasSubstr("set xrange [0.1:1e+26]\n"));
  plot.series[0].points = {{0, 2}, {2, 4}};
  EXPECT_THAT(plot_commands(plot), Not(HasSubstr("xrange"))) << "a logarithmic axis has no 0";
}

TEST(Bars, StackUpFromZeroAndDown) {
  // Two bars share 0.8 of the distance between groups: of 0.4 each 0.92 is filled.
  const std::string commands = plot_commands(bars());
  EXPECT_THAT(commands, HasSubstr("$part0 << EOD\n-0.216 1 -0.4 -0.032 0 1\n0.184 3 0 0.368 0 3\nEOD\n"));
  EXPECT_THAT(commands, HasSubstr("$part1 << EOD\n-0.216 3 -0.4 -0.032 1 3\n0.184 0 0 0.368 -1 0\n"));
  EXPECT_THAT(commands, HasSubstr("0.784 4 0.6 0.968 0 4\nEOD\n")) << "nothing is drawn of what is no number";
  EXPECT_THAT(commands, HasSubstr("$labels << EOD\n-0.2 3 \""));
}

TEST(Bars, NamesAreSlantedOnlyIfTheyWouldTouch) {
  BarPlot plot = bars();
  EXPECT_THAT(plot_commands(plot), Not(HasSubstr("rotate")));
  for (int i = 0; i < 20; ++i) plot.groups.push_back({"a long name", {{{1}, ""}}});
  EXPECT_THAT(plot_commands(plot), HasSubstr("rotate"));
}

TEST(RatePlot, IsOfRatesIfAllKernelsCount) {
  using latency_hidden::rate_plot;
  std::vector<latency_hidden::RatePoint> points{
      {"k", 64, 4000, 2e-6, 1e-6}, {"k", 512, 8000, 1e-6, 2e-6}, {"l", 64, 1000, 1e-6, 1e-6}};
  const Plot plot = rate_plot(points, "N", "title");
  EXPECT_EQ(plot.y_label, "GFLOP/s");
  EXPECT_TRUE(plot.log_x);
  EXPECT_TRUE(plot.y_from_zero);
  EXPECT_THAT(plot.x_ticks, ElementsAre(64, 512));
  ASSERT_EQ(plot.series.size(), 4u);
  EXPECT_EQ(plot.series[0].title, "k, simulated");
  EXPECT_EQ(plot.series[0].look, plot.series[1].look);
  EXPECT_NE(plot.series[0].dashed, plot.series[1].dashed);
  ASSERT_EQ(plot.series[1].points.size(), 2u);
  EXPECT_DOUBLE_EQ(plot.series[0].points[0].second, 2);
  EXPECT_DOUBLE_EQ(plot.series[1].points[1].second, 4);
  EXPECT_EQ(plot.series[3].title, "l, predicted");
  points[2].flops = 0;
  const Plot times = rate_plot(points, "N", "title");
  EXPECT_EQ(times.y_label, "time (us)");
  EXPECT_DOUBLE_EQ(times.series[0].points[0].second, 2);
  points[1].x = 511;
  EXPECT_FALSE(rate_plot(points, "N", "title").log_x) << "less than a factor of eight";
}

TEST(MissPlot, NamesTellLaunchesApart) {
  Prediction rate;
  rate.kernel = "k";
  rate.predicted = 0.6;
  rate.simulated = 0.5;
  rate.terms = {{"compulsory", 0.7, NAN}, {"mshr", -0.1, NAN}};
  Prediction again = rate, other = rate;
  again.launch = 1;
  other.kernel = "l";
  const BarPlot one = miss_plot(std::vector<MissBars>{{"a/run.h5", &rate}, {"a/run.h5", &other}}, "");
  ASSERT_EQ(one.groups.size(), 2u);
  EXPECT_EQ(one.groups[0].label, "k");
  EXPECT_THAT(one.parts, ElementsAre("predicted: compulsory", "predicted: mshr", "simulated, all kinds"));
  ASSERT_EQ(one.groups[0].bars.size(), 2u);
  EXPECT_THAT(one.groups[0].bars[0].parts, ElementsAre(70, -10));
  EXPECT_THAT(one.groups[0].bars[1].parts, ElementsAre(0, 0, 50));
  const BarPlot two =
      miss_plot(std::vector<MissBars>{{"a/run.h5", &rate}, {"a/run.h5", &again}, {"b/small.h5", &rate}}, "");
  EXPECT_EQ(two.groups[0].label, "k #0 (run)");
  EXPECT_EQ(two.groups[1].label, "k #1");
  EXPECT_EQ(two.groups[2].label, "k (small)");
}

}  // namespace
}  // namespace gpusim::analysis
