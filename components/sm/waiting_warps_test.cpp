// Warps of a block that wait for each other in memory: they take turns, and long waits are no deadlock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/testing/run_kernel.h"

namespace gpusim::comp {
namespace {

using test::expect_values;
using test::kIndependent;
using test::kOneStack;
using test::launch;
using test::Outcome;
using test::run;
using testing::AllOf;
using testing::HasSubstr;

/// One warp of the block waits for what another one writes, without a barrier.
TEST(FunctionalTurns, WarpsOfABlockThatWaitForEachOtherTakeTurns) {
  const char* const ptx = R"(.version 6.0
.target sm_30
.address_size 64
.visible .entry turns(.param .u64 data)
{
  .reg .u64 %d;
  .reg .u32 %t, %v;
  .reg .pred %p;
  ld.param.u64 %d, [data];
  mov.u32 %t, %tid.x;
  shr.u32 %t, %t, 5;
  xor.b32 %t, %t, 3;
W:
  ld.volatile.global.u32 %v, [%d];
  setp.ne.u32 %p, %v, %t;
  @%p bra W;
  add.u32 %v, %v, 1;
  st.volatile.global.u32 [%d], %v;
  ret;
}
)";
  for (const char* capability : {kOneStack, kIndependent})
    expect_values(ptx, "turns", 1, 128, {4}, {capability});
  // One warp short: the others wait for ever.
  for (const bool functional : {false, true}) {
    const Outcome o = run(ptx, launch("turns", 1, 96), functional, {});
    EXPECT_EQ(o.status, "failed");
    EXPECT_THAT(o.reason, AllOf(HasSubstr("deadlock"), HasSubstr("what no other warp will do")));
  }
}

/// Blocks wait for those behind them in loops that all warps of a block go round together, from barrier to
/// barrier.
TEST(FunctionalTurns, BlocksThatWaitFromBarrierToBarrierTakeTurns) {
  const char* const ptx = R"(.version 6.0
.target sm_30
.address_size 64
.visible .entry backwards(.param .u64 data)
{
  .reg .u64 %d;
  .reg .u32 %t, %turn, %v;
  .reg .pred %p, %q;
  ld.param.u64 %d, [data];
  mov.u32 %t, %tid.x;
  mov.u32 %turn, %nctaid.x;
  mov.u32 %v, %ctaid.x;
  sub.u32 %turn, %turn, %v;
  sub.u32 %turn, %turn, 1;
W:
  ld.volatile.global.u32 %v, [%d];
  setp.eq.u32 %p, %v, %turn;
  bar.red.or.pred %q, 0, %p;
  @!%q bra W;
  setp.ne.u32 %p, %t, 0;
  @%p ret;
  add.u32 %v, %turn, 1;
  st.volatile.global.u32 [%d], %v;
  ret;
}
)";
  for (const char* capability : {kOneStack, kIndependent})
    expect_values(ptx, "backwards", 5, 64, {5}, {capability});
}

/// Blocks wait for those behind them in a loop within a loop, as where each thread looks at all neighbours of
/// a vertex (ECL-MIS). No comparison of two iterations shows that, for they fall on different loops.
TEST(FunctionalTurns, BlocksThatWaitInALoopWithinALoopTakeTurnsSoon) {
  const char* const ptx = R"(.version 6.0
.target sm_30
.address_size 64
.visible .entry nested(.param .u64 data)
{
  .reg .u64 %d;
  .reg .u32 %i, %turn, %v;
  .reg .pred %p;
  ld.param.u64 %d, [data];
  mov.u32 %turn, %nctaid.x;
  mov.u32 %v, %ctaid.x;
  sub.u32 %turn, %turn, %v;
  sub.u32 %turn, %turn, 1;
W:
  mov.u32 %i, 3;
L:
  ld.volatile.global.u32 %v, [%d];
  sub.u32 %i, %i, 1;
  setp.ne.u32 %p, %i, 0;
  @%p bra L;
  setp.ne.u32 %p, %v, %turn;
  @%p bra W;
  add.u32 %v, %turn, 1;
  st.volatile.global.u32 [%d], %v;
  ret;
}
)";
  for (const char* capability : {kOneStack, kIndependent}) {
    SimulationOptions o = test::program(ptx, launch("nested", 12, 32), {capability});
    o.functional = true;
    o.max_cycles = 4'000'000;  // ten times what they need
    const Outcome outcome = test::run_apart(o);
    EXPECT_EQ(outcome.status, "complete") << outcome.reason;
    EXPECT_EQ(outcome.values, test::values_of({12}));
  }
}

