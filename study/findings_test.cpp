#include "study/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/sm/stall_cause.h"
#include "study/result_tables.h"
#include "study/why_best.h"

namespace gpusim::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// a: 1, 2, 4 halves the time from 1 to 2 and does nothing beyond; b: a word that gains 10 %, but only at
/// a=4.
struct Example {
  Study study;
  std::vector<Point> points;
  std::vector<PointResult> results;

  Example() {
    study.path = "s.toml";
    study.machines = {"m"};
    study.workloads.push_back({"w", "w.ptx", "", {}, {}});
    study.axes = {axis_from_option("l1.mshrs=4,1,2"), axis_from_option("scheduler.policy=x,y")};
    points = points_of(study);
    for (const Point& p : points) {
      PointResult r;
      r.status = PointResult::Status::kComplete;
      const std::string a = study.axes[0].values[p.values[0]].label;
      r.time_s = a == "1" ? 2 : 1;
      if (a == "4" && p.values[1] == 1) r.time_s = 0.9;
      r.cycles = static_cast<uint64_t>(1000 * r.time_s);
      r.energy_j = a == "4" ? 5 : 3;
      r.sram_kib = 10 + std::stod(a);
      r.verified = "yes";
      r.key = "k";
      r.kernels.push_back({"kernel", "1x1x1", "32x1x1", r.cycles, r.time_s, {{"loads", 3}}});
      r.kernels.push_back({"kernel", "1x1x1", "32x1x1", r.cycles, r.time_s, {{"loads", 4}, {"stores", 1}}});
      results.push_back(r);
    }
  }
};

TEST(Findings, BestPointAndEffects) {
  const Example e;
  const auto groups = find({e.study, e.points, e.results});
  ASSERT_EQ(groups.size(), 1);
  const GroupFindings& f = groups[0];
  EXPECT_EQ(f.simulated, 6);
  EXPECT_EQ(f.best.front(), 1) << "a=4, b=y";
  EXPECT_EQ(f.best_value, 0.9);
  EXPECT_EQ(f.worst_value, 2);
  ASSERT_EQ(f.effects.size(), 2);
  const Effect& a = f.effects[0];
  EXPECT_EQ(a.axis, 0);
  EXPECT_THAT(a.order, ElementsAre(1, 2, 0)) << "by number";
  EXPECT_DOUBLE_EQ(a.steps[0].factor, 0.5);
  EXPECT_EQ(a.steps[0].pairs, 2);
  EXPECT_DOUBLE_EQ(a.steps[1].least, 0.9);
  EXPECT_DOUBLE_EQ(a.steps[1].most, 1);
  EXPECT_EQ(a.suffices, 0) << "from 2 to 4 one pair gains a tenth";
}

TEST(WhyBest, CausesAddUpToTheCycles) {
  const auto point = [](uint64_t cycles, std::vector<std::pair<std::string, double>> counters) {
    PointResult r;
    r.status = PointResult::Status::kComplete;
    r.kernels.push_back({"k", "1x1x1", "32x1x1", cycles, 1, std::move(counters)});
    return r;
  };
  // Half of the SMs have no warp; of the others' 100 slots 60 wait for DRAM in the other point, 20 in the
  // best one.
  const PointResult other = point(200, {{"slots_issued", 30},
                                        {"slots_memory_dram", 60},
                                        {"slots_launch", 10},
                                        {"slots_no_warp", 100},
                                        {"l1_wait_mshr", 4000},
                                        {"l2_writeback_sectors", 9},
                                        {"dram_read_bytes", 1000}});
  const PointResult best = point(100, {{"slots_issued", 30},
                                       {"slots_memory_dram", 10},
                                       {"slots_launch", 10},
                                       {"slots_no_warp", 50},
                                       {"l1_wait_mshr", 0},
                                       {"l2_writeback_sectors", 0},
                                       {"dram_read_bytes", 999}});
  const WhyBest why = why_best(other, best);
  double sum = 0;
  for (const MovedCause& c : why.causes) sum += c.cycles;
  EXPECT_NEAR(sum, -100, 1e-9);
  EXPECT_EQ(why.causes[0].cause, "memory_dram");
  EXPECT_NEAR(why.causes[0].cycles, 100 * 10.0 / 100 * 2.25 - 200 * 60.0 / 200 * (1 + 100.0 / 90), 1e-9);
  ASSERT_EQ(why.counters.size(), 1) << "neither a byte of a thousand nor nine sectors in 200 cycles";
  EXPECT_EQ(why.counters[0].name, "l1_wait_mshr");
  const std::string text = why_text(why, "l1=16K");
  EXPECT_THAT(text, HasSubstr("100 cycles, -100 against l1=16K"));
  EXPECT_THAT(text, HasSubstr("4000 -> 0"));
  EXPECT_THAT(text, HasSubstr("cycles of memory_dram      waiting for data from DRAM\n"));
  EXPECT_THAT(text, HasSubstr("misses that waited for a free MSHR of the L1\n"));
  EXPECT_THAT(
      why_text({100, 200, {{"drain", -100}}, {}}, "l1=16K"),
      HasSubstr("-100  cycles of drain            waiting for stores that were on their way when all"));
  EXPECT_EQ(
      why_sentence({200, 100, {{"memory_l2", -90}, {"memory_l1", 12}, {"issued", -9}}, {}}, "l1=16K"),
      "it takes 50 % fewer cycles than l1=16K: 45 % less waiting for data that the L2 had, 6 % more waiting "
      "for data that the L1 had");
  EXPECT_EQ(why_sentence(WhyBest{}, "l1=16K"), "");
  EXPECT_TRUE(why_best(other, PointResult{}).causes.empty());
}

