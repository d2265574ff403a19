// The factor is a share of the latency that there is, whatever the workload. Workloads small enough to
// compute by hand.
#include "analysis/models/latency_hidden/exposure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analysis/models/latency_hidden/invariants.h"
#include "analysis/models/latency_hidden/testing.h"

namespace gpusim::analysis::latency_hidden {
namespace {

/// With a second unit.
Parameters machine() {
  Parameters p = test::plain_machine();
  p.units.emplace_back("sfu");
  p.request_unit = 1;
  return p;
}

/// One that keeps both units busy, one after the other.
Segment in_turn(double sp, double sfu, double latency, Wait end) {
  Segment s;
  s.weight = s.passes = 1;
  s.operations = s.walked = 10;
  s.busy = {sp, sfu};
  s.in_turn = sp + sfu;
  s.asks = s.in_turn;
  s.chain = std::max(sp, sfu) + latency;
  s.end = end;
  return s;
}

Breakdown breakdown_of(const Workload& w, const Parameters& p, const Estimate& e) {
  Subject subject;
  subject.parameters = p;
  subject.workload = w;
  return break_down(subject, e, nullptr);
}

TEST(Exposure, UnitsInTurnAreWorkAndNoLatency) {
  // 8 warps in step: 100 cycles on one unit, then 60 on the other, of which all wait 10 for results.
  const Estimate e = estimate(test::workload({in_turn(100, 60, 10, Wait::kEnd)}, 80, 1, 8), machine());
  EXPECT_NEAR(e.round, 8 * 160, 1);
  EXPECT_NEAR(e.full.work, 8 * 160, 1);
  EXPECT_DOUBLE_EQ(e.full.latency, 10);
  EXPECT_LE(e.factor(), 0.1);
  EXPECT_DOUBLE_EQ(e.full.beyond, 0);
}

TEST(Exposure, TheLongestWarpWaitsAsOftenAsItsPathIsLong) {
  Segment s = in_turn(10, 0, 90, Wait::kEnd);
  s.wait = 400;
  Workload w = test::workload({s}, 10, 4, 1);
  w.longest = 3;
  const Estimate e = estimate(w, machine());
  EXPECT_NEAR(e.round, 3 * 500, 40);
  EXPECT_DOUBLE_EQ(e.full.latency, 3 * 490);
  EXPECT_GT(e.factor(), 0.95);
  EXPECT_LE(e.factor(), 1);
}

TEST(Exposure, ARoundWithFewBlocksHasTheWholePath) {
  // 12 blocks of 10 SMs: two of them have two blocks, the others one; all wait the whole 500 cycles.
  Segment s = in_turn(10, 0, 0, Wait::kEnd);
  s.wait = 500;
  const Workload w = test::workload({s}, 12, 1, 8);
  const Estimate e = estimate(w, machine());
  EXPECT_NEAR(e.active, 512, 2);
  const Breakdown b = breakdown_of(w, machine(), e);
  ASSERT_EQ(b.segments.size(), 1u);
  EXPECT_NEAR(b.segments[0].exposed, 500, 1);
  EXPECT_NEAR(b.segments[0].factor, 1, 0.01);
  EXPECT_LE(b.segments[0].factor, 1);
}

TEST(Exposure, WhatFewWarpsDoIsWaitedForByAll) {
  // One warp of eight reduces the block's sum: on the path it is once, in the mean of the warps an eighth.
  Segment all = in_turn(10, 0, 0, Wait::kBarrier), one = in_turn(1, 0, 300, Wait::kEnd);
  one.weight = 0.125;
  one.stage = 2;
  const Workload w = test::workload({all, one}, 10, 8, 1);
  const Breakdown b = breakdown_of(w, machine(), estimate(w, machine()));
  ASSERT_EQ(b.segments.size(), 2u);
  EXPECT_NEAR(b.segments[1].exposed, 300, 2);
  EXPECT_LE(b.segments[1].factor, 1);
}

TEST(Exposure, NoLatencyHasNoFactor) {
  const Workload w = test::workload({in_turn(100, 60, 0, Wait::kEnd)}, 80, 1, 8);
  const Estimate e = estimate(w, machine());
  EXPECT_EQ(e.full.latency, 0);
  EXPECT_EQ(e.factor(), 0);
  EXPECT_EQ(breakdown_of(w, machine(), e).segments.at(0).factor, 0);
}

/// Any segment: some without work, some that few warps or only every second do, loops.
Segment any_segment(std::mt19937& random, uint32_t stage, Wait end) {
  const auto upto = [&random](double most) { return std::uniform_real_distribution<>(0, most)(random); };
  const auto often = [&](double share) { return upto(1) < share; };
  Segment s =
      in_turn(often(0.9) ? upto(200) : 0, often(0.5) ? upto(300) : 0, often(0.7) ? upto(400) : 0, end);
  s.issue = upto(50);
  s.in_turn = s.compute() + (often(0.5) ? upto(200) : 0);
  s.chain *= upto(1.2);
  s.asks = upto(s.chain);
  s.wait = end == Wait::kData ? upto(800) : 0;
  s.weight = often(0.5) ? 1 : upto(20);
  s.passes = often(0.5) ? s.weight : std::max(1.0, s.weight);
  s.read = often(0.5) ? upto(512) : 0;
  s.written = often(0.2) ? upto(512) : 0;
  s.stage = stage;
  return s;
}

Workload any_workload(std::mt19937& random) {
  const auto number = [&random](uint32_t least, uint32_t most) {
    return std::uniform_int_distribution<uint32_t>(least, most)(random);
  };
  std::vector<Segment> segments;
  const uint32_t count = number(1, 12);
  uint32_t stage = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const Wait ends[] = {Wait::kData, Wait::kBarrier, Wait::kStore, Wait::kJoin};
    stage += number(0, 2) == 0 ? 1 : 0;
    segments.push_back(any_segment(random, stage, i + 1 == count ? Wait::kEnd : ends[number(0, 3)]));
  }
  Workload w = test::workload(std::move(segments), number(1, 400), number(1, 8), number(1, 8));
  w.longest = 1 + number(0, 3) * 0.5;
  return w;
}

TEST(Exposure, EveryFactorIsAShareOfWhatThereIs) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const Workload w = any_workload(random);
    const Estimate e = estimate(w, machine());
    ASSERT_GE(e.factor(), 0) << i;
    ASSERT_LE(e.factor(), 1) << i;
    double sum = 0;
    for (const SegmentTime& s : breakdown_of(w, machine(), e).segments) {
      ASSERT_GE(s.factor, 0) << i;
      ASSERT_LE(s.factor, 1) << i;
      ASSERT_GE(s.compute, 0) << i;
      sum += s.predicted();
    }
    ASSERT_NEAR(sum, e.active, 1e-6 * e.active) << i;
  }
}

