// Which short branches become predicates (as ptxas 13.0 decides for sm_75 to sm_90), and that values and
// counts stay those of the branches.
#include <fmt/format.h>
#include <sys/resource.h>

#include <ctime>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

constexpr std::string_view kDivergent = "setp.lt.u32 %p0, %tid0, 9;", kUniform = "setp.lt.u32 %p0, %n, 2;";

/// %f0 and %f1 are loaded and stored, %r2 as well; %n is the grid's width.
std::string branching(std::string_view condition, std::string_view body) {
  return thread_kernel(".reg .f32 %f<4>; .reg .b32 %r<8>, %n; .reg .pred %p<4>; .shared .align 4 .b8 s[512];",
                       fmt::format(R"(
    ld.global.f32 %f0, [%in]; ld.global.f32 %f1, [%in+4]; ld.global.u32 %r2, [%in+8];
    mov.u32 %n, %nctaid.x; shl.b32 %r0, %tid0, 2; mov.u32 %r1, s; add.u32 %r1, %r1, %r0;
    st.shared.u32 [%r1], %r2;
    {}
    {}
    st.global.f32 [%out], %f0; st.global.f32 [%out+4], %f1; st.global.u32 [%out+8], %r2;
    ret;)",
                                   condition, body));
}

std::string times(int n, std::string_view statement) {
  std::string text;
  for (int i = 0; i < n; ++i) text += statement;
  return text;
}

int64_t branches(const std::string& text) {
  const KernelImage image = lower_ok(text, level(LoweringLevel::kSchedule, 0, 75));
  return std::ranges::count(image.ops, OpKind::kBranch, &MicroOp::kind);
}

int64_t branches_over(std::string_view condition, const std::string& code) {
  const std::string text = branching(condition, "@%p0 bra L; " + code + "\nL:");
  expect_same_everywhere(text, 32);
  return branches(text);
}

TEST(PredicateBranches, UpToEightInstructionsOrSixOfAWholeWarp) {
  const std::string_view step = "fma.rn.f32 %f0, %f0, %f1, %f0; ";
  for (const int n : {1, 5, 8}) EXPECT_EQ(branches_over(kDivergent, times(n, step)), 0) << n;
  for (const int n : {9, 14}) EXPECT_EQ(branches_over(kDivergent, times(n, step)), 1) << n;
  EXPECT_EQ(branches_over(kUniform, times(6, step)), 0);
  EXPECT_EQ(branches_over(kUniform, times(7, step)), 1);
  EXPECT_EQ(branches_over(kDivergent, times(8, "st.global.u32 [%out+16], %r2; ")), 0);
  EXPECT_EQ(branches_over(kDivergent, times(5, "div.rn.f32 %f0, %f0, %f1; ")), 1);  // sequences
}

TEST(PredicateBranches, ANumberInARegisterCountsWhereItIsPutThere) {
  // An instruction takes one number; the other one is in a register.
  const std::string step = "fma.rn.f32 %f0, %f0, 0f3F000000, 0f3F000000; ";
  EXPECT_EQ(branches_over(kDivergent, times(7, step)), 0);
  EXPECT_EQ(branches_over(kDivergent, times(8, step)), 1);
  const std::string before = step + std::string(kDivergent);
  EXPECT_EQ(branches_over(before, times(8, step)), 0) << "it is there";
  EXPECT_EQ(branches_over(before, times(9, step)), 1);
  const auto in_loop = [&](const std::string& outside, const std::string& inside) {
    return branches(branching(
        outside + "mov.u32 %r3, 0;\nLOOP: .pragma \"nounroll\"; " + inside + std::string(kDivergent),
        "@%p0 bra L; " + times(8, step) +
            "\nL: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %n; @%p1 bra LOOP;"));
  };
  EXPECT_EQ(in_loop("", step), 1) << "that of the loop";
  EXPECT_EQ(in_loop(step, ""), 2) << "it is put there in the loop again";
}