TEST(WhyBest, EveryCauseHasWords) {
  for (const std::string_view cause : comp::kStallCauseNames)
    EXPECT_THAT(why_sentence({100, 50, {{std::string(cause), -50}}, {}}, "x"), HasSubstr(": 50 % less "))
        << cause;
}

TEST(Findings, BeginWithWhatIsBestAndWhyInWords) {
  Example e;
  const auto text = [&e] {
    return findings_text({e.study, e.points, e.results}, find({e.study, e.points, e.results}));
  };
  EXPECT_THAT(
      text(),
      HasSubstr("in short\n"
                "  best is l1_mshrs=4 scheduler_policy=y, a factor of 2.22 better than the worst point\n"
                "  l1_mshrs matters most (factor 2.11; 4 is best on average), then scheduler_policy "
                "(factor 1.04; y is best on average)\n"));
  // y gains a tenth with one value of l1_mshrs and loses as much with another.
  for (size_t i = 0; i < e.points.size(); ++i)
    if (e.study.axes[0].values[e.points[i].values[0]].label == "1" && e.points[i].values[1] == 1)
      e.results[i].time_s = 2 / 0.9;
  EXPECT_THAT(text(),
              HasSubstr(", then scheduler_policy (-10.0 % to +11.1 %, with the values of the others)"));
  for (PointResult& r : e.results) r.time_s = r.time_s >= 2 ? 2 : 1;
  EXPECT_THAT(text(), HasSubstr("  l1_mshrs matters most (factor 2.00; 2 suffices); scheduler_policy changes "
                                "less than 2 % anywhere\n"));
  EXPECT_THAT(text(), testing::Not(HasSubstr("what limits it")));
  for (size_t i = 0; i < e.results.size(); ++i) e.results[i].time_s = 1 + 1e-3 * static_cast<double>(i);
  EXPECT_THAT(text(),
              HasSubstr("change less than 2 % anywhere\n  what limits it is something else: gpusim explain "
                        "--prove of a recording"));
}

TEST(Findings, TheBestPointIsExplainedAgainstTheFirstOrTheWorst) {
  Example e;
  EXPECT_EQ(find({e.study, e.points, e.results})[0].against, 0) << "a=4, b=x";
  e.results[0].time_s = 0.5;
  const auto f = find({e.study, e.points, e.results})[0];
  ASSERT_EQ(f.best.front(), 0);
  EXPECT_EQ(e.results[f.against].time_s, 2) << "the worst";
  for (PointResult& r : e.results)
    r.kernels = {
        {"k", "1x1x1", "32x1x1", r.cycles, r.time_s, {{"slots_issued", 10}, {"slots_memory_l2", 30}}}};
  const auto groups = find({e.study, e.points, e.results});
  EXPECT_THAT(findings_text({e.study, e.points, e.results}, groups), HasSubstr("why the best one is: "));
  EXPECT_THAT(findings_json({e.study, e.points, e.results}, groups),
              HasSubstr("\"why_best\": {\"against\": "));
}

