#include "analysis/models/roofline/roofline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/testing/small_recording.h"

namespace gpusim::analysis {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Ceiling ceiling(uint32_t sms, double fma, double bandwidth) {
  Ceiling c;
  c.sms = sms;
  c.rates[0] = {fma, fma / 2, fma / 2, fma / 2, "fp32"};
  c.rates[1] = {fma / 2, fma / 4, fma / 4, fma / 4, "fp64"};
  c.bandwidth = bandwidth;
  c.l2 = 3 * bandwidth;
  c.l1 = 15 * bandwidth;
  return c;
}
const Ceiling kLow = ceiling(2, 350e9, 100e9), kHigh = ceiling(80, 13e12, 800e9);

OperationMix fused(double flops) {
  OperationMix mix;
  mix.lanes[0].fused = flops / 2;
  mix.flops = flops;
  return mix;
}

/// A kernel that scales as it should: 4 FLOP/byte, at the roof at both ends.
Trajectory clean() {
  RooflinePoint low;
  low.sms = 2;
  low.flops = 4e6;
  low.dram_bytes = 1e6;
  low.mix = fused(low.flops);
  low.seconds = low.flops / kLow.roof(low.mix, 4);
  low.warp_efficiency = low.coalescing = low.balance = 1;
  low.occupancy = 0.9;
  low.blocks = 1000;
  low.blocks_per_sm = 8;
  low.l2_hits = 0.5;
  RooflinePoint high = low;
  high.sms = 80;
  high.seconds = high.flops / kHigh.roof(high.mix, 4);
  return {"kernel", {low, high}};
}

std::vector<Defect> defects(const Trajectory& t) {
  std::vector<Defect> found;
  for (const Finding& f : diagnose(t, kLow, kHigh)) found.push_back(f.defect);
  return found;
}

TEST(Roofline, RoofIsTheLowerOfBoth) {
  EXPECT_EQ(kHigh.roof(fused(1), 1), 800e9);
  EXPECT_EQ(kHigh.roof(fused(1), 1000), 13e12);
  RooflinePoint p;
  p.flops = 10;
  EXPECT_TRUE(std::isinf(p.intensity()));
  EXPECT_EQ(kHigh.roof(fused(10), p.intensity()), 13e12);
  p.dram_bytes = 5;
  EXPECT_EQ(p.intensity(), 2);
}

TEST(Roofline, NothingIsWrongWithACleanKernel) { EXPECT_THAT(defects(clean()), testing::IsEmpty()); }

TEST(Roofline, DivergenceIsNotTakenForEmptyLanesOfLastWarps) {
  Trajectory t = clean();
  t.points[0].warp_efficiency = 0.5;
  EXPECT_THAT(defects(t), testing::IsEmpty()) << "no branch parts a warp";
  t.points[0].divergent = 100;
  t.points[0].worst_divergence = "line 7 `@%p bra L`";
  EXPECT_THAT(defects(t), testing::ElementsAre(Defect::kDivergence));
  EXPECT_THAT(diagnose(t, kLow, kHigh)[0].evidence, HasSubstr("line 7"));
}

TEST(Roofline, UncoalescedAccess) {
  Trajectory t = clean();
  t.points[0].coalescing = 0.2;
  EXPECT_THAT(defects(t), testing::IsEmpty()) << "it is at its floating-point roof";
  t.points[0].seconds *= 1.5;
  EXPECT_THAT(defects(t), testing::ElementsAre(Defect::kUncoalesced));
  t.points[0].dram_bytes *= 2;
  EXPECT_THAT(defects(t), testing::ElementsAre(Defect::kUncoalesced)) << "at the bandwidth of DRAM";
}

TEST(Roofline, LowOccupancyCountsOnlyIfItCosts) {
  Trajectory t = clean();
  t.points[0].occupancy = t.points[1].occupancy = 0.1;
  EXPECT_THAT(defects(t), testing::IsEmpty()) << "it is at the roof all the same";
  t.points[0].seconds *= 4;
  EXPECT_THAT(defects(t), testing::ElementsAre(Defect::kLowOccupancy));
  t.points[0].occupancy = t.points[1].occupancy = 0.4;
  EXPECT_THAT(defects(t), Not(testing::Contains(Defect::kLowOccupancy))) << "more than a quarter is resident";
  t.points[0].occupancy = t.points[1].occupancy = 0.1;
  t.points[0].limiter = "registers";
  EXPECT_THAT(diagnose(t, kLow, kHigh)[0].evidence, HasSubstr("blocks per SM limited by registers"));
  t.points[0].blocks = 4;
  EXPECT_THAT(
      diagnose(t, kLow, kHigh)[0].evidence,
      AllOf(HasSubstr("the grid is too small: it has 4 blocks, and 16 fit"), Not(HasSubstr("registers"))));
}

TEST(Roofline, LanesThatPredicatesLeaveIdleAreDivergence) {
  Trajectory t = clean();
  t.points[0].used_lanes = 0.4;
  t.points[0].worst_divergence = "line 9 `add.f32 %f1, %f1, %f2`";
  EXPECT_THAT(defects(t), testing::ElementsAre(Defect::kDivergence)) << "no branch parts a warp";
  EXPECT_THAT(diagnose(t, kLow, kHigh)[0].evidence,
              AllOf(HasSubstr("12.8 of 32 lanes"), HasSubstr("predicates"), HasSubstr("line 9")));
}

TEST(Roofline, TooFewBlocks) {
  Trajectory t = clean();
  t.points[1].balance = t.points[1].even_balance = 0.2;
  t.points[1].idle_sms = 64;
  EXPECT_THAT(defects(t), testing::ElementsAre(Defect::kFewBlocks));
  EXPECT_THAT(diagnose(t, kLow, kHigh)[0].evidence, HasSubstr("64 get none"));
  t = clean();
  t.points[1].occupancy = 0.5;
  EXPECT_THAT(defects(t), testing::IsEmpty()) << "1000 blocks fill the machine once";
  t.points[1].blocks = 600;
  EXPECT_THAT(defects(t), testing::ElementsAre(Defect::kFewBlocks));
}

TEST(Roofline, LostLocality) {
  Trajectory t = clean();
  t.points[1].dram_bytes *= 3;
  t.points[1].seconds *= 3;  // all of its lower roof
  t.points[1].l2_hits = 0.05;
  EXPECT_THAT(defects(t), testing::ElementsAre(Defect::kLocality));
  EXPECT_THAT(diagnose(t, kLow, kHigh)[0].evidence, HasSubstr("from 50 % to 5 %"));
  t.points[1].dram_bytes = t.points[0].dram_bytes / 3;
  t.points[1].seconds /= 9;
  EXPECT_THAT(defects(t), testing::IsEmpty());
  t = clean();
  t.points[0].dram_bytes = 1e3, t.points[1].dram_bytes = 3e3;
  t.points[0].seconds = t.points[0].flops / kLow.of(Arithmetic::kFp32).fma;
  t.points[1].seconds = t.points[1].flops / kHigh.of(Arithmetic::kFp32).fma;
  EXPECT_THAT(defects(t), testing::IsEmpty()) << "floating point is the roof at both ends";
}

/// A point that `name` would make a tenth faster, at a fifth of its roof.
RooflinePoint held_by(const char* name) {
  RooflinePoint p = clean().points[0];
  p.seconds *= 5;
  p.savings = {{name, p.seconds / 10, "the words", 0}, {"dependency", p.seconds / 100, "others", 0}};
  p.causes = {{"memory_dram", 0.5}, {"issued", 0.2}, {"barrier", 0.1}};
  return p;
}

TEST(Roofline, SaysWhatIsLostFromTheFewestToTheMostSms) {
  Trajectory t = clean();
  RooflinePoint& high = t.points[1];
  high.dram_bytes *= 2;
  t.points[0].l2_bytes = 1e6, high.l2_bytes = 4e6;
  high.occupancy = 0.45, high.balance = 0.25;
  const auto is = [](const char* quantity, double first, double last) {
    return AllOf(testing::Field(&Prediction::kernel, "kernel"),
                 testing::Field(&Prediction::quantity, quantity),
                 testing::Field(&Prediction::predicted, testing::DoubleEq(first)),
                 testing::Field(&Prediction::simulated, testing::DoubleEq(last)));
  };
  EXPECT_THAT(changes(t), testing::ElementsAre(is("intensity", 4, 2), is("intensity of L2", 4, 1),
                                               is("resident warps", 0.9, 0.45 * 0.25)));
  high.dram_bytes = 0;  // all of it was in L2: no intensity
  high.l2_bytes = 0;
  high.balance = 0;
  EXPECT_THAT(changes(t), testing::IsEmpty());
}

TEST(Roofline, FarBelowTheRoofEveryLimiterIsAFinding) {
  const std::pair<const char*, Defect> all[] = {
      {"launch", Defect::kLaunch},      {"network", Defect::kL2Bandwidth},
      {"lsu", Defect::kL1Bandwidth},    {"pipe_lsu", Defect::kL1Bandwidth},
      {"shared", Defect::kL1Bandwidth}, {"dram", Defect::kDramAccess},
      {"atomics", Defect::kAtomics},    {"buffers", Defect::kMisses},
      {"issue", Defect::kInstructions}, {"pipe_int", Defect::kInstructions},
      {"latency", Defect::kLatency},    {"translation", Defect::kLatency},
      {"branch", Defect::kBranches},    {"shared_latency", Defect::kDependency},
      {"camping", Defect::kDramAccess}, {"imbalance", Defect::kImbalance},
      {"barriers", Defect::kBarriers}};
  for (const auto& [name, defect] : all) {
    EXPECT_THAT(defects({"kernel", {held_by(name)}}), testing::ElementsAre(defect)) << name;
    Trajectory t{"kernel", {held_by(name)}};
    t.points[0].seconds /= 4;
    EXPECT_THAT(defects(t), testing::IsEmpty()) << name << ", four fifths of the roof";
  }
}

TEST(Roofline, FarBelowTheRoofThereIsAlwaysAFinding) {
  RooflinePoint p = held_by("launch");
  p.savings[0].seconds = p.seconds / 25;
  const std::vector<Finding> found = diagnose({"kernel", {p}}, kLow, kLow);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].defect, Defect::kMixed);
  EXPECT_THAT(found[0].evidence, HasSubstr("50 % memory_dram, 20 % issued, 10 % barrier"));
  p.savings.clear();
  p.causes.clear();
  EXPECT_THAT(defects({"kernel", {p}}), testing::ElementsAre(Defect::kMixed)) << "a file of an older version";
  p.flops = 0;
  EXPECT_THAT(defects({"kernel", {p}}), testing::ElementsAre(Defect::kMixed))
      << "a fifth of the bandwidth of DRAM";
}

