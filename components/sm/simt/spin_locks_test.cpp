// Locks that are taken by lanes, tiles of a warp and blocks, with each atomic operation that can take one:
// whoever has the lock gets its turn, whatever those do that try to take it.
#include <gtest/gtest.h>

#include "components/testing/run_kernel.h"

namespace gpusim::comp {
namespace {

using test::expect_values;
using test::kIndependent;
using test::launch;
using test::Outcome;
using test::run;

/// The first lane of each tile of `lanes` takes the lock at [data] by `take`, and tells the others of its
/// tile that it has it; each counts how often it has tried. The first one adds 1 to [data+4] and what that
/// gives to [data+8], which it reads through another address, and gives the lock back. In a run for values a
/// warp that stores to what other threads load waits for the others first (MicroOp::others_access): here it
/// does so with the lock taken.
std::string tiles(int lanes, const char* take) {
  return fmt::format(R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry tiles(.param .u64 data)
{{
  .reg .u64 %d, %a;
  .reg .u32 %t, %r, %members, %old, %n, %first, %tries;
  .reg .pred %leads, %failed, %endless;
  ld.param.u64 %d, [data];
  mov.u32 %t, %laneid;
  rem.u32 %r, %t, {0};
  setp.eq.u32 %leads, %r, 0;
  sub.u32 %first, %t, %r;
  mov.u32 %members, {1};
  shl.b32 %members, %members, %first;
  mov.u32 %tries, 0;
TRY:
  add.u32 %tries, %tries, 1;
  setp.gt.u32 %endless, %tries, 0x7fffffff;
  @%endless trap;
  mov.u32 %old, 0;
  @%leads {2}
  shfl.sync.idx.b32 %old, %old, %first, 31, %members;
  setp.ne.u32 %failed, %old, 0;
  @%failed bra TRY;
  membar.gl;
  @!%leads bra MEET;
  ld.volatile.global.u32 %n, [%d+4];
  add.u32 %n, %n, 1;
  st.volatile.global.u32 [%d+4], %n;
  shr.u32 %r, %n, 31;
  mul.wide.u32 %a, %r, 4;
  add.u64 %a, %a, %d;
  ld.global.u32 %r, [%a+8];
  add.u32 %r, %r, %n;
  st.global.u32 [%d+8], %r;
MEET:
  membar.gl;
  bar.warp.sync %members;
  @%leads atom.global.exch.b32 %old, [%d], 0;
  ret;
}}
)",
                     lanes, (uint64_t{1} << lanes) - 1, take);
}

constexpr const char* kTakes[] = {"atom.global.or.b32 %old, [%d], 1;", "atom.global.exch.b32 %old, [%d], 1;",
                                  "atom.global.cas.b32 %old, [%d], 0, 1;",
                                  "atom.global.inc.u32 %old, [%d], 0xffffff;"};

std::vector<uint32_t> counted(uint32_t tiles) { return {0, tiles, tiles * (tiles + 1) / 2}; }

TEST(SpinLocks, TilesOfAWarpOfABlockAndOfBlocksAllGetTheLock) {
  for (const char* take : kTakes) {
    for (const uint32_t lanes : {1u, 8u, 16u}) {
      SCOPED_TRACE(fmt::format("{} lanes, {}", lanes, take));
      const std::string ptx = tiles(static_cast<int>(lanes), take);
      expect_values(ptx, "tiles", 1, 32, counted(32 / lanes));
      expect_values(ptx, "tiles", 2, 96, counted(2 * 96 / lanes));
    }
  }
}

TEST(SpinLocks, WhoHasALockIsNotHeldBackForThoseWhoWaitForIt) {
  // Other warps try while the one that has the lock lets others catch up, which does not take as long as the
  // longest turn of a block each time.
  for (const char* take : kTakes) {
    SCOPED_TRACE(take);
    SimulationOptions o = test::program(tiles(16, take), launch("tiles", 2, 128), {kIndependent});
    o.functional = true;
    o.max_cycles = 100'000'000;
    const Outcome done = test::run_apart(o);
    EXPECT_EQ(done.status, "complete") << done.reason;
    EXPECT_EQ(done.values, test::values_of(counted(2 * 128 / 16)));
  }
}

}  // namespace
}  // namespace gpusim::comp
