// Values that are computed twice: where the second becomes the first, and where it must not.
#include <fmt/format.h>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

std::string computing(std::string_view body) {
  return thread_kernel(".reg .b32 %r<16>; .reg .f32 %f<8>; .reg .pred %p<4>;", std::string(R"(
    ld.global.u32 %r0, [%in];
    ld.global.u32 %r1, [%in+4];
    )") + std::string(body) + "\nst.global.u32 [%out], %r8; st.global.u32 [%out+4], %r9; ret;",
                       "sm_75");
}
size_t operations(const std::string& text, OpClass c) {
  return count_class(lower_ok(text, level(LoweringLevel::kSchedule, 0, 75)), c);
}

TEST(CommonValues, AreComputedOnce) {
  const std::string twice = computing(
      "mul.lo.u32 %r2, %r0, %r1; mul.lo.u32 %r3, %r0, %r1; xor.b32 %r8, %r2, %r0; xor.b32 %r9, %r3, %r1;");
  EXPECT_EQ(operations(twice, OpClass::kIntMul), 1u);
  expect_same_everywhere(twice, 64);
  const std::string others = computing(
      "mul.lo.u32 %r2, %r0, %r1; mul.lo.u32 %r3, %r0, %r0; xor.b32 %r8, %r2, %r0; xor.b32 %r9, %r3, %r1;");
  EXPECT_EQ(operations(others, OpClass::kIntMul), 2u);
}

TEST(CommonValues, NotIfOnlyTheTableOrTheModeDiffers) {
  expect_same_everywhere(computing("lop3.b32 %r8, %r0, %r1, %r0, 0x96; lop3.b32 %r9, %r0, %r1, %r0, 0x1e;"),
                         64);
  expect_same_everywhere(computing("prmt.b32.f4e %r8, %r0, %r1, 1; prmt.b32.b4e %r9, %r0, %r1, 1;"), 64);
}

TEST(CommonValues, OfABlockThatLeadsThere) {
  const std::string below = computing(R"(
    mul.lo.u32 %r2, %r0, %r1; mov.u32 %r8, %r2; mov.u32 %r9, 0;
    setp.eq.u32 %p0, %r0, 0; @%p0 bra END;
    bar.sync 0; mul.lo.u32 %r3, %r0, %r1; add.u32 %r9, %r3, 5;
    END:)");
  EXPECT_EQ(operations(below, OpClass::kIntMul), 1u);
  expect_same_everywhere(below, 64);
  // The block beside it does not: its value is not there.
  const std::string beside = computing(R"(
    mov.u32 %r8, 1; mov.u32 %r9, 0;
    setp.eq.u32 %p0, %r0, 0; @%p0 bra ELSE;
    bar.sync 0; mul.lo.u32 %r2, %r0, %r1; add.u32 %r8, %r2, 3; bra.uni END;
    ELSE: bar.sync 1; mul.lo.u32 %r3, %r0, %r1; add.u32 %r9, %r3, 5;
    END:)");
  EXPECT_EQ(operations(beside, OpClass::kIntMul), 2u);
}

TEST(CommonValues, NotWhereASourceWasWrittenBetween) {
  const std::string text =
      computing("mul.lo.u32 %r8, %r0, %r1; add.u32 %r0, %r0, 1; mul.lo.u32 %r9, %r0, %r1;");
  expect_same_everywhere(text, 64);
  const std::string loop = computing(R"(
    mov.u32 %r8, 0; mov.u32 %r9, 0; mov.u32 %r5, 0;
    LOOP: mul.lo.u32 %r2, %r5, %r1; add.u32 %r8, %r8, %r2; add.u32 %r5, %r5, 1;
    mul.lo.u32 %r3, %r5, %r1; add.u32 %r9, %r9, %r3; and.b32 %r6, %r0, 7; setp.lt.u32 %p0, %r5, %r6;
    @%p0 bra LOOP;)");
  expect_same_everywhere(loop, 64);
}

TEST(CommonValues, FloatingPointArithmeticCountsAsTheProgramHasIt) {
  const std::string text = computing(R"(
    cvt.rn.f32.u32 %f0, %r0; mul.rn.f32 %f1, %f0, %f0; mul.rn.f32 %f2, %f0, %f0;
    mov.b32 %r8, %f1; mov.b32 %r9, %f2;)");
  EXPECT_EQ(operations(text, OpClass::kFp32Mul), 2u);
}

}  // namespace
}  // namespace gpusim::isa