TEST(Roofline, BothEndsAreLookedAt) {
  Trajectory t = clean();
  t.points[1].seconds *= 5;
  t.points[1].savings = {{"launch", t.points[1].seconds / 4, "starting takes half", 0}};
  std::vector<Finding> found = diagnose(t, kLow, kHigh);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].evidence, testing::AllOf(HasSubstr("with 80 SMs"), HasSubstr("starting takes half")));
  t.points[0] = held_by("launch");
  found = diagnose(t, kLow, kHigh);
  ASSERT_EQ(found.size(), 1u) << "one finding with the evidence of both";
  EXPECT_THAT(found[0].evidence, testing::AllOf(HasSubstr("with 2 SMs"), HasSubstr("with 80 SMs")));
}

TEST(Roofline, WhatFollowsFromAFindingIsNone) {
  Trajectory t{"kernel", {held_by("pipe_int")}};
  t.points[0].warp_efficiency = 0.5, t.points[0].divergent = 10;
  EXPECT_THAT(defects(t), testing::ElementsAre(Defect::kDivergence)) << "lost lanes fill the pipe";
  t.points[0].savings[0].name = "launch";
  EXPECT_THAT(defects(t), testing::ElementsAre(Defect::kDivergence, Defect::kLaunch));
  t.points[0] = held_by("latency");
  t.points[0].occupancy = 0.1;
  EXPECT_THAT(defects(t), testing::ElementsAre(Defect::kLowOccupancy));
  t.points[0] = held_by("latency");
  t.points[0].coalescing = 0.2;
  EXPECT_THAT(defects(t), testing::ElementsAre(Defect::kUncoalesced));
}

