#include "components/sm/dependences.h"

#include <gtest/gtest.h>

namespace gpusim::comp {

/// Two operations: the first writes register 1, the second reads it.
struct TwoOperations {
  isa::KernelImage image;
  KernelLaunch run;
  TwoOperations() {
    image.num_rows = 4;
    image.ops.resize(2);
    image.ops[0].num_sb_writes = 1;
    image.ops[0].sb_writes[0] = 1;
    image.ops[1].num_sb_reads = 1;
    image.ops[1].sb_reads[0] = 1;
    run.image = &image;
  }
  [[nodiscard]] const isa::MicroOp& writer() const { return image.ops[0]; }
  [[nodiscard]] const isa::MicroOp& reader() const { return image.ops[1]; }
};

TEST(Dependences, ScoreboardHoldsTheReaderUntilTheResult) {
  TwoOperations two;
  Dependences d(core::Dependences::kScoreboard);
  d.configure(two.image);
  d.reset_warp(3);
  EXPECT_EQ(d.wait_of(3, two.run, two.reader()).cycle, 0u);
  d.ready_at(3, two.run, two.writer(), 120, StallCause::kAluDependency);
  EXPECT_EQ(d.wait_of(3, two.run, two.reader()).cycle, 120u);
  EXPECT_EQ(d.wait_of(2, two.run, two.reader()).cycle, 0u) << "another warp";
  d.pending(3, two.run, two.writer(), 7);
  EXPECT_TRUE(d.wait_of(3, two.run, two.reader()).pending);
  EXPECT_EQ(d.wait_of(3, two.run, two.reader()).load, 7u);
  d.complete(3, two.writer(), 7, 500, StallCause::kDram);
  const Scoreboard::Wait wait = d.wait_of(3, two.run, two.reader());
  EXPECT_FALSE(wait.pending);
  EXPECT_EQ(wait.cycle, 500u);
  EXPECT_EQ(wait.cause, StallCause::kDram);
  EXPECT_EQ(d.stall_after(two.run, two.writer()), 0u) << "a scoreboard needs no stall counts";
}

TEST(Dependences, ControlCodesHoldTheReaderByItsBarrier) {
  TwoOperations two;
  two.image.ops[1].num_sb_reads = 0;  // nothing that the scoreboard would know of
  two.run.codes.resize(2);
  two.run.codes[0] = {.stall = 2, .sets = 4, .waits = 0};
  two.run.codes[1] = {.stall = 1, .sets = ControlCode::kNoBarrier, .waits = 1u << 4};
  Dependences d(core::Dependences::kControlCodes);
  d.configure(two.image);
  d.reset_warp(0);
  EXPECT_EQ(d.stall_after(two.run, two.writer()), 2u);
  d.pending(0, two.run, two.writer(), 9);
  EXPECT_TRUE(d.wait_of(0, two.run, two.reader()).pending);
  EXPECT_EQ(d.wait_of(0, two.run, two.reader()).load, 9u);
  d.complete(0, two.writer(), 9, 640, StallCause::kL2);
  const Scoreboard::Wait wait = d.wait_of(0, two.run, two.reader());
  EXPECT_FALSE(wait.pending);
  EXPECT_EQ(wait.cycle, 640u);
  EXPECT_EQ(wait.cause, StallCause::kL2);
  d.issued(0);
  two.run.codes[1].waits = 0;
  EXPECT_EQ(d.wait_of(0, two.run, two.reader()).cycle, 0u) << "what it waited for is forgotten at issue";
}

TEST(Dependences, AWarpWithAsManyLoadsAsItMayHaveWaitsForTheOldest) {
  for (const core::Dependences kind : {core::Dependences::kScoreboard, core::Dependences::kControlCodes}) {
    TwoOperations two;
    two.run.codes.resize(2);
    two.run.codes[0] = two.run.codes[1] = {.stall = 1, .sets = ControlCode::kNoBarrier, .waits = 0};
    isa::MicroOp load, other;
    load.op_class = isa::OpClass::kLoadGlobal;
    two.image.ops = {load, other};
    const isa::MicroOp& loads = two.image.ops[0];
    Dependences d(kind, 2);
    d.configure(two.image);
    d.reset_warp(5);
    d.pending(5, two.run, loads, 30);
    EXPECT_FALSE(d.wait_of(5, two.run, loads).pending);
    d.pending(5, two.run, loads, 12);
    EXPECT_TRUE(d.wait_of(5, two.run, loads).pending);
    EXPECT_EQ(d.wait_of(5, two.run, loads).load, 30u) << "the oldest, not the lowest record";
    EXPECT_FALSE(d.wait_of(5, two.run, two.image.ops[1]).pending) << "no load";
    EXPECT_FALSE(d.wait_of(4, two.run, loads).pending) << "another warp";
    d.complete(5, loads, 12, 300, StallCause::kL2);
    EXPECT_FALSE(d.wait_of(5, two.run, loads).pending) << "one is back, whichever";
    d.pending(5, two.run, loads, 13);
    d.reset_warp(5);
    EXPECT_FALSE(d.wait_of(5, two.run, loads).pending) << "another block's warp";
  }
}

}  // namespace gpusim::comp
