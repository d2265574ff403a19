#include "isa/ptx/occupancy.h"

#include <gtest/gtest.h>

namespace gpusim::isa {
namespace {

struct Case {
  int capability, threads, registers;
  int64_t shared;
  int blocks, warps;
  const char* limiter;
};

class OccupancyCases : public testing::TestWithParam<Case> {};

TEST_P(OccupancyCases, MatchesTheHandComputedValue) {
  const Case& c = GetParam();
  const auto limits = occupancy_limits(c.capability);
  ASSERT_TRUE(limits.has_value());
  const Occupancy o = compute_occupancy(*limits, c.threads, c.registers, c.shared);
  EXPECT_EQ(o.blocks_per_sm, c.blocks);
  EXPECT_EQ(o.warps, c.warps);
  EXPECT_EQ(o.limiter, c.limiter);
}

INSTANTIATE_TEST_SUITE_P(
    HandComputed, OccupancyCases,
    testing::Values(
        Case{13, 256, 10, 48, 4, 32, "warps"},        // naive 16x16: 8 warps of 32
        Case{13, 64, 10, 48, 8, 16, "blocks"},        // naive 8x8
        Case{13, 64, 13, 560, 8, 16, "blocks"},       // tiled 8x8: 1024 registers, 1024 bytes a block
        Case{13, 256, 13, 2096, 4, 32, "warps"},      // tiled 16x16
        Case{13, 64, 30, 1156, 8, 16, "blocks"},      // Volkov: 1920 -> 2048 registers, 1156 -> 1536 bytes
        Case{10, 256, 10, 48, 3, 24, "warps"},        // 24 warps; 2560 registers a block
        Case{10, 256, 11, 48, 2, 16, "registers"},    // 2816 registers a block: 8192 / 2816 = 2
        Case{10, 64, 30, 1156, 4, 8, "registers"},    // 1920 -> 2048: 8192 / 2048 = 4
        Case{11, 192, 16, 4096, 2, 12, "registers"},  // 6 warps x 32 x 16 = 3072: 2
        Case{12, 96, 20, 0, 6, 18, "registers"},   // 3 -> 4 warps: 2560 registers a block: 16384 / 2560 = 6
        Case{12, 512, 32, 0, 1, 16, "registers"},  // 16384 registers: exactly one block
        Case{12, 512, 33, 0, 0, 0, "registers"},   // one too many
        Case{13, 128, 8, 4097, 3, 12, "shared memory"},  // 4097 -> 4608: 16384 / 4608 = 3
        Case{13, 128, 8, 16385, 0, 0, "shared memory"},
        Case{20, 256, 20, 0, 6, 48, "warps"},      // 640 registers a warp: 51 -> 50 warps: 6 blocks
        Case{20, 256, 21, 0, 5, 40, "registers"},  // 672 -> 704 a warp: 46 warps: 5 blocks
        Case{20, 192, 63, 0, 2, 12, "registers"},  // 2016 -> 2048 a warp: 16 warps / 6
        Case{20, 1024, 20, 0, 1, 32, "warps"},
        Case{20, 64, 16, 6145, 7, 14, "shared memory"},  // 6145 -> 6272: 49152 / 6272 = 7
        Case{70, 256, 32, 0, 8, 64, "warps"},
        Case{80, 128, 255, 0, 2, 8, "registers"},  // 8192 a warp: 8 warps
        Case{90, 64, 16, 0, 32, 64, "blocks"}));

TEST(Occupancy, RefusesImpossibleBlocks) {
  const OccupancyLimits limits = *occupancy_limits(13);
  EXPECT_EQ(compute_occupancy(limits, 513, 1, 0).blocks_per_sm, 0);
  EXPECT_EQ(compute_occupancy(limits, 513, 1, 0).limiter, "threads");
  EXPECT_EQ(compute_occupancy(limits, 0, 1, 0).blocks_per_sm, 0);
  EXPECT_EQ(compute_occupancy(limits, -5, 1, 0).blocks_per_sm, 0);
}

TEST(Occupancy, CountsPartialWarpsAsWhole) {
  const Occupancy o = compute_occupancy(*occupancy_limits(13), 33, 1, 0);
  EXPECT_EQ(o.blocks_per_sm, 8);
  EXPECT_EQ(o.warps, 16);
  EXPECT_DOUBLE_EQ(o.fraction, 0.5);
}

TEST(Occupancy, ReportsEveryLimit) {
  const Occupancy o = compute_occupancy(*occupancy_limits(13), 256, 16, 5000);
  EXPECT_EQ(o.blocks_by_blocks, 8);
  EXPECT_EQ(o.blocks_by_warps, 4);
  EXPECT_EQ(o.blocks_by_threads, 4);
  EXPECT_EQ(o.blocks_by_registers, 4);  // 4096 each
  EXPECT_EQ(o.blocks_by_shared, 3);     // 5120 each
  EXPECT_EQ(o.blocks_per_sm, 3);
}

TEST(Occupancy, KnowsOnlyRealCapabilities) {
  EXPECT_FALSE(occupancy_limits(14).has_value());
  EXPECT_EQ(occupancy_limits(90)->shared_bytes, 228 * 1024);
}

}  // namespace
}  // namespace gpusim::isa
