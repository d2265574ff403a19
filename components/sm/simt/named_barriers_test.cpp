// Barriers with a number: arrival without waiting, reductions, numbers that do not exist.
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
  expect_values(kPipe, "pipe", 1, 64, {63 * 64 / 2}, {});
}

/// Reductions over the 80 threads of a block: of `t >= 50`, of its negation, of what all threads have.
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
  for (const char* capability : {kOneStack, kIndependent})
    expect_values(kReductions, "reductions", 1, 80, {30, 50, 0, 1, 1, 0}, {capability});
}

/// A program with a race that does no harm on a GPU: behind the barrier, warp 0 reads at once what the last
/// warp, which opens it, changes a hundred operations later.
constexpr const char* kReadsSoon = R"(.version 6.0
.target sm_30
.address_size 64
.visible .entry soon(.param .u64 data)
{
  .reg .u64 %d;
  .reg .u32 %t, %i, %v;
  .reg .pred %p, %q;
  .shared .u32 slot;
  ld.param.u64 %d, [data];
  mov.u32 %t, %tid.x;
  setp.eq.u32 %p, %t, 96;
  @%p st.shared.u32 [slot], %t;
  bar.sync 0;
  setp.eq.u32 %q, %t, 0;
  @!%q bra LATER;
  ld.shared.u32 %v, [slot];
  st.global.u32 [%d], %v;
  ret;
LATER:
  mov.u32 %i, 0;
AGAIN:
  add.u32 %i, %i, 1;
  setp.lt.u32 %q, %i, 100;
  @%q bra AGAIN;
  @%p st.shared.u32 [slot], %i;
  ret;
}
)";

TEST(NamedBarriers, WhoOpensABarrierDoesNotRunAheadOfWhoWaited) {
  expect_values(kReadsSoon, "soon", 1, 128, {96}, {});
}

/// Behind the barrier all threads read at once what the first warp changes after it has loaded from global
/// memory.
constexpr const char* kReadsBeforeALoad = R"(.version 6.0
.target sm_30
.address_size 64
.visible .entry side(.param .u64 data)
{
  .reg .u64 %d, %a;
  .reg .u32 %t, %v, %w;
  .reg .pred %p;
  .shared .u32 slot;
  ld.param.u64 %d, [data];
  mov.u32 %t, %tid.x;
  setp.eq.u32 %p, %t, 0;
  @%p st.shared.u32 [slot], 7;
  bar.sync 0;
  ld.shared.u32 %v, [slot];
  ld.global.u32 %w, [%d+252];
  add.u32 %w, %w, 1;
  @%p st.shared.u32 [slot], %w;
  shr.u32 %w, %t, 5;
  mad.wide.u32 %a, %w, 4, %d;
  st.global.u32 [%a], %v;
  ret;
}
)";

TEST(NamedBarriers, WarpsLeaveABarrierSideBySide) {
  expect_values(kReadsBeforeALoad, "side", 1, 128, {7, 7, 7, 7}, {});
}

/// All four warps load the same word behind a barrier and store one more.
constexpr const char* kLoadsBeforeAStore = R"(.version 6.0
.target sm_30
.address_size 64
.visible .entry more(.param .u64 data)
{
  .reg .u64 %d;
  .reg .u32 %w;
  ld.param.u64 %d, [data];
  bar.sync 0;
  ld.global.u32 %w, [%d];
  add.u32 %w, %w, 1;
  st.global.u32 [%d], %w;
  ret;
}
)";

TEST(NamedBarriers, WarpsLoadSideBySideBeforeTheyStore) {
  expect_values(kLoadsBeforeAStore, "more", 1, 128, {1}, {});
}

TEST(NamedBarriers, WarpsLoadSideBySideBeforeOneChangesThatByAnAtomic) {
  std::string ptx = kLoadsBeforeAStore;
  const std::string store = "st.global.u32 [%d], %w;";
  ptx.replace(ptx.find(store), store.size(), "atom.global.max.u32 %w, [%d], %w;");
  expect_values(ptx.c_str(), "more", 1, 128, {1}, {});
}

/// Behind the barrier all threads read at once what the first warp changes a hundred operations later.
constexpr const char* kReadsBeforeASharedStore = R"(.version 6.0
.target sm_30
.address_size 64
.visible .entry place(.param .u64 data)
{
  .reg .u64 %d, %a;
  .reg .u32 %t, %v, %w;
  .reg .pred %p, %q;
  .shared .u32 slot;
  ld.param.u64 %d, [data];
  mov.u32 %t, %tid.x;
  setp.eq.u32 %p, %t, 0;
  @%p st.shared.u32 [slot], 7;
  bar.sync 0;
  ld.shared.u32 %v, [slot];
  shr.u32 %w, %t, 5;
  mad.wide.u32 %a, %w, 4, %d;
  st.global.u32 [%a], %v;
  @!%p bra DONE;
  mov.u32 %w, 0;
AGAIN:
  add.u32 %w, %w, 1;
  setp.lt.u32 %q, %w, 100;
  @%q bra AGAIN;
  st.shared.u32 [slot], %w;
DONE:
  ret;
}
)";

TEST(NamedBarriers, WarpsReadSharedMemoryBehindABarrierBeforeOneWritesThere) {
  expect_values(kReadsBeforeASharedStore, "place", 1, 128, {7, 7, 7, 7}, {});
}

