#include "regress/runner/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "simcore/record/read.h"
#include "simcore/text/input_error.h"

namespace gpusim::regress {
namespace {

using testing::HasSubstr;

Check check(Role role, double limit) {
  Check c;
  c.model = "model";
  c.quantity = "cycles";
  c.role = role;
  c.limit = limit;
  return c;
}

analysis::Prediction prediction(double predicted, double simulated) {
  analysis::Prediction p;
  p.kernel = "kernel";
  p.quantity = "cycles";
  p.predicted = predicted;
  p.simulated = simulated;
  p.terms = {{"loop", predicted - 7, simulated - 3}, {"tail", 7, 3}};
  return p;
}

/// A suite of one case with one check, and what it gave.
struct Judged {
  Suite suite;
  SuiteResults results;
  Golden golden;

  explicit Judged(const Check& c, const analysis::Prediction& p) {
    suite.name = "one";
    suite.cases.push_back({});
    suite.cases[0].name = "case";
    suite.cases[0].checks = {c};
    CaseResult result;
    result.kernels = {{"kernel", {{"cycles", 100}}}};
    result.checks = {{"", {p}}};
    results.cases = {result};
    golden["case"] = result.kernels;
  }
  [[nodiscard]] Outcome outcome() const { return judge(suite, results, golden); }
};

TEST(Verdicts, LimitOfTheError) {
  EXPECT_EQ(Judged(check(Role::kJudged, 0.1), prediction(110, 100)).outcome().breaches, 0u);
  EXPECT_EQ(Judged(check(Role::kJudged, 0.1), prediction(90, 100)).outcome().breaches, 0u);
  EXPECT_EQ(Judged(check(Role::kJudged, 0.1), prediction(111, 100)).outcome().breaches, 1u);
  EXPECT_EQ(Judged(check(Role::kFitted, 0.1), prediction(89, 100)).outcome().breaches, 1u);
  EXPECT_EQ(Judged(check(Role::kShown, 0), prediction(500, 100)).outcome().breaches, 0u);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Judged(check(Role::kJudged, 0.1), prediction(nan, 100)).outcome().breaches, 1u);
  EXPECT_EQ(Judged(check(Role::kJudged, 0.1), prediction(5, 0)).outcome().breaches, 1u);
}

TEST(Verdicts, PointsAreDifferences) {
  analysis::Prediction p = prediction(0.52, 0.5);
  p.points = true;
  EXPECT_NEAR(p.error(), 0.02, 1e-12);
  EXPECT_EQ(Judged(check(Role::kJudged, 0.03), p).outcome().breaches, 0u);
  EXPECT_EQ(Judged(check(Role::kJudged, 0.01), p).outcome().breaches, 1u);
}

TEST(Verdicts, MeansCountJudgedRowsOnly) {
  Judged judged(check(Role::kJudged, 1), prediction(110, 100));
  judged.results.cases[0].checks[0].predictions.push_back(prediction(70, 100));
  judged.suite.cases[0].checks.push_back(check(Role::kFitted, 1));
  judged.results.cases[0].checks.push_back({"", {prediction(200, 100)}});
  judged.suite.means = {{"model", "cycles", 0.19}};
  const Outcome breach = judged.outcome();
  ASSERT_EQ(breach.models.size(), 1u);
  EXPECT_EQ(breach.models[0].judged, 2u);
  EXPECT_NEAR(breach.models[0].mean, 0.2, 1e-12);
  EXPECT_NEAR(breach.models[0].worst, 0.3, 1e-12);
  EXPECT_NEAR(breach.models[0].fitted_mean, 1.0, 1e-12);
  EXPECT_TRUE(breach.models[0].breach);
  EXPECT_EQ(breach.breaches, 1u);
  judged.suite.means[0].limit = 0.21;
  EXPECT_EQ(judged.outcome().breaches, 0u);
  judged.suite.means.push_back({"other", "cycles", 0.5});
  EXPECT_EQ(judged.outcome().breaches, 1u) << "a limit of what nothing judges holds nothing";
}

TEST(Verdicts, AMeanThatAConstantMeetsShowsNothing) {
  analysis::Prediction near = prediction(101, 100), far = prediction(99, 100);
  near.constant = 102, far.constant = 110;
  Judged judged(check(Role::kJudged, 1), near);
  judged.results.cases[0].checks[0].predictions.push_back(far);
  judged.suite.means = {{"model", "cycles", 0.05, true}};
  const Outcome powerful = judged.outcome();
  EXPECT_EQ(powerful.breaches, 0u);
  EXPECT_NEAR(powerful.models[0].constant_mean, 0.06, 1e-12);
  EXPECT_NE(outcome_text(judged.suite, powerful).find("a constant's 6.0 %, which must exceed the limit"),
            std::string::npos);
  judged.suite.means[0].limit = 0.07;
  EXPECT_EQ(judged.outcome().breaches, 1u);
  judged.suite.means[0].constant_fails = false;
  EXPECT_EQ(judged.outcome().breaches, 0u);
  judged.results.cases[0].checks[0].predictions = {prediction(100, 100)};
  judged.suite.means[0].constant_fails = true;
  EXPECT_EQ(judged.outcome().breaches, 1u) << "nobody said what a constant is";
}

TEST(Verdicts, GoldenCountersAreExact) {
  Judged judged(check(Role::kJudged, 1), prediction(110, 100));
  EXPECT_EQ(judged.outcome().breaches, 0u);
  judged.golden["case"][0].values["cycles"] = 101;
  EXPECT_EQ(judged.outcome().breaches, 1u);
  EXPECT_THAT(outcome_text(judged.suite, judged.outcome()), HasSubstr("cycles 100, golden 101"));
  judged.golden.clear();
  EXPECT_THAT(outcome_text(judged.suite, judged.outcome()), HasSubstr("no golden values"));
  judged.suite.cases[0].golden = false;
  EXPECT_EQ(judged.outcome().breaches, 0u);
}

TEST(Verdicts, GoldenCountersMustBeThere) {
  Judged judged(check(Role::kJudged, 1), prediction(110, 100));
  judged.golden["case"][0].values.clear();
  EXPECT_EQ(judged.outcome().breaches, 1u);
  judged.golden["case"].clear();
  EXPECT_EQ(judged.outcome().breaches, 1u);
}

TEST(GoldenFile, IsReadStrictly) {
  const std::string path = testing::TempDir() + "/golden_strict.json";
  const auto read = [&path](const char* text) {
    std::ofstream(path) << text;
    return read_golden(path);
  };
  EXPECT_EQ(read(R"({"a": [{"name": "k", "cycles": 7}]})").at("a")[0].values.at("cycles"), 7u);
  for (const char* wrong :
       {"[]", "3", R"({"a": 3})", R"({"a": [3]})", R"({"a": [{"name": 1}]})", R"({"a": [{"cycles": "x"}]})",
        R"({"a": [{"cycles": null}]})", R"({"a": [{"cycles": -1}]})", R"({"a": [{"cycles": 7.5}]})"})
    EXPECT_THROW((void)read(wrong), core::InputError) << wrong;
}

TEST(GoldenFile, CasesThatFailedKeepTheirValues) {
  Judged judged(check(Role::kJudged, 1), prediction(110, 100));
  judged.results.cases[0].failure = "deadlock";
  EXPECT_THAT(golden_text(judged.suite, judged.results, judged.golden), HasSubstr("\"cycles\": 100"));
  EXPECT_THAT(golden_text(judged.suite, judged.results, {}), testing::Not(HasSubstr("cycles")));
}

TEST(Verdicts, FailuresAreBreaches) {
  Judged judged(check(Role::kShown, 0), prediction(110, 100));
  judged.results.cases[0].checks[0] = {"lacks the table of accesses", {}};
  EXPECT_EQ(judged.outcome().breaches, 1u);
  judged.results.cases[0].failure = "illegal access";
  EXPECT_THAT(outcome_text(judged.suite, judged.outcome()), HasSubstr("illegal access"));
}

TEST(Verdicts, WhatAModelDefinesHoldsOfEveryRecording) {
  Judged judged(check(Role::kJudged, 1), prediction(110, 100));
  InvariantResult good{"latency-hidden", "", {17, {}}};
  judged.results.cases[0].invariants = {good};
  EXPECT_EQ(judged.outcome().breaches, 0u);
  EXPECT_THAT(outcome_text(judged.suite, judged.outcome()), HasSubstr("17 of 1 recordings, 0 not so"));
  judged.results.cases[0].invariants[0].found.broken = {"kernel 0: factor 1.4", "kernel 1: factor nan"};
  EXPECT_EQ(judged.outcome().breaches, 2u) << "of the case, and of all cases";
  EXPECT_THAT(outcome_text(judged.suite, judged.outcome()), HasSubstr("2 are not so: kernel 0: factor 1.4"));
  EXPECT_THAT(outcome_text(judged.suite, judged.outcome()), HasSubstr("19 of 1 recordings, 2 not so"));
  judged.results.cases[0].invariants = {{"latency-hidden", "ran beside other kernels", {}}};
  EXPECT_EQ(judged.outcome().breaches, 0u);
  EXPECT_THAT(outcome_text(judged.suite, judged.outcome()), HasSubstr("not applied to 1"));
}

TEST(Verdicts, TheLargestTermIsNamed) {
  const Judged judged(check(Role::kJudged, 1), prediction(110, 100));
  EXPECT_THAT(outcome_text(judged.suite, judged.outcome()), HasSubstr("most in loop: 103, simulated 97"));
}

TEST(CaseResultText, ComesBackExactly) {
  Judged judged(check(Role::kJudged, 1), prediction(1.0 / 3, 1e300));
  judged.results.cases[0].checks[0].predictions[0].terms.push_back(
      {"quote \" and \n", 2, std::numeric_limits<double>::quiet_NaN()});
  judged.results.cases[0].invariants = {{"latency-hidden", "no \"PTX\"", {3, {"kernel 'a': factor 2", "b"}}}};
  const CaseResult& before = judged.results.cases[0];
  const CaseResult after = result_from_text(to_text(before), "text");
  ASSERT_EQ(after.checks.size(), 1u);
  const analysis::Prediction &a = after.checks[0].predictions[0], &b = before.checks[0].predictions[0];
  EXPECT_EQ(a.predicted, b.predicted);
  EXPECT_EQ(a.simulated, b.simulated);
  EXPECT_EQ(a.terms[2].name, b.terms[2].name);
  EXPECT_TRUE(std::isnan(a.terms[2].simulated));
  EXPECT_EQ(after.kernels[0].values, before.kernels[0].values);
  ASSERT_EQ(after.invariants.size(), 1u);
  EXPECT_EQ(after.invariants[0].found.broken, before.invariants[0].found.broken);
  EXPECT_EQ(after.invariants[0].found.held, 3u);
  EXPECT_EQ(to_text(after), to_text(before));
  EXPECT_THROW((void)result_from_text("{}", "text"), core::InputError);
}

TEST(OutcomeFiles, Hdf5HoldsTheRows) {
  const Judged judged(check(Role::kJudged, 0.05), prediction(110, 100));
  const std::string path = testing::TempDir() + "/outcome_rows.h5";
  write_outcome_hdf5(path, judged.suite, judged.outcome());
  const core::RecordedFile file(path);
  EXPECT_EQ(file.text_attribute("/", "suite"), "one");
  EXPECT_EQ(file.rows("/rows"), 2u);
  EXPECT_EQ(file.texts("/rows", "verdict")[1], "BREACH");
  EXPECT_EQ(file.reals("/rows", "predicted")[1], 110);
  EXPECT_THROW(write_outcome_hdf5("/no/such/folder/x.h5", judged.suite, judged.outcome()), core::InputError);
}

}  // namespace
}  // namespace gpusim::regress
