#include "analysis/models/roofline/roofline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace gpusim::analysis {
namespace {

using testing::HasSubstr;

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
  EXPECT_THAT(defects(t), testing::ElementsAre(Defect::kUncoalesced));
}

TEST(Roofline, LowOccupancyCountsOnlyIfItCosts) {
  Trajectory t = clean();
  t.points[0].occupancy = t.points[1].occupancy = 0.1;
  EXPECT_THAT(defects(t), testing::IsEmpty()) << "it is at the roof all the same";
  t.points[0].seconds *= 4;
  EXPECT_THAT(defects(t), testing::ElementsAre(Defect::kLowOccupancy));
}

TEST(Roofline, TooFewBlocks) {
  Trajectory t = clean();
  t.points[1].balance = 0.2;
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
  t.points[1].l2_hits = 0.05;
  EXPECT_THAT(defects(t), testing::ElementsAre(Defect::kLocality));
  EXPECT_THAT(diagnose(t, kLow, kHigh)[0].evidence, HasSubstr("from 50 % to 5 %"));
  t.points[1].dram_bytes = t.points[0].dram_bytes / 3;
  EXPECT_THAT(defects(t), testing::IsEmpty());
  t = clean();
  t.points[0].dram_bytes = 1e3, t.points[1].dram_bytes = 3e3;
  EXPECT_THAT(defects(t), testing::IsEmpty()) << "floating point is the roof at both ends";
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
  EXPECT_THAT(message("by", "kernels"), HasSubstr("kernel or launch"));
  EXPECT_THAT(message("expect", "divergense"), HasSubstr("did you mean 'divergence'?"));
  EXPECT_THAT(message("expect", "locality,few-block"), HasSubstr("did you mean 'few-blocks'?"));
  EXPECT_THAT(message("expect", "locality,none"), HasSubstr("none goes with no other"));
  EXPECT_THAT(message("scaling", "weak"), HasSubstr("no kernel"));
}

}  // namespace
}  // namespace gpusim::analysis