TEST(Exposure, WhatIsNoShareIsAMistakeOfTheModel) {
  const Workload w = test::workload({in_turn(100, 60, 10, Wait::kEnd)}, 80, 1, 8);
  const Estimate good = estimate(w, machine());
  const Breakdown segments = breakdown_of(w, machine(), good);
  const auto found = [](const Estimate& e, const Breakdown& b, const std::vector<Change>& changes) {
    Invariants invariants;
    check_factors("kernel 0", e, b, changes, invariants);
    return invariants;
  };
  const Change change{"grid", "", 1000, 0.5};
  EXPECT_EQ(found(good, segments, {change}).held, 3u);
  EXPECT_TRUE(found(good, segments, {change}).broken.empty());
  Estimate more = good;
  more.full.exposed = 2 * more.full.latency;
  EXPECT_THAT(found(more, segments, {}).broken, testing::ElementsAre(testing::HasSubstr("factor 2")));
  Estimate cut = good;
  cut.full.beyond = 7;
  EXPECT_THAT(found(cut, segments, {}).broken,
              testing::ElementsAre(testing::HasSubstr("7 cycles more than all")));
  for (const double factor : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    Breakdown wrong = segments;
    wrong.segments[0].factor = factor;
    EXPECT_EQ(found(good, wrong, {}).broken.size(), 1u) << factor;
    Change bad = change;
    bad.factor = factor;
    EXPECT_EQ(found(good, segments, {bad}).broken.size(), 1u) << factor;
  }
  Breakdown longer = segments;
  longer.segments[0].exposed = 5;
  longer.segments[0].compute = -1;
  EXPECT_EQ(found(good, longer, {}).broken.size(), 1u);
}

}  // namespace
}  // namespace gpusim::analysis::latency_hidden
