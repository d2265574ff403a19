// The order of operations at level `schedule`: what starts early, what waits for its place, and that the
// values stay.
#include <fmt/format.h>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

TEST(Schedule, LoadsStartEarlyAndStoresKeepTheirPlace) {
  const std::string text = thread_kernel(".reg .b32 %r<9>;", R"(
    ld.global.u32 %r0, [%in];
    add.u32 %r1, %r0, 5;
    mul.lo.u32 %r2, %r1, %r1;
    ld.global.u32 %r3, [%in+4];
    add.u32 %r4, %r3, %r2;
    st.global.u32 [%out], %r4;
    ld.global.u32 %r5, [%in+8];
    add.u32 %r6, %r5, %r4;
    st.global.u32 [%out+4], %r6;
    ret;)");
  for (const int capability : {13, 20, 75}) {
    const KernelImage image = scheduled(text, capability);
    EXPECT_LT(position(image, "ld.global.u32 %r3, [%in+4]"), position(image, "add.u32 %r1, %r0, 5"));
    // [%in+8] may be [%out]: the load stays behind the store.
    EXPECT_GT(position(image, "ld.global.u32 %r5, [%in+8]"), position(image, "st.global.u32 [%out], %r4"));
  }
  expect_same_everywhere(text, 64);
}

TEST(Schedule, AddressesOfAccessesBehindAStoreAreMadeWhenTheyAreNeeded) {
  // A sum that stands in memory: each load waits for the store before it, and its address is the one before
  // and a stride of 64 bits. Two registers for each address that is made early.
  constexpr int kRounds = 12;
  const auto n = [](int i) { return std::to_string(i); };
  const auto text = [&](const char* output) {
    std::string body =
        "ld.global.u64 %rd20, [%in]; and.b64 %rd20, %rd20, 4; mov.u64 %rd0, %in; mov.u32 %r50, 0;\n";
    for (int i = 0; i < kRounds; ++i)
      body += "add.s64 %rd" + n(i + 1) + ", %rd" + n(i) + ", %rd20; ld.global.u32 %r" + n(i) + ", [%rd" +
              n(i + 1) + "]; add.u32 %r50, %r50, %r" + n(i) + "; " + output + "\n";
    return thread_kernel(
        ".reg .b32 %r<60>; .reg .b64 %rd<30>;",
        body + "st.global.u64 [%out+8], %rd" + n(kRounds) + "; st.global.u32 [%out], %r50; ret;");
  };
  const std::string stores = text("st.global.u32 [%out], %r50;"), sums = text("xor.b32 %r50, %r50, 7;");
  const KernelImage image = scheduled(stores);
  EXPECT_LE(image.registers, 22u);
  // Without stores all loads start at once, and their addresses are made for it.
  EXPECT_LT(position(scheduled(sums), "ld.global.u32 %r11, [%rd12]"),
            position(scheduled(sums), "add.u32 %r50, %r50, %r0"));
  // During the wait for a load, the address of the next one is made, and of no other.
  for (int i = 0; i + 3 < kRounds; ++i)
    EXPECT_GT(position(image, "add.s64 %rd" + n(i + 3) + ", %rd" + n(i + 2) + ", %rd20"),
              position(image, "ld.global.u32 %r" + n(i) + ", [%rd" + n(i + 1) + "]"));
  expect_same_everywhere(stores, 64);
}