TEST(PredicateBranches, WhatStaysABranch) {
  for (const std::string code :
       {"red.global.add.u32 [%out+64], 1;", "atom.shared.add.u32 %r2, [%r1], 1;",
        "add.u32 %r2, %r2, 3; setp.gt.u32 %p1, %tid0, 3; @%p1 bra M; add.u32 %r2, %r2, 9;\nM:"})
    EXPECT_EQ(branches_over(kDivergent, code), 1) << code;
  for (const std::string code :
       {"ld.shared.u32 %r3, [%r1]; add.u32 %r2, %r2, %r3;", "st.shared.u32 [%r1], %n;"})
    EXPECT_EQ(branches_over(kDivergent, code), 0) << code;
}

TEST(PredicateBranches, BlocksThatBecameOneHoldNoMemory) {
  const auto peak_kib = [] {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss;
  };
  std::string body = "mov.u32 %r1, %tid0;";
  for (int i = 0; i < 2500; ++i)
    body += fmt::format("setp.eq.s32 %p0, %r1, {0}; @%p0 bra L{0}; add.u32 %r1, %r1, {0}; L{0}: ", i);
  const std::string text =
      thread_kernel(".reg .b32 %r<2>; .reg .pred %p<2>;", body + "st.global.u32 [%out], %r1; ret;");
  const auto before = peak_kib();
  EXPECT_EQ(branches(text), 0);
  EXPECT_LT(peak_kib() - before, 800 * 1024) << "each of them held all behind it";
}