/// A kernel that waits for a time need not be followed round its loop; elsewhere an operation is one clock.
TEST(FunctionalTurns, TimeThatIsOnlyWaitedForPassesQuickly) {
  const char* const ptx = R"(.version 6.0
.target sm_30
.address_size 64
.visible .entry delay(.param .u64 data)
{
  .reg .u64 %d, %start, %now;
  .reg .u32 %r, %t;
  .reg .pred %p;
  ld.param.u64 %d, [data];
  mov.u64 %start, %clock64;
W:
  mov.u64 %now, %clock64;
  sub.u64 %now, %now, %start;
  setp.ge.u64 %p, %now, 1099511627776;
  @%p bra DONE;
  mov.u64 %now, %clock64;
  sub.u64 %now, %now, %start;
  setp.lt.u64 %p, %now, 1099511627776;
  @%p bra W;
DONE:
  ld.volatile.global.u32 %r, [%d];
  mov.u64 %start, %clock64;
  mov.u64 %now, %clock64;
  sub.u64 %now, %now, %start;
  cvt.u32.u64 %t, %now;
  st.global.u32 [%d], %t;
  ret;
}
)";
  const Outcome o = run(ptx, launch("delay", 2, 64), true, {});
  EXPECT_EQ(o.status, "complete") << o.reason;
  EXPECT_EQ(o.values, test::values_of({1}));
}

/// The warp sleeps as long as that of its lanes that asks for the longest time, at most a millisecond, and
/// not at all if no lane does.
TEST(Sleep, TakesTheTimeThatIsAskedFor) {
  const char* const ptx = R"(.version 6.3
.target sm_70
.address_size 64
.visible .entry sleep(.param .u64 data)
{
  .reg .u64 %d, %start, %now;
  .reg .u32 %lane, %t;
  .reg .pred %p;
  ld.param.u64 %d, [data];
  mov.u32 %lane, %tid.x;
  mul.lo.u32 %t, %lane, 1000;
  setp.gt.u32 %p, %lane, 31;
  mov.u64 %start, %globaltimer;
  nanosleep.u32 %t;
  mov.u64 %now, %globaltimer;
  sub.u64 %now, %now, %start;
  div.u64 %now, %now, 1000;
  st.global.u64 [%d], %now;
  mov.u64 %start, %globaltimer;
  @%p nanosleep.u32 500000;
  mov.u64 %now, %globaltimer;
  sub.u64 %now, %now, %start;
  div.u64 %now, %now, 1000;
  st.global.u64 [%d+8], %now;
  mov.u64 %start, %globaltimer;
  nanosleep.u32 4000000000;
  mov.u64 %now, %globaltimer;
  sub.u64 %now, %now, %start;
  div.u64 %now, %now, 1000;
  st.global.u64 [%d+16], %now;
  ret;
}
)";
  const Outcome o = run(ptx, launch("sleep", 1, 32), false, {kIndependent});
  EXPECT_EQ(o.status, "complete") << o.reason;
  EXPECT_EQ(o.values, test::values_of({31, 0, 0, 0, 1000, 0}));
}

/// Two warps take 2000 turns; what they count is in memory, and in their waiting loops they look the same
/// every time.
constexpr const char* kPingPong = R"(.version 6.0
.target sm_30
.address_size 64
.visible .entry ping_pong(.param .u64 data)
{
  .reg .u64 %d;
  .reg .u32 %me, %other, %v;
  .reg .pred %p;
  ld.param.u64 %d, [data];
  mov.u32 %me, %tid.x;
  shr.u32 %me, %me, 5;
  xor.b32 %other, %me, 1;
TURN:
  ld.volatile.global.u32 %v, [%d];
  setp.ne.u32 %p, %v, %me;
  @%p bra TURN;
  ld.volatile.global.u32 %v, [%d+4];
  add.u32 %v, %v, 1;
  st.volatile.global.u32 [%d+4], %v;
  st.volatile.global.u32 [%d], %other;
  setp.lt.u32 %p, %v, 2000;
  @%p bra TURN;
  ret;
}
)";

TEST(Deadlocks, WarpsThatWaitForLongButMoveAreNone) {
  expect_values(kPingPong, "ping_pong", 1, 64, {1, 2001}, {});
}

}  // namespace
}  // namespace gpusim::comp