TEST(Schedule, WhatOnlyLaterCodeNeedsIsMadeDuringAWait) {
  // The loads come one behind the other, for each address is of the data before. The product is for code
  // behind the fence: it takes its register while the warp waits, which costs no time.
  const KernelImage image = scheduled(thread_kernel(".reg .b32 %r<9>; .reg .b64 %rd<9>;", R"(
    ld.global.u32 %r0, [%in];
    and.b32 %r1, %r0, 4;
    cvt.u64.u32 %rd1, %r1;
    add.s64 %rd2, %in, %rd1;
    ld.global.u32 %r2, [%rd2];
    add.u32 %r3, %r2, 1;
    st.global.u32 [%out], %r3;
    mul.lo.u32 %r4, %tid0, 77;
    membar.cta;
    st.global.u32 [%out+4], %r4;
    ret;)"));
  EXPECT_LT(position(image, "mul.lo.u32 %r4, %tid0, 77"), position(image, "ld.global.u32 %r2, [%rd2]"));
}

TEST(Schedule, NoLoadPassesADivisionWithASubroutine) {
  // ptxas 13 ends its basic block there, for 7.5, 8.0 and 9.0.
  const auto loads_before = [](std::string_view first, std::string_view divides, std::string_view then) {
    const std::string text =
        thread_kernel(".reg .f32 %f<6>; .reg .f64 %d<2>; .reg .b64 %q<2>;",
                      fmt::format("ld.global.f32 %f0, [%in];\n{}\n{};\n{}\nld.global.f32 %f3, [%in+8];\n"
                                  "mul.f32 %f4, %f1, %f3;\nst.global.f32 [%out], %f4;\nret;",
                                  first, divides, then));
    expect_same_everywhere(text, 64);
    std::string before;
    for (const int capability : {70, 75, 80, 90}) {
      const KernelImage image = scheduled(text, capability);
      before += position(image, "ld.global.f32 %f3, [%in+8]") < position(image, divides) ? 'y' : 'n';
    }
    return before;
  };
  EXPECT_EQ(loads_before("", "div.full.f32 %f1, %f0, 0f40400000", ""), "yyyy");
  EXPECT_EQ(loads_before("", "sqrt.approx.f32 %f1, %f0", ""), "yyyy");
  EXPECT_EQ(loads_before("", "div.rn.f32 %f1, %f0, 0f40400000", ""), "nnnn");
  EXPECT_EQ(loads_before("", "rcp.rn.f32 %f1, %f0", ""), "nnnn");
  EXPECT_EQ(loads_before("", "sqrt.rn.f32 %f1, %f0", ""), "nnnn");
  const std::string_view widen = "cvt.f64.f32 %d0, %f0;", narrow = "cvt.rn.f32.f64 %f1, %d1;";
  EXPECT_EQ(loads_before(widen, "sqrt.rn.f64 %d1, %d0", narrow), "nnnn");
  EXPECT_EQ(loads_before(widen, "div.rn.f64 %d1, %d0, 0d4008000000000000", narrow), "nnnn");
  EXPECT_EQ(loads_before(widen, "rcp.approx.ftz.f64 %d1, %d0", narrow), "yyyy");
  EXPECT_EQ(loads_before("cvt.rzi.s64.f32 %q0, %f0;", "div.s64 %q1, %q0, 10", "cvt.rn.f32.s64 %f1, %q1;"),
            "nnnn");
}

TEST(Schedule, WhatStandsBeforeADivisionMayComeBehindIt) {
  // ptxas starts the reciprocal of %f1 before the comparison and the sum, and the second load after them all.
  const std::string text = thread_kernel(
      ".reg .f32 %f<6>; .reg .b32 %r<4>; .reg .pred %p;",
      "ld.global.f32 %f0, [%in];\nadd.f32 %f1, %f0, 0f3F800000;\nsetp.lt.f32 %p, %f1, 0f00000000;\n"
      "selp.u32 %r1, 1, 2, %p;\ndiv.rn.f32 %f2, 0f40400000, %f1;\nld.global.f32 %f3, [%in+8];\n"
      "mul.f32 %f4, %f2, %f3;\ncvt.rn.f32.u32 %f5, %r1;\nadd.f32 %f4, %f4, %f5;\nst.global.f32 [%out], "
      "%f4;\nret;");
  expect_same_everywhere(text, 64);
  for (const int capability : {70, 80, 90}) {
    const KernelImage image = scheduled(text, capability);
    const size_t division = position(image, "div.rn.f32 %f2, 0f40400000, %f1");
    EXPECT_LT(division, position(image, "selp.u32 %r1, 1, 2, %p")) << capability;
    EXPECT_LT(division, position(image, "ld.global.f32 %f3, [%in+8]")) << capability;
  }
}

TEST(Schedule, TwoSumsThatAreOneInstructionTakeTheTimeOfOne) {
  // The bits of a word, added one by one: shifts and masks are taken forward to fill the latency of a sum of
  // three, not that of two sums. ptxas takes 13 registers.
  std::string body = "ld.global.u32 %r0, [%in];\nand.b32 %s0, %r0, 1;\n";
  for (int i = 1; i < 32; ++i)
    body += fmt::format("shr.u32 %h{0}, %r0, {0};\nand.b32 %m{0}, %h{0}, 1;\nadd.u32 %s{0}, %m{0}, %s{1};\n",
                        i, i - 1);
  const std::string text =
      thread_kernel(".reg .b32 %r0, %s<32>, %h<32>, %m<32>;", body + "st.global.u32 [%out], %s31;\nret;");
  EXPECT_LE(scheduled(text).registers, 20u);
  expect_same_everywhere(text, 64);
}

TEST(Schedule, NothingPassesAClockOrAVolatileAccess) {
  const std::string text = thread_kernel(".reg .b32 %r<9>; .shared .align 4 .b8 s[256];", R"(
    ld.global.u32 %r0, [%in];
    mov.u32 %r1, %clock;
    add.u32 %r2, %r0, 1;
    mul.lo.u32 %r2, %r2, %r2;
    mov.u32 %r3, %clock;
    ld.volatile.global.u32 %r4, [%in+4];
    ld.global.u32 %r5, [%in+8];
    ld.volatile.global.u32 %r6, [%in+12];
    bar.sync 0;
    ld.global.u32 %r7, [%in+16];
    add.u32 %r4, %r4, %r5;
    add.u32 %r4, %r4, %r6;
    add.u32 %r4, %r4, %r7;
    add.u32 %r4, %r4, %r2;
    sub.u32 %r3, %r3, %r1;
    st.global.u32 [%out], %r4;
    st.global.u32 [%out+4], %r3;
    ret;)");
  const KernelImage image = scheduled(text);
  const size_t first = position(image, "mov.u32 %r1, %clock"),
               second = position(image, "mov.u32 %r3, %clock");
  EXPECT_LT(position(image, "ld.global.u32 %r0, [%in]"), first);
  EXPECT_LT(first, position(image, "add.u32 %r2, %r0, 1"));
  EXPECT_LT(position(image, "mul.lo.u32 %r2, %r2, %r2"), second);
  EXPECT_LT(second, position(image, "ld.volatile.global.u32 %r4, [%in+4]"));
  EXPECT_LT(position(image, "ld.volatile.global.u32 %r4, [%in+4]"),
            position(image, "ld.global.u32 %r5, [%in+8]"));
  EXPECT_LT(position(image, "ld.global.u32 %r5, [%in+8]"),
            position(image, "ld.volatile.global.u32 %r6, [%in+12]"));
  EXPECT_LT(position(image, "bar.sync 0"), position(image, "ld.global.u32 %r7, [%in+16]"));
}

}  // namespace
}  // namespace gpusim::isa