TEST(PredicateBranches, TimeIsInProportionToTheBranches) {
  const auto seconds = [](int count, std::string_view branch) {
    std::string body = "mov.u32 %r1, %tid0; mov.u32 %r2, 3;";
    for (int i = 0; i < count; ++i)
      body += fmt::format("setp.eq.s32 %p0, %r1, {0}; ", i) + fmt::format(fmt::runtime(branch), i);
    const std::string text =
        thread_kernel(".reg .b32 %r<3>; .reg .pred %p<2>;", body + "END: st.global.u32 [%out], %r1; ret;");
    const std::clock_t begin = std::clock();
    (void)lower_ok(text, level(LoweringLevel::kSchedule, 0, 75));
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  for (const std::string_view branch : {
           "@%p0 bra L{0}; add.u32 %r1, %r1, {0}; L{0}: ",
           "@%p0 bra END; ",
           "@%p0 bra L{0}; ld.global.u32 %r1, [%in]; L{0}: mad.lo.u32 %r2, %r2, %r2, {0}; ",
       }) {
    const double few = std::min(seconds(1000, branch), seconds(1000, branch));
    EXPECT_LT(seconds(10000, branch), 25 * few) << branch;
  }
}

TEST(PredicateBranches, LoadsFromGlobalMemoryNeedOtherWorkBesideThem) {
  const auto guarded = [](std::string_view before, std::string_view beside) {
    const std::string text = thread_kernel(
        ".reg .b32 %r<8>, %i; .reg .b64 %a; .reg .pred %p<4>;",
        fmt::format(
            "mov.u32 %r5, %tid0; mov.u32 %r6, 0; {} setp.gt.u32 %p0, %tid0, 9; mov.u32 %r2, 7; @%p0 bra L; "
            "ld.global.u32 %r2, [%in];\nL: {} st.global.u32 [%out], %r2; st.global.u32 [%out+4], %r5; ret;",
            before, beside));
    expect_same_everywhere(text, 32);
    return branches(text);
  };
  EXPECT_EQ(guarded("", ""), 1);
  EXPECT_EQ(guarded("", times(6, "mad.lo.u32 %r5, %r5, %r5, %tid0; ")), 0);
  EXPECT_EQ(guarded(times(6, "mad.lo.u32 %r5, %r5, %r5, %tid0; "), ""), 0);
  EXPECT_EQ(guarded("", times(6, "mad.lo.u32 %r2, %r2, %r2, %r2; ")), 1);  // waits for the load
  // A second such load is other work for the first.
  EXPECT_EQ(
      guarded("",
              "mov.u32 %r5, 3; setp.gt.u32 %p1, %tid0, 12; @%p1 bra M; ld.global.u32 %r5, [%in+64];\nM: "
              "ld.global.u32 %r6, [%in+128]; add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %tid0; "),
      0);
}

TEST(PredicateBranches, BothSidesIfTheFirstIsSevenWithItsBranchEight) {
  const auto both = [](int first, int second) {
    const std::string text =
        branching(kDivergent, "@%p0 bra E; " + times(first, "fma.rn.f32 %f0, %f0, %f1, %f0; ") +
                                  "bra L;\nE: " + times(second, "fma.rn.f32 %f1, %f1, %f0, %f1; ") + "\nL:");
    expect_same_everywhere(text, 32);
    return branches(text);
  };
  EXPECT_EQ(both(1, 1), 0);
  EXPECT_EQ(both(7, 7), 0);
  EXPECT_EQ(both(1, 8), 0);
  EXPECT_EQ(both(8, 1), 2);
  EXPECT_EQ(both(3, 12), 1);
}

TEST(PredicateBranches, ConditionsInARowBecomeOne) {
  const std::string second = "mul.lo.u32 %r3, %tid0, %tid0; setp.gt.u32 %p1, %r3, 400; @%p1 bra L; ";
  EXPECT_EQ(branches_over(kDivergent, second + "add.u32 %r2, %r2, 9;"), 0);
  EXPECT_EQ(branches_over(kDivergent, second + times(9, "fma.rn.f32 %f0, %f0, %f1, %f0; ")), 1);
  EXPECT_EQ(branches_over(kDivergent, second + "red.global.add.u32 [%out+64], 1;"), 1);
  const std::string either = branching(
      kDivergent, "@%p0 bra B; setp.gt.u32 %p1, %tid0, 20; @%p1 bra L;\nB: add.u32 %r2, %r2, 9;\nL:");
  expect_same_everywhere(either, 32);
  EXPECT_EQ(branches(either), 0);
}

TEST(PredicateBranches, GuardsInsideHoldTogetherWithTheBranch) {
  EXPECT_EQ(branches_over(kDivergent,
                          "setp.gt.u32 %p1, %tid0, 20; @%p1 add.u32 %r2, %r2, 9; @!%p1 add.u32 %r2, "
                          "%r2, 1; @%p1 st.global.u32 [%out+16], %r2;"),
            0);
  // The guard of the branch changes on the way: it could not guard the rest.
  EXPECT_EQ(branches_over(kDivergent, "setp.gt.u32 %p0, %tid0, 20; selp.u32 %r2, 5, %r2, %p0;"), 1);
}

TEST(PredicateBranches, AValueOfOnlyThePredicatedCodeNeedsNoRegisterAround) {
  // In a loop: what the lanes outside had in it is not wanted, so its register is free outside the code.
  std::string sums, out;
  for (int i = 0; i < 20; ++i) sums += fmt::format("ld.global.u32 %s{}, [%in+{}]; ", i, 4 * i);
  for (int i = 0; i < 20; ++i) out += fmt::format("xor.b32 %r2, %r2, %s{}; ", i);
  const auto registers = [&](std::string_view inner) {
    const std::string text = thread_kernel(
        ".reg .b32 %r<8>, %s<20>, %i; .reg .pred %p<3>;",
        fmt::format("mov.u32 %i, 0; mov.u32 %r2, 0;\nLOOP: setp.gt.u32 %p0, %tid0, %i; @%p0 bra L; {}\nL: "
                    "membar.cta; {} {} "
                    "membar.cta; add.u32 %i, %i, 1; setp.lt.u32 %p1, %i, 7; @%p1 bra LOOP; st.global.u32 "
                    "[%out], %r2; ret;",
                    inner, sums, out));
    expect_same_everywhere(text, 32);
    return lower_ok(text, level(LoweringLevel::kSchedule, 0, 75)).registers;
  };
  EXPECT_EQ(
      registers("mul.lo.u32 %r3, %i, %i; xor.b32 %r4, %r3, %tid0; mul.lo.u32 %r5, %r4, %r3; xor.b32 %r2, "
                "%r2, %r5;"),
      registers("xor.b32 %r2, %r2, %i;"));
}

}  // namespace
}  // namespace gpusim::isa
