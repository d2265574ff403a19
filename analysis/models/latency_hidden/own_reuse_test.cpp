// Loads that go where their warp, or another at an operation before, has been.
#include "analysis/models/latency_hidden/own_reuse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/models/latency_hidden/testing.h"

namespace gpusim::analysis::latency_hidden {
namespace {

constexpr double kSector = 32;

/// A loop of eight iterations around `body`, whose addresses begin at %r1 (a row of the thread) and %r2 (a
/// column of the thread); %r3 is a parameter.
Code loop(const std::string& body, uint64_t grid_y = 4) {
  const std::string text = R"(
.version 1.4
.target sm_13
.entry k (.param .u32 p, .param .u32 q, .param .u32 pitch)
{
.reg .u32 %r<20>;
.reg .u16 %h<4>;
.reg .f32 %f<9>;
.reg .pred %p<3>;
ld.param.u32 %r3, [pitch];
mov.u16 %h1, %ctaid.y;
cvt.u32.u16 %r4, %h1;
cvt.u32.u16 %r5, %tid.x;
mul.lo.u32 %r6, %r4, %r3;
ld.param.u32 %r7, [p];
ld.param.u32 %r8, [q];
add.u32 %r1, %r7, %r6;
shl.b32 %r9, %r5, 2;
add.u32 %r2, %r8, %r9;
mov.u32 %r10, 0;
mov.f32 %f1, 0f00000000;
LOOP:
)" + body + R"(
add.u32 %r10, %r10, 1;
setp.ne.u32 %p1, %r10, 8;
@%p1 bra LOOP;
st.global.f32 [%r2+0], %f1;
exit;
}
)";
  const auto line_of = [&](const char* what) {
    return static_cast<uint32_t>(
               std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(text.find(what)), '\n')) +
           1;
  };
  const uint32_t first = line_of("LOOP:"), last = line_of("@%p1");
  Code code = test::code_of(text, [=](uint32_t line) { return line >= first && line <= last ? 8.0 : 1.0; });
  code.shape.blocks = grid_y;
  code.shape.grid = {1, grid_y, 1};
  code.shape.block = {64, 1, 1};
  code.shape.warps_per_block = 2;
  code.shape.threads_per_block = 64;
  return code;
}

/// What is fresh in the second iteration, load by load.
std::vector<double> fresh_of(const OwnReuse& reuse, size_t loads) {
  std::vector<double> fresh;
  for (size_t i = loads; i < 2 * loads; ++i) fresh.push_back(reuse.visits.at(i).fresh);
  return fresh;
}

TEST(OwnReuse, ARowThatIsWalkedWordByWordIsNewOnceInASector) {
  const OwnReuse reuse =
      own_reuse(loop("ld.global.f32 %f2, [%r1+0];\nadd.f32 %f1, %f1, %f2;\nadd.u32 %r1, %r1, 4;"), kSector);
  EXPECT_THAT(fresh_of(reuse, 1), testing::ElementsAre(0.125));
  EXPECT_DOUBLE_EQ(reuse.visits.front().fresh, 1);
}

TEST(OwnReuse, AColumnIsNewEachTime) {
  const OwnReuse reuse =
      own_reuse(loop("ld.global.f32 %f2, [%r2+0];\nadd.f32 %f1, %f1, %f2;\nadd.u32 %r2, %r2, %r3;"), kSector);
  EXPECT_THAT(fresh_of(reuse, 1), testing::ElementsAre(1));
  EXPECT_DOUBLE_EQ(reuse.reused, 0);
}

TEST(OwnReuse, NeighboursOfOneIterationRideAlong) {
  const OwnReuse reuse = own_reuse(loop("ld.global.f32 %f2, [%r2+0];\nld.global.f32 %f3, [%r2+0];\nadd.f32 "
                                        "%f1, %f1, %f2;\nadd.f32 %f1, %f1, %f3;\nadd.u32 %r2, %r2, %r3;"),
                                   kSector);
  EXPECT_GT(reuse.riding, 0);
  EXPECT_DOUBLE_EQ(reuse.reused, 0);
}

