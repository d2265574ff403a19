#include "analysis/report/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace gpusim::analysis {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Html, MarkupOfTextsIsText) {
  EXPECT_EQ(html_text("a<b>&\"'\x01"), "a&lt;b&gt;&amp;&quot;&#39;?");
  EXPECT_THAT(html_bar({{"<i>", 1, 0}}, "<label>"), Not(HasSubstr("<i>")));
}

TEST(Html, ABarsPartsAreShares) {
  const std::string bar = html_bar({{"issued", 3, 0}, {"nothing", 0, 1}, {"waits", 1, 2}}, "slots");
  EXPECT_THAT(bar, HasSubstr("width:75.000%"));
  EXPECT_THAT(bar, HasSubstr("waits 25.0 %"));
  EXPECT_THAT(bar, Not(HasSubstr("nothing")));
}

TEST(Html, StackedSeriesEndAtTheTop) {
  // Two halves of the whole: the second one's area has its top edge at the chart's.
  const std::string chart =
      html_time_chart({"t", "x", "y", {10, 20}, {{"a", {0.5, 0.5}, 0}, {"b", {0.5, 0.5}, 1}}, true, 1});
  EXPECT_THAT(chart, HasSubstr("<title>a</title>"));
  EXPECT_THAT(chart, HasSubstr("<polygon points=\"64.0,24.0 386.0,24.0"));
  EXPECT_EQ(html_time_chart({"t", "x", "y", {}, {}, false, 0}), "") << "nothing to draw";
}

TEST(Html, ARooflineNeedsBothRoofs) {
  EXPECT_EQ(html_roofline({{"FP32", 1e12, 0}}, {}), "");
  const std::string drawn =
      html_roofline({{"FP32", 1e12, 0}, {"DRAM", 0, 1e11}}, {{"k", 1, 5e10}, {"no", 0, 1}});
  EXPECT_THAT(drawn, HasSubstr(">k<"));
  EXPECT_THAT(drawn, Not(HasSubstr(">no<"))) << "no logarithm";
}

TEST(Html, CellsShowTheirLabels) {
  const std::string map = html_heat_map("SMs", {{"SM 0", 0.5}, {"SM 1", 2}}, "least", "most");
  EXPECT_THAT(map, HasSubstr("<title>SM 0</title>"));
  EXPECT_THAT(map, HasSubstr("rgba(var(--heat),1.000)")) << "more than the most is the most";
}

TEST(Html, LinesLeaveOutWhatIsNoNumber) {
  const std::string chart =
      html_lines({"t", "x", "y", {"16K", "32K", "64K"}, {{"s", {1, std::nan(""), 3}, 2}}});
  EXPECT_THAT(chart, HasSubstr("s, 16K: 1<"));
  EXPECT_THAT(chart, Not(HasSubstr("nan")));
  EXPECT_THAT(chart, Not(HasSubstr("32K: ")));
  EXPECT_EQ(html_lines({"t", "x", "y", {"1"}, {{"s", {std::nan("")}, 0}}}), "") << "nothing to draw";
}

TEST(Html, ATornadosBarsAreAsWideAsTheirRanges) {
  const std::string chart = html_tornado("t", {{"a", 0.5, 1.0, "64", "16"}, {"b", 0.9, 1.1, "x", "y"}});
  EXPECT_THAT(chart, HasSubstr("a: -50.00 % to +0.00 %"));
  EXPECT_THAT(chart, HasSubstr(">0 %<"));
  EXPECT_THAT(chart, HasSubstr("x … y"));
  EXPECT_EQ(html_tornado("t", {{"a", 1, 1, "", ""}}), "") << "no range";
}

TEST(Html, TilesStandInRowsAndColumns) {
  const std::string tiles =
      html_tiles({"t", "c", "r", {"c1", "c2"}, {"r1"}, {{"5", "here", 1}, {"6", "there", 0}}});
  EXPECT_THAT(tiles, HasSubstr("0.550)\" title=\"here\">5</td>"));
  EXPECT_THAT(tiles, HasSubstr("0.000)\" title=\"there\">6</td>"));
  EXPECT_EQ(html_tiles({"t", "c", "r", {"c1"}, {"r1"}, {}}), "") << "a cell for each";
}

TEST(Html, MarkedPointsAreJoinedByTheirX) {
  const std::string plot =
      html_scatter("t", "x", "y", {{4, 1, "last", true}, {0, 2, "first", true}, {2, 2, "no", false}});
  const size_t first = plot.find("polyline points=\"");
  ASSERT_NE(first, std::string::npos);
  EXPECT_THAT(plot.substr(first), HasSubstr("64.0,"));
  EXPECT_LT(plot.find("64.0,", first), plot.find(" 6", first + 25)) << "from the left";
  EXPECT_THAT(plot, HasSubstr("<title>no</title>"));
}

}  // namespace
}  // namespace gpusim::analysis