TEST(Findings, MoreThanSufficesGainsNothingInAnyPair) {
  Example e;
  for (PointResult& r : e.results)
    if (r.time_s == 0.9) r.time_s = 0.99;
  const auto groups = find({e.study, e.points, e.results});
  EXPECT_EQ(groups[0].effects[0].suffices, 2) << "the value 2";
  EXPECT_THAT(findings_text({e.study, e.points, e.results}, groups), HasSubstr("2 suffices"));
  for (PointResult& r : e.results)
    if (r.time_s == 0.99) r.time_s = 1.1;
  EXPECT_EQ(find({e.study, e.points, e.results})[0].effects[0].suffices, 2) << "what is worse suffices less";
  e.study.maximise = true;
  EXPECT_EQ(find({e.study, e.points, e.results})[0].effects[0].suffices, 0)
      << "and is better where much is wanted";
}

TEST(Findings, PointsThatShareAReasonAreOneLine) {
  Example e;
  for (const size_t i : {0, 1, 4}) {
    e.results[i] = {};
    e.results[i].status = PointResult::Status::kRefused;
    e.results[i].reason = i == 4 ? "another" : "no room";
  }
  EXPECT_EQ(reasons_text(e.study, e.points, e.results,
                         [&](size_t i) { return e.results[i].status == PointResult::Status::kRefused; }),
            "\n1 point (w on m, l1_mshrs=2, scheduler_policy=x): another\n"
            "\n2 points (w on m, l1_mshrs=4, scheduler_policy=x, ...): no room\n");
}

TEST(Findings, WrongResultsAreOneLineWhateverTheirNumbersAndAHintSaysWhatMayBeWrong) {
  Example e;
  for (const size_t i : {0, 1}) {
    e.results[i] = {};
    e.results[i].status = PointResult::Status::kWrong;
    e.results[i].reason = i == 0 ? "C: 7 of 32 elements are wrong" : "C: 12 of 32 elements are wrong";
  }
  const std::string text = reasons_text(e.study, e.points, e.results, [](size_t i) { return i < 2; });
  EXPECT_THAT(text,
              testing::StartsWith("\n2 points (w on m, l1_mshrs=4, scheduler_policy=x, ...): C: 7 of 32 "
                                  "elements are wrong (at the first; other numbers at the others)\n"));
  EXPECT_THAT(text, testing::HasSubstr("give its [[expect]] a tolerance (rtol), or leave it out"));
}

/// Problems of different size are no machines: more of one costs time, and nothing "suffices".
TEST(Findings, ParametersOfTheProgramAreNoResources) {
  Example e;
  e.study.axes[1] = axis_from_option("param.N=100,200,400");
  e.points = points_of(e.study);
  e.results.resize(1);
  const PointResult one = e.results.front();
  e.results.assign(e.points.size(), one);
  for (size_t i = 0; i < e.points.size(); ++i) {
    const uint32_t mshrs = e.points[i].values[0], n = e.points[i].values[1];  // 4, 1, 2 and 100, 200, 400
    e.results[i].time_s = (1 + n) * (mshrs == 1 ? 2 : mshrs == 2 && n == 2 ? 0.9 : 1);
  }
  const auto groups = find({e.study, e.points, e.results});
  const std::string text = findings_text({e.study, e.points, e.results}, groups);
  ASSERT_EQ(groups[0].best.front(), 0) << "the first point of all: the worst one explains it";
  EXPECT_EQ(e.points[groups[0].against].values[1], 0) << "of those with N=100";
  EXPECT_THAT(text, HasSubstr("N matters most (factor 2.90; 100 gives the least)"));
  EXPECT_THAT(text, testing::Not(HasSubstr("100 suffices")));
  EXPECT_THAT(text, HasSubstr("    at N=100 best is l1_mshrs=4\n    at N=200 best is l1_mshrs=4\n"
                              "    at N=400 best is l1_mshrs=2\n"));
  EXPECT_THAT(findings_json({e.study, e.points, e.results}, groups),
              testing::ContainsRegex("\"axis\": \"N\", \"range\": [0-9.]+, \"suffices\": null"));
}

