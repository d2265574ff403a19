// A deadlock is reported only if all warps stood still at one and the same time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/testing/run_kernel.h"

namespace gpusim::comp {
namespace {

using test::Outcome;

/// Block 2 works for 3000 iterations and gives data[0] to block 0, which then does 600 dependent loads
/// without a loop, so that nobody looks at it, and gives data[1] to block 1 unless `breaks`.
std::string chain(bool breaks) {
  std::string loads;
  for (int i = 0; i < 600; ++i) loads += "ld.volatile.global.u32 %v, [%d+8]; add.u32 %s, %s, %v;\n";
  return fmt::format(R"(.version 6.0
.target sm_30
.address_size 64
.visible .entry chain(.param .u64 data)
{{
.reg .u64 %d; .reg .u32 %b, %v, %s, %i; .reg .pred %p;
ld.param.u64 %d, [data];
mov.u32 %b, %ctaid.x;
mov.u32 %s, 7;
mov.u32 %i, 0;
setp.eq.u32 %p, %b, 2;
@%p bra WORK;
setp.eq.u32 %p, %b, 1;
@%p bra LAST;
FIRST: ld.volatile.global.u32 %v, [%d]; setp.eq.u32 %p, %v, 0; @%p bra FIRST;
{}
{}
exit;
LAST: ld.volatile.global.u32 %v, [%d+4]; setp.eq.u32 %p, %v, 0; @%p bra LAST;
st.global.u32 [%d+12], %v;
exit;
WORK: ld.volatile.global.u32 %v, [%d+8]; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 3000; @%p bra WORK;
st.volatile.global.u32 [%d], %i;
exit;
}}
)",
                     loads, breaks ? "" : "st.volatile.global.u32 [%d+4], %s;");
}

TEST(DeadlockProof, AWaitThatIsOverDoesNotCount) {
  const Outcome o = test::run(chain(false), test::launch("chain", 3, 32), false, {});
  EXPECT_EQ(o.status, "complete") << o.reason;
  EXPECT_EQ(o.values, test::values_of({3000, 7, 0, 7}));
}

TEST(DeadlockProof, AWaitForABlockThatIsGoneDoes) {
  const Outcome o = test::run(chain(true), test::launch("chain", 3, 32), false, {});
  EXPECT_EQ(o.status, "failed");
  EXPECT_THAT(o.reason, testing::AllOf(testing::HasSubstr("deadlock"), testing::HasSubstr("block (1,0,0)"),
                                       testing::HasSubstr("what no other warp will do")));
}

}  // namespace
}  // namespace gpusim::comp
