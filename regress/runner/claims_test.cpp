#include "regress/runner/claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "regress/runner/verdict.h"
#include "simcore/text/input_error.h"

namespace gpusim::regress {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Row row(const std::string& place, double predicted, double simulated) {
  Row r;
  r.place = place;
  r.kernel = "kernel";
  r.model = "roofline";
  r.quantity = "cycles";
  r.unit = "cycles";
  r.predicted = predicted;
  r.simulated = simulated;
  r.error = predicted / simulated - 1;
  return r;
}

const std::vector<Row> kRows = {row("naive_1", 110, 100), row("naive_2", 70, 100), row("tiled_1", 200, 100)};

ClaimRow judged(const Claim& claim) { return judge_claims({claim}, kRows).at(0); }

Claim claim(Claim::Value value, Claim::Over over) {
  Claim c;
  c.source = "a text";
  c.text = "it is so";
  c.model = "roofline";
  c.quantity = "cycles";
  c.places = {"naive_*"};
  c.value = value;
  c.over = over;
  return c;
}

TEST(Claims, TakeTheRowsThatTheyName) {
  using enum Claim::Value;
  using enum Claim::Over;
  EXPECT_NEAR(judged(claim(kError, kMean)).ours, 0.2, 1e-12);
  EXPECT_NEAR(judged(claim(kBias, kMean)).ours, -0.1, 1e-12);
  EXPECT_NEAR(judged(claim(kError, kMost)).ours, 0.3, 1e-12);
  EXPECT_NEAR(judged(claim(kPredicted, kLeast)).ours, 70, 1e-12);
  EXPECT_NEAR(judged(claim(kSimulated, kMost)).ours, 100, 1e-12);
  EXPECT_EQ(judged(claim(kError, kMean)).rows, 2u);
  Claim all = claim(kError, kMost);
  all.places.clear();
  EXPECT_NEAR(judged(all).ours, 1, 1e-12);
  Claim other = all;
  other.kernel = "other";
  EXPECT_TRUE(judged(other).breach);
}

TEST(Claims, HoldWithinTheirBounds) {
  Claim c = claim(Claim::Value::kError, Claim::Over::kMean);
  EXPECT_EQ(judged(c).verdict, ClaimVerdict::kShown);
  c.at_most = 0.25;
  EXPECT_EQ(judged(c).verdict, ClaimVerdict::kHolds);
  EXPECT_FALSE(judged(c).breach);
  c.at_least = 0.21;
  EXPECT_EQ(judged(c).verdict, ClaimVerdict::kShort);
  EXPECT_TRUE(judged(c).breach);
  c.known_short = true;
  EXPECT_FALSE(judged(c).breach);
  c.at_least = 0.15;
  EXPECT_EQ(judged(c).verdict, ClaimVerdict::kHolds);
  EXPECT_TRUE(judged(c).breach) << "what holds must not stay noted as short";
}

TEST(Claims, WhatIsNoNumberDoesNotHold) {
  Claim c = claim(Claim::Value::kError, Claim::Over::kMost);
  c.places = {"bad"};
  c.at_most = 1;
  const ClaimRow found = judge_claims({c}, {row("bad", 1, std::numeric_limits<double>::quiet_NaN())}).at(0);
  EXPECT_EQ(found.verdict, ClaimVerdict::kShort);
  EXPECT_TRUE(found.breach);
}

TEST(Claims, ATableForEachSource) {
  Claim first = claim(Claim::Value::kError, Claim::Over::kMean), second = first;
  first.printed = "0.19";
  first.at_most = 0.15;
  first.known_short = true;
  first.cause = "Rows wait for each other.";
  second.source = "another text";
  second.command = "regress/other.py";
  const std::vector<ClaimRow> rows = judge_claims({first, second}, kRows);
  const std::string text = claims_text("papers", rows);
  EXPECT_THAT(text, HasSubstr("\na text\n"));
  EXPECT_THAT(text, HasSubstr("\nanother text\n"));
  EXPECT_THAT(text, HasSubstr("0.19       20.0 %     at most 15.0 % short\n"));
  EXPECT_THAT(
      text, HasSubstr("mean of 2 rows (roofline cycles): gpusim regress --suite papers --only 'naive_*'\n"));
  EXPECT_THAT(text, HasSubstr("    Rows wait for each other.\n"));
  EXPECT_THAT(text, HasSubstr("regress/other.py\n"));
  EXPECT_THAT(claims_json(rows), HasSubstr("\"at_most\": 0.15, \"verdict\": \"short\", \"breach\": false"));
  EXPECT_EQ(claims_text("papers", {}), "");
}

/// A folder with two suites, of which `text` is the second.
struct Folder {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) /
                                     testing::UnitTest::GetInstance()->current_test_info()->name();
  Folder() { std::filesystem::remove_all(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  Suite load(const std::string& text) {
    std::filesystem::create_directories(path);
    std::ofstream(path / "first.toml") << R"(
[[case]]
name = "one"
config = "tesla_c1060"
ptx = "a.ptx"
[[case]]
name = "two"
config = "tesla_c1060"
ptx = "a.ptx"
[[study]]
name = "both"
cases = ["one", "two"]
model = "roofline"
quantity = "wrong findings"
limit = 0
[[mean]]
model = "roofline"
quantity = "wrong findings"
limit = 0
)";
    std::ofstream(path / "second.toml") << text;
    return load_suite((path / "second.toml").string());
  }
  std::string message_of(const std::string& text) {
    try {
      (void)load(text);
    } catch (const core::InputError& e) {
      return e.what();
    }
    return "no error";
  }
};

TEST(Claims, AreReadBesideWhatASuiteIncludes) {
  Folder folder;
  Suite suite = folder.load(R"(include = ["first"]
[[claim]]
source = "s"
claim = "c"
printed = "8 x"
model = "roofline"
quantity = "wrong findings"
places = ["both"]
value = "predicted"
over = "most"
at_most = -0.5
verdict = "short"
cause = "why"
)");
  EXPECT_EQ(suite.cases.size(), 2u);
  EXPECT_FALSE(suite.cases[0].golden);
  EXPECT_EQ(suite.studies.size(), 1u);
  EXPECT_TRUE(suite.means.empty());
  ASSERT_EQ(suite.claims.size(), 1u);
  const Claim& c = suite.claims[0];
  EXPECT_EQ(c.printed, "8 x");
  EXPECT_EQ(c.value, Claim::Value::kPredicted);
  EXPECT_EQ(c.over, Claim::Over::kMost);
  EXPECT_EQ(*c.at_most, -0.5);
  EXPECT_FALSE(c.at_least);
  EXPECT_TRUE(c.known_short);
  EXPECT_THAT(c.places, ElementsAre("both"));
  Suite part = suite, others = suite;
  select(part, {"both"});
  EXPECT_EQ(part.claims.size(), 1u) << "all of its places";
  select(others, {"one"});
  EXPECT_TRUE(others.claims.empty());
  suite.claims.front().places = {"both", "o*"};
  part = suite;
  select(part, {"both"});
  EXPECT_TRUE(part.claims.empty()) << "one of its places is missing";
  part = suite;
  select(part, {"both", "one"});
  EXPECT_EQ(part.claims.size(), 1u);
  suite.claims.front().places = {};
  select(suite, {"both", "one"});
  EXPECT_TRUE(suite.claims.empty()) << "it is of the whole suite";
}

TEST(Claims, StudiesOfCasesThatAreLeftOutGoToo) {
  Folder folder;
  const Suite suite = folder.load("include = [\"first\"]\nleave_out = [\"two\"]\n");
  ASSERT_EQ(suite.cases.size(), 1u);
  EXPECT_TRUE(suite.studies.empty());
}

TEST(Claims, MistakesOfASuiteThatIncludes) {
  Folder folder;
  EXPECT_THAT(folder.message_of("include = [\"second\"]\n"), HasSubstr("cannot include itself"));
  EXPECT_THAT(folder.message_of("include = [\"third\"]\n"), HasSubstr("third.toml"));
  EXPECT_THAT(folder.message_of("include = [\"first\"]\nleave_out = [\"tow\"]\n"),
              HasSubstr("no case or study that is included is called 'tow'"));
  EXPECT_THAT(
      folder.message_of("include = [\"first\"]\n[[case]]\nname = \"one\"\nconfig = \"a\"\nptx = \"a\"\n"),
      HasSubstr("two cases 'one'"));
  const std::string claim =
      "include = [\"first\"]\n[[claim]]\nsource = \"s\"\nclaim = \"c\"\nquantity = \"q\"\n";
  EXPECT_THAT(folder.message_of(claim + "model = \"rooflin\"\n"), HasSubstr("no model 'rooflin'"));
  EXPECT_THAT(folder.message_of(claim + "model = \"roofline\"\nplaces = [\"bth\"]\n"),
              HasSubstr("no case or study 'bth'"));
  EXPECT_THAT(folder.message_of(claim + "model = \"roofline\"\nverdict = \"short\"\ncause = \"x\"\n"),
              HasSubstr("needs 'at_least' or 'at_most'"));
  EXPECT_THAT(folder.message_of(claim + "model = \"roofline\"\nverdict = \"short\"\nat_most = 1\n"),
              HasSubstr("needs 'cause'"));
  EXPECT_THAT(folder.message_of("include = [\"first\", \"first\"]\n"),
              HasSubstr("'first' brings a second case 'one'"));
  EXPECT_THAT(folder.message_of("include = [\"../first\"]\n"),
              HasSubstr("expected the name of a suite of this folder"));
  EXPECT_THAT(folder.message_of(claim + "model = \"roofline\"\nat_least = 2\nat_most = 1\n"),
              HasSubstr("'at_least' is more than 'at_most'"));
  std::ofstream(folder.path / "third.toml") << "include = [\"first\"]\n";
  EXPECT_THAT(folder.message_of("include = [\"third\"]\n"), HasSubstr("'third' includes suites itself"));
}

}  // namespace
}  // namespace gpusim::regress
