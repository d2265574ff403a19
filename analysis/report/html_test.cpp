#include "analysis/report/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace gpusim::analysis
