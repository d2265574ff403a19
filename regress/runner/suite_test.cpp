#include "regress/runner/suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "simcore/text/input_error.h"

namespace gpusim::regress {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Suite load(const std::string& text) {
  const auto path = std::filesystem::path(testing::TempDir()) /
                    (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".toml");
  std::ofstream(path) << text;
  return load_suite(path.string());
}

std::string message_of(const std::string& text) {
  try {
    (void)load(text);
  } catch (const core::InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Suite, ReadsCases) {
  const Suite suite = load(R"(
[[case]]
name = "naive_96"
config = "tesla_c1060"
ptx = "workloads/matmul/naive_16x16.ptx"
params = ["N=96"]
sets = ["l1.size=16K"]
sms = 3
events = "memory"
golden = false
)");
  EXPECT_EQ(suite.name, "ReadsCases");
  ASSERT_EQ(suite.cases.size(), 1u);
  const Case& c = suite.cases[0];
  EXPECT_EQ(c.name, "naive_96");
  EXPECT_EQ(c.ptx, "workloads/matmul/naive_16x16.ptx");
  EXPECT_THAT(c.params, ElementsAre("N=96"));
  EXPECT_THAT(c.sets, ElementsAre("l1.size=16K"));
  EXPECT_EQ(c.sms, 3u);
  EXPECT_EQ(c.events, core::EventLevel::kMemory);
  EXPECT_FALSE(c.golden);
}

TEST(Suite, NamesThePlaceOfEachMistake) {
  const std::string all = message_of(R"([[case]]
name = "a/b"
config = "x"
ptx = "y"
parms = []
sms = -1
)");
  EXPECT_THAT(all, HasSubstr(":2:"));
  EXPECT_THAT(all, HasSubstr("letters, digits"));
  EXPECT_THAT(all, HasSubstr("'parms'"));
  EXPECT_THAT(all, HasSubstr("'params'"));
  EXPECT_THAT(all, HasSubstr(":6:"));
}

TEST(Suite, RefusesUnknownModelsAndCases) {
  const std::string all = message_of(R"([[case]]
name = "a"
config = "x"
ptx = "y"
[[case.check]]
model = "no-such-model"
quantity = "cycles"
limit = 0.1
[[study]]
name = "s"
cases = ["aa"]
model = "no-such-model"
quantity = "q"
role = "shown"
)");
  EXPECT_THAT(all, HasSubstr(":6:"));
  EXPECT_THAT(all, HasSubstr("there is no model 'no-such-model'"));
  EXPECT_THAT(all, HasSubstr("there is no case 'aa'"));
  EXPECT_THAT(all, HasSubstr("did you mean 'a'?"));
}

TEST(Suite, ComparesMetricsWithAValueOfItsOwn) {
  const Suite suite = load(R"([[case]]
name = "a"
config = "x"
ptx = "y"
[[case.check]]
model = "metrics"
quantity = "gld_efficiency"
expected = 12.5
limit = 0.01
[[case.check]]
model = "metrics"
quantity = "dram_read_throughput of peak"
expected = 1
role = "shown"
)");
  ASSERT_EQ(suite.cases.at(0).checks.size(), 2u);
  EXPECT_EQ(suite.cases[0].checks[0].expected, 12.5);
  EXPECT_EQ(suite.cases[0].checks[1].quantity, "dram_read_throughput of peak");
  const std::string all = message_of(R"([[case]]
name = "a"
config = "x"
ptx = "y"
[[case.check]]
model = "metrics"
quantity = "gld_eficiency"
limit = 0.01
[[case.check]]
model = "roofline"
quantity = "bound"
expected = 1
limit = 0.01
)");
  EXPECT_THAT(all, HasSubstr("there is no metric 'gld_eficiency'"));
  EXPECT_THAT(all, HasSubstr("needs 'expected'"));
  EXPECT_THAT(all, HasSubstr(":12:"));
  EXPECT_THAT(all, HasSubstr("only metrics are compared"));
}

TEST(Suite, MakesACaseOfEachValue) {
  const Suite suite = load(R"([[case]]
name = "at_$MHz"
config = "x"
ptx = "y"
params = ["N=$", "M=2"]
sets = ["clocks.core=$MHz"]
values = ["100", "200"]
[[case]]
name = "other"
config = "x"
ptx = "y"
[[study]]
name = "s"
cases = ["other", "at_*"]
model = "roofline"
quantity = "q"
role = "shown"
)");
  ASSERT_EQ(suite.cases.size(), 3u);
  EXPECT_EQ(suite.cases[1].name, "at_200MHz");
  EXPECT_THAT(suite.cases[1].params, ElementsAre("N=200", "M=2"));
  EXPECT_THAT(suite.cases[1].sets, ElementsAre("clocks.core=200MHz"));
  EXPECT_THAT(suite.studies.at(0).cases, ElementsAre("other", "at_100MHz", "at_200MHz"));
}

TEST(Suite, NeedsLimitsAndDistinctNames) {
  const std::string all = message_of(R"([[case]]
name = "a"
config = "x"
ptx = "y"
[[case.check]]
model = "m"
quantity = "cycles"
[[case]]
name = "a"
config = "x"
ptx = "y"
[[mean]]
model = "m"
quantity = "cycles"
)");
  EXPECT_THAT(all, HasSubstr("needs 'limit'"));
  EXPECT_THAT(all, HasSubstr("two cases 'a'"));
  EXPECT_THAT(all, HasSubstr("a mean needs 'limit'"));
  EXPECT_THAT(message_of(R"([[case]]
name = "a"
config = "x"
ptx = "y"
values = ["1", "2"]
)"),
              HasSubstr("two cases 'a'"));
  EXPECT_THAT(message_of(""), HasSubstr("has no [[case]]"));
}

constexpr const char* kStudies = R"([[case]]
name = "a_1"
config = "x"
ptx = "y"
max_cycles = 5000
[[case]]
name = "a_2"
config = "x"
ptx = "y"
[[case]]
name = "b"
config = "x"
ptx = "y"
[[study]]
name = "s"
cases = ["a_*"]
model = "roofline"
quantity = "q"
role = "shown"
[[study]]
name = "t"
cases = ["b"]
model = "roofline"
quantity = "q"
role = "shown"
[[mean]]
model = "roofline"
quantity = "q"
limit = 0.1
)";

TEST(Suite, RefusesStudiesOfOneName) {
  std::string text = kStudies;
  text.replace(text.find("\"t\""), 3, "\"s\"");
  EXPECT_THAT(message_of(text), HasSubstr(":21:8: error: there are two studies 's'"));
}

TEST(Suite, ReadsTheLongestTimeOfACase) {
  EXPECT_EQ(load(kStudies).cases[0].max_cycles, 5000u);
  EXPECT_EQ(load(kStudies).cases[1].max_cycles, 0u);
  std::string text = kStudies;
  text.replace(text.find("5000"), 4, "0");
  EXPECT_THAT(message_of(text), HasSubstr(":5:"));
}

TEST(Suite, SelectLeavesWhatIsNamedAndWhatThatNeeds) {
  const auto names = [](const std::vector<std::string>& selection) {
    Suite suite = load(kStudies);
    select(suite, selection);
    EXPECT_TRUE(suite.means.empty());
    std::string all;
    for (const Case& c : suite.cases) all += c.name + " ";
    for (const Study& s : suite.studies) all += s.name + " ";
    return all;
  };
  EXPECT_EQ(names({"s"}), "a_1 a_2 s ");
  EXPECT_EQ(names({"a_2", "t"}), "a_2 b t ");
  EXPECT_EQ(names({"a_*"}), "a_1 a_2 ");
  Suite suite = load(kStudies);
  try {
    select(suite, {"a_3"});
    FAIL();
  } catch (const core::InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("no case or study 'a_3'"));
    EXPECT_THAT(e.what(), HasSubstr("did you mean 'a_1'"));
  }
}

}  // namespace
}  // namespace gpusim::regress
