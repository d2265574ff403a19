// Programs whose lanes wait for each other: they finish where lanes are scheduled independently (compute
// capability 7 and later), in cycles and with values only; below, the deadlock is reported with both places.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/testing/run_program.h"

namespace gpusim::comp {
namespace {

using test::Outcome;
using test::program;
using test::run_apart;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kIndependent = "gpu.compute_capability=7.0";

std::string launch(const std::string& kernel, int blocks, int threads) {
  return fmt::format(R"(
[[buffer]]
name = "data"
type = "u32"
count = 64
init = "zeros"
[[launch]]
kernel = "{}"
grid = [{}]
block = [{}]
args = ["data"]
)",
                     kernel, blocks, threads);
}

Outcome run(const char* ptx, const std::string& launch, bool functional, std::vector<std::string> sets) {
  SimulationOptions o = program(ptx, launch, std::move(sets));
  o.functional = functional;
  return run_apart(o);
}

/// Buffer contents as run_apart() describes them, for comparison with a run that is known.
void expect_values(const char* ptx, const std::string& kernel, int blocks, int threads,
                   const std::vector<uint32_t>& expected) {
  std::vector<uint32_t> data(64, 0);
  std::copy(expected.begin(), expected.end(), data.begin());
  const std::string wanted = fmt::format("data: {:x}\n", test::digest(data.data(), data.size() * 4));
  for (const bool functional : {false, true}) {
    const Outcome o = run(ptx, launch(kernel, blocks, threads), functional, {kIndependent});
    EXPECT_EQ(o.status, "complete") << o.reason;
    EXPECT_EQ(o.values, wanted) << "functional: " << functional;
  }
}

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
      expect_values(handshake(load, producer_taken).c_str(), "handshake", 1, 32, {7, 7, 32});
}

TEST(IndependentThreads, BelowSeventyTheConsumerStarvesTheProducer) {
  const Outcome o =
      run(handshake("ld.volatile.global.u32", true).c_str(), launch("handshake", 1, 32), false, {});
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

/// Lanes leave a loop after different numbers of laps; each lap a vote among all that are still in it.
constexpr const char* kVotes = R"(.version 6.0
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

/// Warp 0 hands 64 values to warp 1 through two barriers: it arrives at 1 and waits at 2.
constexpr const char* kPipe = R"(.version 6.0
.target sm_30
.address_size 64
.visible .entry pipe(.param .u64 data)
{
  .reg .u64 %d, %a;
  .reg .u32 %t, %i, %v, %sum, %one, %count;
  .reg .pred %p, %q;
  .shared .u32 slot;
  ld.param.u64 %d, [data];
  mov.u32 %t, %tid.x;
  mov.u32 %i, 0;
  mov.u32 %sum, 0;
  mov.u32 %one, 1;
  setp.ge.u32 %p, %t, 32;
  @%p bra TAKE;
GIVE:
  setp.eq.u32 %q, %t, 0;
  @%q st.shared.u32 [slot], %i;
  bar.arrive %one, 64;
  bar.sync 2, 64;
  add.u32 %i, %i, 1;
  setp.lt.u32 %q, %i, 64;
  @%q bra GIVE;
  ret;
TAKE:
  bar.sync %one, 64;
  ld.shared.u32 %v, [slot];
  add.u32 %sum, %sum, %v;
  bar.sync 2, 64;
  add.u32 %i, %i, 1;
  setp.lt.u32 %q, %i, 64;
  @%q bra TAKE;
  st.global.u32 [%d], %sum;
  ret;
}
)";

TEST(NamedBarriers, AProducerArrivesAndAConsumerWaits) {
  const std::string expected = fmt::format("data: {:x}\n", [] {
    std::vector<uint32_t> data(64, 0);
    data[0] = 63 * 64 / 2;
    return test::digest(data.data(), 256);
  }());
  for (const bool functional : {false, true}) {
    const Outcome o = run(kPipe, launch("pipe", 1, 64), functional, {});
    EXPECT_EQ(o.status, "complete") << o.reason;
    EXPECT_EQ(o.values, expected);
  }
}