TEST(Roofline, ScatteredLanesAreToldApartFromLatency) {
  Trajectory t{"kernel", {held_by("latency")}};
  t.points[0].awaited.slots = 100, t.points[0].awaited.scattered = 40;
  EXPECT_THAT(defects(t), testing::ElementsAre(Defect::kLatency));
  t.points[0].awaited.scattered = 60, t.points[0].awaited.dram = 45, t.points[0].awaited.l2 = 15;
  EXPECT_THAT(defects(t), testing::ElementsAre(Defect::kLatencyDivergence));
  EXPECT_THAT(diagnose(t, kLow, kLow)[0].evidence, HasSubstr("25 % from L2, 75 % from DRAM"));
}

TEST(Roofline, ALevelAtItsMeasuredBandwidthIsTheFinding) {
  Trajectory t{"kernel", {held_by("latency")}};
  RooflinePoint& p = t.points[0];
  p.l2_bytes = 0.7 * kLow.l2 * p.seconds;
  EXPECT_THAT(defects(t), testing::ElementsAre(Defect::kLatency));
  p.l2_bytes = 0.9 * kLow.l2 * p.seconds;
  EXPECT_THAT(defects(t), testing::ElementsAre(Defect::kL2Bandwidth));
  EXPECT_THAT(diagnose(t, kLow, kLow)[0].evidence, HasSubstr("90 % of what was measured"));
}

