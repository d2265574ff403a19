// Programs whose lanes wait for each other: they finish where lanes are scheduled independently (compute
// capability 7 and later), in cycles and with values only; below, the deadlock is reported with both places.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "components/testing/run_kernel.h"

namespace gpusim::comp {
namespace {

using test::expect_values;
using test::kIndependent;
using test::launch;
using test::Outcome;
using test::run;
using testing::AllOf;
using testing::HasSubstr;

/// Every thread takes the lock at [data], adds 1 to [data+4] without atomics, and gives it back.
constexpr const char* kLock = R"(.version 6.0
.target sm_70
.address_size 64
.visible .entry lock(.param .u64 data)
{
  .reg .u64 %d;
  .reg .u32 %old, %n;
  .reg .pred %p;
  ld.param.u64 %d, [data];
TRY:
  atom.global.cas.b32 %old, [%d], 0, 1;
  setp.ne.u32 %p, %old, 0;
  @%p bra TRY;
  ld.volatile.global.u32 %n, [%d+4];
  add.u32 %n, %n, 1;
  st.volatile.global.u32 [%d+4], %n;
  membar.gl;
  atom.global.exch.b32 %old, [%d], 0;
  ret;
}
)";

TEST(IndependentThreads, EveryLaneGetsASpinLock) { expect_values(kLock, "lock", 3, 96, {0, 288}); }

TEST(IndependentThreads, BelowSeventyASpinLockIsASimtDeadlock) {
  for (const bool functional : {false, true}) {
    const Outcome o = run(kLock, launch("lock", 1, 32), functional, {});
    EXPECT_EQ(o.status, "failed");
    EXPECT_THAT(o.reason,
                AllOf(HasSubstr("SIMT deadlock"), HasSubstr("PTX line 1"), HasSubstr("lanes 0xfffffffe"),
                      HasSubstr("lanes 0x00000001"), HasSubstr("line 14 `ld.volatile.global.u32")));
  }
}

TEST(IndependentThreads, OneLaneAloneGetsTheLockOnAnyMachine) {
  for (const bool functional : {false, true})
    EXPECT_EQ(run(kLock, launch("lock", 5, 1), functional, {}).status, "complete");
}

/// Lane 0 waits for what lane 1 writes in the other branch of the same `if`, whichever side runs first.
std::string handshake(const char* load, bool producer_taken) {
  return fmt::format(R"(.version 6.0
.target sm_70
.address_size 64
.visible .entry handshake(.param .u64 data)
{{
  .reg .u64 %d;
  .reg .u32 %t, %v;
  .reg .pred %p, %q;
  ld.param.u64 %d, [data];
  mov.u32 %t, %tid.x;
  setp.{}.u32 %p, %t, 0;
  @%p bra B;
  {}
  bra END;
B:
  {}
END:
  atom.global.add.u32 %v, [%d+8], 1;
  ret;
}}
)",
                     producer_taken ? "ne" : "eq",
                     producer_taken ? fmt::format("W: {} %v, [%d]; setp.eq.u32 %q, %v, 0; @%q bra W; "
                                                  "st.global.u32 [%d+4], %v;",
                                                  load)
                                    : "st.volatile.global.u32 [%d], 7;",
                     producer_taken ? "st.volatile.global.u32 [%d], 7;"
                                    : fmt::format("W: {} %v, [%d]; setp.eq.u32 %q, %v, 0; @%q bra W; "
                                                  "st.global.u32 [%d+4], %v;",
                                                  load));
}

TEST(IndependentThreads, AConsumerWaitsForAProducerOfItsWarp) {
  for (const bool producer_taken : {false, true})
    for (const char* load : {"ld.volatile.global.u32", "ld.global.u32"})
      expect_values(handshake(load, producer_taken), "handshake", 1, 32, {7, 7, 32});
}

TEST(IndependentThreads, BelowSeventyTheConsumerStarvesTheProducer) {
  const Outcome o = run(handshake("ld.volatile.global.u32", true), launch("handshake", 1, 32), false, {});
  EXPECT_EQ(o.status, "failed");
  EXPECT_THAT(o.reason, AllOf(HasSubstr("SIMT deadlock"), HasSubstr("lanes 0x00000001 go round")));
}