TEST(Findings, WhereMoreCostsTimeTheLeastIsBestAndDoesNotSuffice) {
  Example e;
  e.study.axes[0] = axis_from_option("latency.l1_hit=4,1,2");
  for (PointResult& r : e.results) r.time_s = 5 - 2 * r.time_s;  // 4 and 2 take 3, and 1 takes 1
  const auto groups = find({e.study, e.points, e.results});
  ASSERT_EQ(groups[0].effects[0].suffices, 1) << "nothing beyond the value 1 is better";
  const std::string text = findings_text({e.study, e.points, e.results}, groups);
  EXPECT_THAT(text, HasSubstr("1 is best"));
  EXPECT_THAT(text, testing::Not(HasSubstr("suffices")));
}

TEST(Findings, InteractionsNameWhereAnAxisGains) {
  const Example e;
  const auto f = find({e.study, e.points, e.results})[0];
  ASSERT_FALSE(f.interactions.empty());
  const Interaction& i = f.interactions[0];
  EXPECT_NEAR(i.most / i.least, 1 / 0.9, 1e-9);
}

TEST(Findings, ParetoFrontInTimeEnergyAndSram) {
  const Example e;
  const auto f = find({e.study, e.points, e.results})[0];
  // a=4,b=y is fastest; a=2 (both b equal: the first) uses less energy; a=1 has the least SRAM.
  EXPECT_THAT(f.pareto, ElementsAre(1, 4, 2));
}

TEST(Findings, WhatIsMissingOrFailedIsCountedAndLeftOut) {
  Example e;
  e.results[0].status = PointResult::Status::kFailed;
  e.results[0].reason = "illegal access";
  e.results[3] = {};
  const auto groups = find({e.study, e.points, e.results});
  EXPECT_EQ(groups[0].simulated, 4);
  EXPECT_EQ(groups[0].failed, 2);
  EXPECT_EQ(groups[0].effects[0].steps[0].pairs, 1);
  const std::string text = findings_text({e.study, e.points, e.results}, groups);
  EXPECT_THAT(text, HasSubstr("illegal access"));
  EXPECT_THAT(text, HasSubstr("not simulated yet"));
}

TEST(Findings, ObjectivesAreColumnsOfTheResults) {
  Example e;
  e.study.objective = "loads";
  e.study.maximise = true;
  EXPECT_EQ(find({e.study, e.points, e.results})[0].best_value, 7) << "of both launches";
  e.study.objective = "laods";
  try {
    (void)find({e.study, e.points, e.results});
    FAIL();
  } catch (const core::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'loads'"));
  }
}

TEST(Findings, RatesHaveNoSum) {
  Example e;
  e.study.objective = "ipc";
  for (PointResult& r : e.results)
    for (KernelRow& k : r.kernels) k.counters.emplace_back("ipc", 0.5);
  try {
    (void)find({e.study, e.points, e.results});
    FAIL();
  } catch (const core::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'ipc' is a rate, which has no sum over the 2 kernels of w on m"));
  }
  for (PointResult& r : e.results) r.kernels.pop_back();
  EXPECT_EQ(find({e.study, e.points, e.results})[0].best_value, 0.5) << "of a single kernel";
}

TEST(Findings, TheMedianOfAnEvenNumberIsInTheMiddle) {
  Example e;
  for (size_t i = 0; i < e.results.size(); ++i) e.results[i].time_s = static_cast<double>(1 + i);
  EXPECT_EQ(find({e.study, e.points, e.results})[0].median_value, 3.5);
}

TEST(ResultTables, CsvHasARowForEachLaunchAndFailedPoint) {
  Example e;
  e.results[5] = {};
  e.results[5].status = PointResult::Status::kRefused;
  e.results[5].reason = "no, \"this\"\ncannot be";
  const std::string csv = results_csv(e.study, e.points, e.results);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 5 * 2 + 1);
  EXPECT_THAT(csv,
              testing::StartsWith(
                  "point,machine,workload,l1_mshrs,scheduler_policy,status,verified,key,launch,kernel,grid,"
                  "block,time_s,cycles,sram_kib,loads,stores,reason\n"
                  "0,m,w,4,x,complete,yes,k,0,kernel,1x1x1,32x1x1,1,1000,14,3,,\n"
                  "0,m,w,4,x,complete,yes,k,1,kernel,1x1x1,32x1x1,1,1000,14,4,1,\n"));
  EXPECT_THAT(csv, testing::EndsWith("5,m,w,2,y,refused,,,0,,,,,,0,,,\"no, \"\"this\"\" cannot be\"\n"));
}

}  // namespace
}  // namespace gpusim::study