TEST(Roofline, UnevenBlocksAreNoFewBlocks) {
  Trajectory t = clean();
  t.points[1].balance = 0.3, t.points[1].even_balance = 0.95;
  EXPECT_THAT(defects(t), testing::ElementsAre(Defect::kImbalance));
  t.points[1].even_balance = 0.65;
  EXPECT_THAT(defects(t), testing::ElementsAre(Defect::kFewBlocks, Defect::kImbalance));
  t.points[1].even_balance = 0.35;
  EXPECT_THAT(defects(t), testing::ElementsAre(Defect::kFewBlocks));
}

TEST(Roofline, TheRoofIsThatOfTheOperations) {
  OperationMix mix = fused(100);
  EXPECT_EQ(kHigh.arithmetic(mix), 13e12);
  mix.lanes[0] = {0, 100};
  EXPECT_EQ(kHigh.arithmetic(mix), 6.5e12) << "without multiply-add";
  mix.lanes[0] = {25, 50};
  EXPECT_NEAR(kHigh.arithmetic(mix), 100 / (75 / 6.5e12), 1) << "half of the FLOPs without";
  mix.lanes[0] = {}, mix.lanes[1] = {50, 0};
  EXPECT_EQ(kHigh.arithmetic(mix), 6.5e12) << "double precision";
  mix.lanes[0] = {10, 0}, mix.lanes[1] = {40, 0};
  EXPECT_NEAR(kHigh.arithmetic(mix), 100 / (40 / 3.25e12), 1) << "the pipes work side by side";
  Ceiling shared = kHigh;
  shared.rates[1].pipe = "fp32";
  EXPECT_NEAR(shared.arithmetic(mix), 100 / (40 / 3.25e12 + 10 / 6.5e12), 1) << "one pipe for both";
  mix.matrices = 1;
  EXPECT_TRUE(std::isinf(kHigh.arithmetic(mix))) << "no ceiling measures matrix operations";
  mix.lanes[2] = {1, 0};
  EXPECT_EQ(kHigh.lacks(mix), "FP16");
  EXPECT_EQ(fused(4).text(), "100 % FP32 (100 % of them fused)");
}