/// The lower half of a warp comes to its barriers from another branch than the upper one.
constexpr const char* kBranches = R"(.version 6.0
.target sm_70
.address_size 64
.visible .entry branches(.param .u64 data)
{
  .reg .u64 %d, %a;
  .reg .u32 %t, %v, %w;
  .reg .pred %p;
  .shared .u32 tile[64];
  .reg .u32 %s;
  ld.param.u64 %d, [data];
  mov.u32 %t, %tid.x;
  shl.b32 %s, %t, 2;
  mov.u32 %w, tile;
  add.u32 %s, %s, %w;
  setp.lt.u32 %p, %t, 16;
  @%p bra LOW;
  st.shared.u32 [%s], 1;
  bar.warp.sync 0xffffffff;
  ld.shared.u32 %v, [%s+-64];
  bar.sync 0;
  bra END;
LOW:
  st.shared.u32 [%s], 2;
  bar.warp.sync 0xffffffff;
  ld.shared.u32 %v, [%s+64];
  bar.sync 0;
END:
  shfl.sync.bfly.b32 %w, %v, 16, 31, 0xffffffff;
  mad.lo.u32 %v, %v, 10, %w;
  mul.wide.u32 %a, %t, 4;
  add.u64 %a, %d, %a;
  st.global.u32 [%a], %v;
  ret;
}
)";

TEST(IndependentThreads, BranchesMeetAtDifferentBarriers) {
  std::vector<uint32_t> expected(32, 21);
  std::fill(expected.begin(), expected.begin() + 16, 12);
  expect_values(kBranches, "branches", 1, 32, expected);
}

/// Lanes leave a loop after different numbers of iterations; each iteration is a vote among all that are
/// still in it.
constexpr const char* kVotes = R"(.version 6.2
.target sm_70
.address_size 64
.visible .entry votes(.param .u64 data)
{
  .reg .u64 %d, %a;
  .reg .u32 %t, %i, %m, %b, %sum;
  .reg .pred %p, %q;
  ld.param.u64 %d, [data];
  mov.u32 %t, %tid.x;
  mov.u32 %i, 0;
  mov.u32 %sum, 0;
LAP:
  activemask.b32 %m;
  vote.sync.ballot.b32 %b, 1, %m;
  popc.b32 %b, %b;
  add.u32 %sum, %sum, %b;
  add.u32 %i, %i, 1;
  setp.le.u32 %p, %i, %t;
  @%p bra LAP;
  mul.wide.u32 %a, %t, 4;
  add.u64 %a, %d, %a;
  st.global.u32 [%a], %sum;
  ret;
}
)";

TEST(IndependentThreads, LanesThatLeaveALoopDoNotBreakItUp) {
  std::vector<uint32_t> expected(32);
  uint32_t sum = 0;
  for (uint32_t t = 0; t < 32; ++t) expected[t] = sum += 32 - t;
  expect_values(kVotes, "votes", 1, 32, expected);
}

/// Sums over halves of a warp with a member mask of all lanes: the upper half goes round its loop twice, the
/// lower one once, so that they stand at different .sync operations for a while.
constexpr const char* kHalves = R"(.version 6.0
.target sm_70
.address_size 64
.visible .entry halves(.param .u64 data)
{
  .reg .u64 %d, %a;
  .reg .u32 %t, %v, %s, %i, %n;
  .reg .pred %p, %q;
  ld.param.u64 %d, [data];
  mov.u32 %t, %tid.x;
  setp.ge.u32 %p, %t, 16;
  selp.u32 %n, 2, 1, %p;
  mov.u32 %s, %t;
  mov.u32 %i, 0;
LOOP:
  shfl.sync.bfly.b32 %v, %s, 8, 0x101f, 0xffffffff;
  add.u32 %s, %s, %v;
  add.u32 %i, %i, 1;
  setp.lt.u32 %q, %i, %n;
  @%q bra LOOP;
  shfl.sync.idx.b32 %v, %s, 0, 0x101f, 0xffffffff;
  setp.eq.u32 %p, %t, 0;
  @%p st.global.u32 [%d], %v;
  setp.eq.u32 %p, %t, 31;
  @%p st.global.u32 [%d+4], %v;
  ret;
}
)";