/// Reductions over the 80 threads of a block; thread t stores popc + 100 and + 1000 or of `t >= 50` etc.
constexpr const char* kReductions = R"(.version 6.0
.target sm_30
.address_size 64
.visible .entry reductions(.param .u64 data)
{
  .reg .u64 %d;
  .reg .u32 %t, %v, %n;
  .reg .pred %p, %q, %r;
  ld.param.u64 %d, [data];
  mov.u32 %t, %tid.x;
  setp.ge.u32 %p, %t, 50;
  bar.red.popc.u32 %n, 0, %p;
  st.global.u32 [%d], %n;
  bar.red.popc.u32 %n, 0, !%p;
  st.global.u32 [%d+4], %n;
  bar.red.and.pred %q, 1, %p;
  selp.u32 %v, 1, 0, %q;
  st.global.u32 [%d+8], %v;
  bar.red.or.pred %q, 1, %p;
  selp.u32 %v, 1, 0, %q;
  st.global.u32 [%d+12], %v;
  setp.lt.u32 %r, %t, 80;
  bar.red.and.pred %q, 2, %r;
  selp.u32 %v, 1, 0, %q;
  st.global.u32 [%d+16], %v;
  mov.u32 %n, 3;
  bar.red.or.pred %q, %n, 96, !%r;
  selp.u32 %v, 1, 0, %q;
  st.global.u32 [%d+20], %v;
  ret;
}
)";

TEST(NamedBarriers, ReductionsOverTheBlock) {
  std::vector<uint32_t> data(64, 0);
  const uint32_t expected[] = {30, 50, 0, 1, 1, 0};
  std::copy(std::begin(expected), std::end(expected), data.begin());
  for (const char* capability : {"gpu.compute_capability=3.0", kIndependent}) {
    for (const bool functional : {false, true}) {
      const Outcome o = run(kReductions, launch("reductions", 1, 80), functional, {capability});
      EXPECT_EQ(o.status, "complete") << o.reason;
      EXPECT_EQ(o.values, fmt::format("data: {:x}\n", test::digest(data.data(), 256))) << capability;
    }
  }
}

TEST(NamedBarriers, ABarrierThatDoesNotExistIsAnError) {
  const char* const ptx = R"(.version 6.0
.target sm_30
.address_size 64
.visible .entry k(.param .u64 data)
{
  .reg .u32 %t;
  mov.u32 %t, 16;
  bar.sync %t;
  ret;
}
)";
  for (const bool functional : {false, true}) {
    const Outcome o = run(ptx, launch("k", 1, 32), functional, {});
    EXPECT_EQ(o.status, "failed");
    EXPECT_THAT(o.reason, AllOf(HasSubstr("line 8"), HasSubstr("barrier 16 does not exist")));
  }
}

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
  std::vector<uint32_t> data(64, 0);
  data[0] = 4;
  const std::string expected = fmt::format("data: {:x}\n", test::digest(data.data(), 256));
  for (const char* capability : {"gpu.compute_capability=3.0", kIndependent}) {
    for (const bool functional : {false, true}) {
      const Outcome o = run(ptx, launch("turns", 1, 128), functional, {capability});
      EXPECT_EQ(o.status, "complete") << o.reason;
      EXPECT_EQ(o.values, expected);
    }
  }
  // One warp short: the others wait for ever.
  for (const bool functional : {false, true}) {
    const Outcome o = run(ptx, launch("turns", 1, 96), functional, {});
    EXPECT_EQ(o.status, "failed");
    EXPECT_THAT(o.reason, AllOf(HasSubstr("deadlock"), HasSubstr("what no other warp will do")));
  }
}

/// The lower half of a warp waits in a loop whose branch back is a table; warp 1 counts its laps while it
/// waits for warp 0.
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
  std::vector<uint32_t> data(64, 0);
  data[0] = 1;
  data[1] = 2001;
  const std::string expected = fmt::format("data: {:x}\n", test::digest(data.data(), 256));
  for (const bool functional : {false, true}) {
    const Outcome o = run(kPingPong, launch("ping_pong", 1, 64), functional, {});
    EXPECT_EQ(o.status, "complete") << o.reason;
    EXPECT_EQ(o.values, expected);
  }
}

}  // namespace
}  // namespace gpusim::comp