TEST(Roofline, OnlyKernelsOfTheCeilingsAreCeilings) {
  for (const char* name :
       {"ceiling_fma", "ceiling_add_fp64", "ceiling_fma_fp16", "ceiling_stream", "ceiling_l2"})
    EXPECT_TRUE(is_ceiling(name)) << name;
  for (const char* name : {"ceiling_height", "ceiling_fma_fp8", "ceiling_", "fma"})
    EXPECT_FALSE(is_ceiling(name)) << name;
}

TEST(Roofline, OperationsAreOfTheTypeOfTheirClass) {
  KernelRecord kernel;
  kernel.per_pc.rows = 4;
  kernel.per_pc.texts["class"] = {"fp32", "half", "fp64_div", "mma_half"};
  kernel.per_pc.numbers["active_lanes"] = {32, 64, 96, 32};
  kernel.per_pc.numbers["flops"] = {32, 256, 96, 4096};  // halves come in pairs
  OperationMix mix;
  mix.add(kernel);
  const auto of = [&](Arithmetic kind) { return mix.lanes[static_cast<size_t>(kind)]; };
  EXPECT_EQ(of(Arithmetic::kFp32).single, 32);
  EXPECT_EQ(of(Arithmetic::kFp16).fused, 64);
  EXPECT_EQ(of(Arithmetic::kFp64).single, 96);
  EXPECT_EQ(of(Arithmetic::kFp32).all() + of(Arithmetic::kFp16).all() + of(Arithmetic::kFp64).all(), 192);
  EXPECT_EQ(mix.matrices, 4096);
}

TEST(Roofline, EfficiencyOfWarpsIsTheShareOfTheirLanes) {
  const Recording recording(test::SmallRecording().write(test::temp_path("roofline.h5")));
  const std::vector<Trajectory> all = trajectories({&recording, 1}, {});
  ASSERT_EQ(all.size(), 1u);
  ASSERT_EQ(all[0].points.size(), 1u);
  EXPECT_DOUBLE_EQ(all[0].points[0].warp_efficiency, (48 + 64 + 32 + 32) / (32 * 6.0));
}

TEST(RooflineOptions, AreChecked) {
  const auto message = [](const char* name, const char* value) -> std::string {
    ModelOptions options;
    options.values[name] = value;
    try {
      (void)roofline_model({}, options);
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_THAT(message("flop", "1"), HasSubstr("did you mean 'flops'?"));
  EXPECT_THAT(message("flops", "-1"), HasSubstr("positive number"));
  EXPECT_THAT(message("flops", "1e400"), HasSubstr("positive number"));
  EXPECT_THAT(message("scaling", "stong"), HasSubstr("strong or weak"));
  EXPECT_THAT(message("levels", "some"), HasSubstr("dram or all"));
  EXPECT_THAT(message("by", "kernels"), HasSubstr("kernel or launch"));
  EXPECT_THAT(message("expect", "divergense"), HasSubstr("did you mean 'divergence'?"));
  EXPECT_THAT(message("expect", "locality,few-block"), HasSubstr("did you mean 'few-blocks'?"));
  EXPECT_THAT(message("expect", "locality,none"), HasSubstr("none goes with no other"));
  EXPECT_THAT(message("scaling", "weak"), HasSubstr("no kernel"));
}

}  // namespace
}  // namespace gpusim::analysis