TEST(IndependentThreads, PartsOfAWarpAtDifferentSyncOperationsGoOnByThemselves) {
  expect_values(kHalves, "halves", 1, 32, {0 + 8, 2 * (16 + 24)});
}

TEST(IndependentThreads, AMemberThatNeverComesIsNamed) {
  const char* const ptx = R"(.version 6.0
.target sm_70
.address_size 64
.visible .entry alone(.param .u64 data)
{
  .reg .u32 %t, %v;
  .reg .pred %p;
  mov.u32 %t, %tid.x;
  setp.lt.u32 %p, %t, 4;
  @%p bra LOW;
  shfl.sync.idx.b32 %v, %t, 0, 31, 0xffffffff;
  ret;
LOW:
  bar.sync 0;
  ret;
}
)";
  for (const bool functional : {false, true}) {
    const Outcome o = run(ptx, launch("alone", 1, 32), functional, {kIndependent});
    EXPECT_EQ(o.status, "failed");
    EXPECT_THAT(o.reason, AllOf(HasSubstr("deadlock"), HasSubstr("line 11 `shfl.sync"),
                                HasSubstr(".sync operation"), HasSubstr("0x0000000f")));
  }
}

/// The upper half of the warp waits for the lower one and comes to the product later: ones times ones.
constexpr const char* kProduct = R"(.version 6.4
.target sm_70
.address_size 64
.visible .entry product(.param .u64 data)
{
  .reg .u64 %d, %a;
  .reg .u32 %t, %v;
  .reg .b32 %x, %c<4>;
  .reg .pred %p, %q;
  .shared .u32 flag;
  ld.param.u64 %d, [data];
  mov.u32 %t, %tid.x;
  mov.b32 %x, 0x3c003c00;
  mov.b32 %c0, 0;
  setp.lt.u32 %p, %t, 16;
  @%p bra SET;
WAIT:
  ld.volatile.shared.u32 %v, [flag];
  setp.eq.u32 %q, %v, 0;
  @%q bra WAIT;
  bra MULTIPLY;
SET:
  st.volatile.shared.u32 [flag], 1;
MULTIPLY:
  wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 {%c0, %c1, %c2, %c3}, {%x, %x, %x, %x, %x, %x, %x, %x},
      {%x, %x, %x, %x, %x, %x, %x, %x}, {%c0, %c0, %c0, %c0};
  mul.wide.u32 %a, %t, 4;
  add.u64 %a, %d, %a;
  st.global.u32 [%a], %c3;
  ret;
}
)";

TEST(IndependentThreads, AMatrixOperationWaitsForTheWholeWarp) {
  expect_values(kProduct, "product", 1, 32, std::vector<uint32_t>(32, 0x4c004c00));
}

/// The lower half of a warp waits in a loop whose branch back is a table; warp 1 counts its iterations while
/// it waits for warp 0.
constexpr const char* kOtherLoops = R"(.version 6.0
.target sm_70
.address_size 64
.visible .entry other_loops(.param .u64 data)
{
  .reg .u64 %d;
  .reg .u32 %t, %v, %laps;
  .reg .pred %p;
  ld.param.u64 %d, [data];
  mov.u32 %t, %tid.x;
  mov.u32 %laps, 0;
  setp.ge.u32 %p, %t, 32;
  @%p bra COUNT;
  setp.ge.u32 %p, %t, 16;
  @%p bra GIVE;
  targets: .branchtargets TABLE, TAKEN;
TABLE:
  ld.volatile.global.u32 %v, [%d];
  brx.idx %v, targets;
TAKEN:
  atom.global.add.u32 %v, [%d+4], 1;
  ret;
GIVE:
  st.volatile.global.u32 [%d], 1;
  ret;
COUNT:
  ld.volatile.global.u32 %v, [%d+4];
  add.u32 %laps, %laps, 1;
  setp.ne.u32 %p, %v, 16;
  @%p bra COUNT;
  min.u32 %laps, %laps, 1;
  st.global.u32 [%d+8], %laps;
  ret;
}
)";

TEST(IndependentThreads, LoopsThroughATableAndLoopsThatCountLetOthersGoFirst) {
  expect_values(kOtherLoops, "other_loops", 1, 64, {1, 16, 1});
}

}  // namespace
}  // namespace gpusim::comp