TEST(OwnReuse, WhatAllBlocksReadAtOneOperationCountsOnce) {
  // A row of the block for each of four blocks; a column that all of them have, for each of two warps.
  const OwnReuse rows =
      own_reuse(loop("ld.global.f32 %f2, [%r1+0];\nadd.f32 %f1, %f1, %f2;\nadd.u32 %r1, %r1, 128;"), kSector);
  const OwnReuse columns =
      own_reuse(loop("ld.global.f32 %f2, [%r2+0];\nadd.f32 %f1, %f1, %f2;\nadd.u32 %r2, %r2, %r3;"), kSector);
  const double row = rows.distinct.at(1), column = columns.distinct.at(1);
  // Both warps of a block have it, and both transactions of an access are of one place.
  EXPECT_DOUBLE_EQ(row, 8 * 64 / 2.0);
  EXPECT_DOUBLE_EQ(column, 8 * 128 / 4.0);  // and of four blocks
}

TEST(OwnReuse, AnotherBlocksRowIsNotNewToAll) {
  const std::string body =
      "ld.global.f32 %f2, [%r1+0];\nadd.u32 %r11, %r1, %r3;\nld.global.f32 %f3, [%r11+0];\nadd.f32 %f1, %f1, "
      "%f2;\n"
      "add.f32 %f1, %f1, %f3;\nadd.u32 %r1, %r1, 128;";
  const OwnReuse four = own_reuse(loop(body), kSector);
  EXPECT_DOUBLE_EQ(four.visits.at(3).fresh, 1);
  EXPECT_DOUBLE_EQ(four.visits.at(3).first, 0);
  // There is no other block.
  const OwnReuse one = own_reuse(loop(body, 1), kSector);
  EXPECT_DOUBLE_EQ(one.visits.at(3).first, 1);
}

TEST(OwnReuse, WhereDataSayWhereTheCodeDoesNot) {
  const OwnReuse reuse = own_reuse(loop("ld.global.u32 %r12, [%r2+0];\nld.global.f32 %f2, [%r12+0];\nadd.f32 "
                                        "%f1, %f1, %f2;\nadd.u32 %r2, %r2, %r3;"),
                                   kSector);
  EXPECT_TRUE(reuse.visits.at(0).computed);
  EXPECT_FALSE(reuse.visits.at(1).computed);
  EXPECT_DOUBLE_EQ(reuse.by_data, 8 * 128);
}

TEST(OwnReuse, DataThatAllLanesHaveKeepThemTogether) {
  // Where a diagonal begins is in memory; lanes go along it side by side.
  const OwnReuse reuse = own_reuse(loop("ld.global.u32 %r12, [%r1+0];\nadd.u32 %r13, %r12, %r2;\n"
                                        "ld.global.f32 %f2, [%r13+0];\nadd.f32 %f1, %f1, %f2;\n"
                                        "add.u32 %r1, %r1, 4;"),
                                   kSector);
  EXPECT_TRUE(reuse.visits.at(0).alike);
  EXPECT_TRUE(reuse.visits.at(1).computed);
  EXPECT_FALSE(reuse.visits.at(1).alike);
  EXPECT_DOUBLE_EQ(reuse.by_data, 0);
}

TEST(OwnReuse, NothingIsKnownOfAChainOfPointers) {
  const OwnReuse reuse = own_reuse(loop("ld.global.u32 %r1, [%r1+0];\nadd.u32 %r2, %r2, %r1;"), kSector);
  for (size_t i = 1; i < reuse.visits.size(); ++i) EXPECT_FALSE(reuse.visits[i].computed) << i;
}

TEST(OwnReuse, ReuseIsToldByHowManyLoadsLieBetween) {
  const OwnReuse reuse = own_reuse(loop("ld.global.f32 %f2, [%r1+0];\nadd.f32 %f1, %f1, %f2;\n"
                                        "ld.global.f32 %f3, [%r2+0];\nadd.f32 %f1, %f1, %f3;\n"
                                        "add.u32 %r1, %r1, 4;\nadd.u32 %r2, %r2, %r3;"),
                                   kSector);
  EXPECT_EQ(reuse.visits.at(2).since, 2u);
  ASSERT_EQ(reuse.reused_since.size(), 1u);
  EXPECT_DOUBLE_EQ(reuse.reused_since.at(2), reuse.reused);
}

}  // namespace
}  // namespace gpusim::analysis::latency_hidden
