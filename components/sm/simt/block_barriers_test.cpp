#include "components/sm/simt/block_barriers.h"

#include <gtest/gtest.h>

#include <array>

namespace gpusim::comp {
namespace {

using isa::BarrierAction;
using isa::LaneMask;
using isa::MicroOp;

BarrierRequest request(uint32_t number, uint32_t threads, LaneMask lanes, LaneMask alive,
                       BarrierAction action = BarrierAction::kSync) {
  BarrierRequest r;
  r.action = action;
  r.number = number;
  r.threads = threads;
  r.lanes = r.arriving = lanes;
  r.alive = alive;
  return r;
}

TEST(BlockBarriers, AllLiveThreadsOpenOne) {
  BlockBarriers b;
  EXPECT_FALSE(b.complete(0, 0)) << "nobody is there";
  b.arrive(request(0, 0, LaneMask::all(), LaneMask::all()), 0);
  EXPECT_FALSE(b.complete(0, 40));
  b.arrive(request(0, 0, LaneMask::first(8), LaneMask::first(8)), 1);
  EXPECT_TRUE(b.complete(0, 40));
  EXPECT_FALSE(b.complete(1, 40));
  EXPECT_EQ(b.open(0).warps, 3u);
  EXPECT_FALSE(b.complete(0, 40));
}

TEST(BlockBarriers, AnExplicitCountIsInWholeWarps) {
  BlockBarriers b;
  b.arrive(request(2, 64, LaneMask::all(), LaneMask::all()), 5);
  b.arrive(request(2, 64, LaneMask(0xf), LaneMask::first(12)), 7);
  EXPECT_FALSE(b.complete(2, 1000)) << "four lanes of a warp that has more";
  BlockBarriers others = b, parts = b, exits = b;
  others.arrive(request(2, 64, LaneMask::first(8), LaneMask::first(8)), 6);
  EXPECT_TRUE(others.complete(2, 1000)) << "a last warp of eight threads counts as 32";
  parts.arrive(request(2, 64, LaneMask(0xf0), LaneMask::first(12)), 7);
  EXPECT_FALSE(parts.complete(2, 1000)) << "four lanes are still missing";
  parts.arrive(request(2, 64, LaneMask(0xf00), LaneMask::first(12)), 7);
  EXPECT_TRUE(parts.complete(2, 1000)) << "a warp that comes in parts";
  exits.leave(6, LaneMask());
  EXPECT_FALSE(exits.complete(2, 1000)) << "another warp's lanes";
  exits.leave(7, LaneMask(0xf));
  EXPECT_TRUE(exits.complete(2, 1000)) << "the missing lanes have left";
}

TEST(BlockBarriers, WhoArrivesWithoutWaitingIsCountedOnly) {
  BlockBarriers b;
  b.arrive(request(1, 64, LaneMask::all(), LaneMask::all(), BarrierAction::kArrive), 0);
  b.arrive(request(1, 64, LaneMask::all(), LaneMask::all()), 1);
  EXPECT_TRUE(b.complete(1, 128));
  EXPECT_EQ(b.open(1).warps, 2u);
}

/// A warp with two rows (0: numbers, 1: counts or results) and two predicates.
struct Operands {
  alignas(64) std::array<uint32_t, 64> rows{};
  std::array<uint32_t, 2> predicates{};
  isa::WarpContext context;
  MicroOp op;
  Operands() {
    context.bank[0] = reinterpret_cast<std::byte*>(rows.data());
    context.predicates = predicates.data();
    op.kind = isa::OpKind::kBarrier;
  }
};

TEST(BlockBarriers, OperandsComeFromRegisters) {
  Operands o;
  o.op.imm = isa::kBarrierNumberInSource | isa::kBarrierHasCount;
  o.op.num_src = 2;
  o.op.src[1].offset = 128;
  o.rows.fill(9);
  o.rows[32 + 4] = 96;
  BarrierRequest r;
  EXPECT_EQ(read_barrier_request(o.op, o.context, LaneMask(0xf0), LaneMask(0xf0), true, r), "");
  EXPECT_EQ(r.number, 9u);
  EXPECT_EQ(r.threads, 96u);
  EXPECT_EQ(r.arriving, r.alive);
  o.rows[5] = 8;
  EXPECT_EQ(read_barrier_request(o.op, o.context, LaneMask(0xf0), LaneMask::all(), true, r),
            "lanes of one warp name barriers 9 and 8");
  EXPECT_EQ(r.arriving, LaneMask(0xf0));
  EXPECT_EQ(read_barrier_request(o.op, o.context, LaneMask(0x10), LaneMask::all(), true, r), "");
  o.rows[4] = 16;
  EXPECT_EQ(read_barrier_request(o.op, o.context, LaneMask(0xf0), LaneMask::all(), true, r),
            "barrier 16 does not exist, expected 0 to 15");
}

TEST(BlockBarriers, FourWarpsThatMultiplyTogetherHaveTheirOwn) {
  Operands o;
  o.op.imm = isa::kBarrierOfWarpgroup;
  o.context.warps_in_block = 10;
  BlockBarriers b;
  BarrierRequest r;
  for (const uint32_t warp : {4u, 6u, 1u, 5u, 7u}) {
    EXPECT_FALSE(b.complete(isa::kFirstWarpgroupBarrier + 1, 320));
    o.context.warp_in_block = warp;
    EXPECT_EQ(read_barrier_request(o.op, o.context, LaneMask::all(), LaneMask::all(), true, r), "");
    EXPECT_EQ(r.number, isa::kFirstWarpgroupBarrier + warp / 4);
    EXPECT_EQ(r.threads, 128u);
    b.arrive(r, warp);
  }
  EXPECT_TRUE(b.complete(isa::kFirstWarpgroupBarrier + 1, 320));
  EXPECT_FALSE(b.complete(isa::kFirstWarpgroupBarrier, 320)) << "warp 1 alone";
  EXPECT_EQ(b.open(isa::kFirstWarpgroupBarrier + 1).warps, 0xf0u);
  o.context.warp_in_block = 9;
  EXPECT_EQ(read_barrier_request(o.op, o.context, LaneMask::all(), LaneMask::all(), true, r), "");
  EXPECT_EQ(r.threads, 64u) << "the last group of this block has two warps";
}

TEST(BlockBarriers, BelowSevenOneLaneArrivesForItsWarp) {
  Operands o;
  BarrierRequest r;
  EXPECT_EQ(read_barrier_request(o.op, o.context, LaneMask(0xf0), LaneMask::first(20), false, r), "");
  EXPECT_EQ(r.lanes, LaneMask(0xf0));
  BlockBarriers b;
  b.arrive(r, 0);
  EXPECT_FALSE(b.complete(0, 21));
  EXPECT_TRUE(b.complete(0, 20));
}

/// Two warps reduce; lanes of the first hold `a`, of the second (negated) predicate `b`.
BlockBarriers::Opened reduce(BarrierAction action, uint32_t a, uint32_t b) {
  BlockBarriers barriers;
  Operands o;
  o.op.modifiers = static_cast<uint8_t>(action);
  o.op.pred_src[0] = 1;
  BarrierRequest r;
  o.predicates[1] = a;
  EXPECT_EQ(read_barrier_request(o.op, o.context, LaneMask::all(), LaneMask::all(), true, r), "");
  barriers.arrive(r, 0);
  o.predicates[1] = ~b;
  o.op.pred_negated[0] = true;
  EXPECT_EQ(read_barrier_request(o.op, o.context, LaneMask::first(8), LaneMask::first(8), true, r), "");
  barriers.arrive(r, 1);
  EXPECT_TRUE(barriers.complete(0, 40));
  return barriers.open(0);
}

TEST(BlockBarriers, ReductionsCountThreads) {
  const BlockBarriers::Opened opened = reduce(BarrierAction::kRedPopc, 0xf0f, 0xffffff3c);
  EXPECT_EQ(opened.holding, 12u);
  EXPECT_EQ(opened.lacking, 28u);
  Operands o;
  o.op.modifiers = static_cast<uint8_t>(BarrierAction::kRedPopc);
  o.op.num_dst = 1;
  write_barrier_result(o.op, o.context, LaneMask(5), opened);
  EXPECT_EQ(o.rows[0], 12u);
  EXPECT_EQ(o.rows[1], 0u);
  EXPECT_EQ(o.rows[2], 12u);
}

TEST(BlockBarriers, AndAndOrSetPredicatesOfTheLanesThatWaited) {
  struct Case {
    BarrierAction action;
    uint32_t a, b;
    bool result;
  };
  for (const Case& c :
       {Case{BarrierAction::kRedAnd, ~0u, 0xff, true}, Case{BarrierAction::kRedAnd, ~0u, 0xfe, false},
        Case{BarrierAction::kRedOr, 0, 0, false}, Case{BarrierAction::kRedOr, 0, 0x80, true},
        Case{BarrierAction::kRedOr, 0, 0x100, false}}) {
    const BlockBarriers::Opened opened = reduce(c.action, c.a, c.b);
    Operands o;
    o.op.modifiers = static_cast<uint8_t>(c.action);
    o.op.pred_dst[0] = 0;
    o.predicates[0] = c.result ? 0 : ~0u;
    write_barrier_result(o.op, o.context, LaneMask(0xf0), opened);
    EXPECT_EQ(o.predicates[0], c.result ? 0xf0u : ~0xf0u);
  }
}

}  // namespace
}  // namespace gpusim::comp