/// Blocks of one thread, in one launch. "marks": who is marked (the first is) marks the next one, as a search
/// does that goes along a graph. "meets": each stores a word, reads what never changes, and then the next
/// one's word.
constexpr const char* kBlocksSideBySide = R"(.version 6.0
.target sm_30
.address_size 64
.visible .entry marks(.param .u64 data)
{
  .reg .u64 %d<3>;
  .reg .u32 %r<3>;
  .reg .pred %p<2>;
  ld.param.u64 %d0, [data];
  mov.u32 %r0, %ctaid.x;
  mul.wide.u32 %d1, %r0, 4;
  add.u64 %d2, %d0, %d1;
  ld.global.u32 %r1, [%d2];
  setp.eq.u32 %p0, %r0, 0;
  setp.eq.and.u32 %p1, %r1, 0, !%p0;
  @%p1 bra DONE;
  st.global.u32 [%d2+4], 1;
DONE:
  ret;
}
.visible .entry meets(.param .u64 data)
{
  .reg .u64 %d<5>;
  .reg .u32 %r<5>;
  ld.param.u64 %d0, [data];
  mov.u32 %r0, %ctaid.x;
  mul.wide.u32 %d1, %r0, 4;
  add.u64 %d2, %d0, %d1;
  st.global.u32 [%d2], 1;
  ld.global.u32 %r1, [%d0+128];
  add.u32 %r2, %r0, 1;
  and.b32 %r2, %r2, 3;
  add.u32 %r2, %r2, %r1;
  mul.wide.u32 %d3, %r2, 4;
  add.u64 %d4, %d0, %d3;
  ld.global.u32 %r3, [%d4];
  st.global.u32 [%d2+16], %r3;
  ret;
}
)";

TEST(SideBySide, BlocksReadBeforeOthersMark) { expect_values(kBlocksSideBySide, "marks", 8, 1, {0, 1}, {}); }

TEST(SideBySide, BlocksReadWhatOthersHaveStoredBefore) {
  expect_values(kBlocksSideBySide, "meets", 4, 1, {1, 1, 1, 1, 1, 1, 1, 1}, {});
}

/// As "marks", with the array's address in a variable, where another kernel has left it.
constexpr const char* kBlocksSideBySideByPointer = R"(.version 6.0
.target sm_30
.address_size 64
.global .align 8 .u64 array;
.visible .entry leaves(.param .u64 data)
{
  .reg .u64 %d;
  ld.param.u64 %d, [data];
  st.global.u64 [array], %d;
  ret;
}
.visible .entry marks(.param .u64 data)
{
  .reg .u64 %d<5>;
  .reg .u32 %r<3>;
  .reg .pred %p<2>;
  mov.u32 %r0, %ctaid.x;
  mul.wide.u32 %d1, %r0, 4;
  ld.global.u64 %d0, [array];
  add.u64 %d2, %d0, %d1;
  ld.global.u32 %r1, [%d2];
  setp.eq.u32 %p0, %r0, 0;
  setp.eq.and.u32 %p1, %r1, 0, !%p0;
  @%p1 bra DONE;
  ld.global.u64 %d3, [array];
  add.u64 %d4, %d3, %d1;
  st.global.u32 [%d4+4], 1;
DONE:
  ret;
}
)";

TEST(SideBySide, BlocksReadBeforeOthersMarkWhereAPointerInMemoryPoints) {
  const std::string marks = launch("marks", 8, 1);
  const std::string file = launch("leaves", 1, 1) + marks.substr(marks.find("[[launch]]"));
  for (const bool functional : {false, true}) {
    const Outcome o = run(kBlocksSideBySideByPointer, file, functional, {kIndependent});
    EXPECT_EQ(o.status, "complete") << o.reason;
    EXPECT_EQ(o.values, test::values_of({0, 1})) << "functional: " << functional;
  }
}

/// Each block waits for the word of the one before it and stores one more.
constexpr const char* kBlocksInARow = R"(.version 6.0
.target sm_30
.address_size 64
.visible .entry chain(.param .u64 data)
{
  .reg .u64 %d<3>;
  .reg .u32 %r<3>;
  .reg .pred %p;
  ld.param.u64 %d0, [data];
  mov.u32 %r0, %ctaid.x;
  mul.wide.u32 %d1, %r0, 4;
  add.u64 %d2, %d0, %d1;
  mov.u32 %r1, 0;
  setp.eq.u32 %p, %r0, 0;
  @%p bra STORE;
WAIT:
  ld.volatile.global.u32 %r1, [%d2+-4];
  setp.eq.u32 %p, %r1, 0;
  @%p bra WAIT;
STORE:
  add.u32 %r1, %r1, 1;
  st.global.u32 [%d2], %r1;
  ret;
}
)";

TEST(SideBySide, BlocksThatWaitForEachOtherAreNotHeldBackForLong) {
  constexpr uint32_t kBlocks = 2048;
  // Warp operations: held back one after the other, with a turn in vain of all others for each, they take
  // over ten times as many.
  constexpr uint64_t kEnough = 1000 * kBlocks;
  std::string file = launch("chain", kBlocks, 1);
  file.replace(file.find("count = 64"), 10, "count = 2048");
  SimulationOptions o = test::program(kBlocksInARow, file, {kIndependent});
  o.functional = true;
  o.max_cycles = kEnough;
  const Outcome outcome = test::run_apart(o);
  EXPECT_EQ(outcome.status, "complete") << outcome.reason;
  std::vector<uint32_t> words;
  for (uint32_t i = 1; i <= kBlocks; ++i) words.push_back(i);
  EXPECT_EQ(outcome.values, fmt::format("data: {:x}\n", test::digest(words.data(), 4 * words.size())));
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

}  // namespace
}  // namespace gpusim::comp
