// Guarded branches to a `ret` become guarded exits.
#include <algorithm>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

int64_t count(const KernelImage& image, OpKind kind, bool guarded) {
  return std::count_if(image.ops.begin(), image.ops.end(), [&](const MicroOp& op) {
    return op.kind == kind && (op.guard != kNoPredicate) == guarded;
  });
}

/// Lanes from 20 on return before the barrier that the others wait at: the last warp has both.
TEST(EarlyExit, LanesThatReturnAreNotWaitedFor) {
  const std::string text = thread_kernel(".reg .pred %p;", R"(
    st.global.u32 [%out], 1;
    setp.ge.u32 %p, %tid0, 20;
    @%p bra DONE;
    bar.sync 0;
    st.global.u32 [%out], 2;
  DONE:
    ret;)");
  const KernelImage image = lower_ok(text, level(LoweringLevel::kClean));
  EXPECT_EQ(count(image, OpKind::kExit, true), 1);
  EXPECT_EQ(count(image, OpKind::kBranch, true), 0);
  const Outcome o = run_image(image, 32);
  ASSERT_TRUE(o.result.finished);
  EXPECT_EQ(o.out[19ul * 64], 2u);
  EXPECT_EQ(o.out[20ul * 64], 1u);
  expect_same_everywhere(text, 32);
}

TEST(EarlyExit, LoopsAreLeft) {
  const std::string text = thread_kernel(".reg .pred %p; .reg .b32 %i;", R"(
    mov.u32 %i, 0;
  LOOP:
    setp.ge.u32 %p, %i, %tid0;
    @%p bra DONE;
    add.u32 %i, %i, 1;
    st.global.u32 [%out], %i;
    bra LOOP;
  DONE:
    ret;)");
  EXPECT_EQ(count(lower_ok(text, level(LoweringLevel::kNone)), OpKind::kExit, true), 1);
  const Outcome o = run_image(lower_ok(text, level(LoweringLevel::kClean)), 32);
  ASSERT_TRUE(o.result.finished);
  EXPECT_EQ(o.out[1ul * 64], 1u);
  EXPECT_EQ(o.out[31ul * 64], 31u);
  expect_same_everywhere(text, 32);
}

TEST(EarlyExit, OtherBranchesStay) {
  const KernelImage image = lower_ok(thread_kernel(".reg .pred %p;", R"(
    setp.ge.u32 %p, %tid0, 20;
    @%p bra STORE;
    bra DONE;
  STORE:
    st.global.u32 [%out], 2;
  DONE:
    ret;)"),
                                     level(LoweringLevel::kClean));
  EXPECT_EQ(count(image, OpKind::kExit, true), 0);
  EXPECT_EQ(count(image, OpKind::kBranch, true), 1);
}

/// A `ret` of a called function goes back to its caller.
TEST(EarlyExit, FunctionsReturn) {
  const std::string text = thread_kernel(".reg .pred %p; .reg .b32 %v;", R"(
    {
    .param .b32 a;
    .param .b32 r;
    st.param.b32 [a], %tid0;
    call (r), twice, (a);
    ld.param.b32 %v, [r];
    }
    st.global.u32 [%out], %v;
    ret;)",
                                         "sm_35", R"(.func (.param .b32 r) twice(.param .b32 a)
{
  .reg .pred %p; .reg .b32 %v;
  ld.param.b32 %v, [a];
  st.param.b32 [r], %v;
  setp.lt.u32 %p, %v, 9;
  @%p bra DONE;
  add.u32 %v, %v, %v;
  st.param.b32 [r], %v;
DONE:
  ret;
}
)");
  const Outcome o = run_image(lower_ok(text, level(LoweringLevel::kClean)), 32);
  ASSERT_TRUE(o.result.finished);
  EXPECT_EQ(o.out[8ul * 64], 8u);
  EXPECT_EQ(o.out[9ul * 64], 18u);
}

}  // namespace
}  // namespace gpusim::isa
