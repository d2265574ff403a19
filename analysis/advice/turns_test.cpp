// Which loops have turns that need the ones before them.
#include "analysis/advice/turns.h"

#include <gtest/gtest.h>

#include <string>

#include "analysis/advice/rules_fixture.h"
#include "analysis/source/graph_parts.h"

namespace gpusim::analysis::advice {
namespace {

TEST(GraphParts, NodesThatLeadToEachOtherAreOnePart) {
  // 0 -> 1 -> 2 -> 1, 2 -> 3, and 4 by itself.
  const Parts parts = parts_of({{1}, {2}, {1, 3}, {}, {4}});
  EXPECT_EQ(parts.of[1], parts.of[2]);
  EXPECT_NE(parts.of[0], parts.of[1]);
  EXPECT_EQ(parts.size[parts.of[1]], 2U);
  EXPECT_EQ(parts.size[parts.of[4]], 1U);
  EXPECT_GT(parts.of[0], parts.of[1]) << "edges lead to smaller numbers";
  EXPECT_GT(parts.of[1], parts.of[3]);
  EXPECT_EQ(parts.edges, 5U);
  EXPECT_TRUE(parts_of({}).of.empty());
}

TEST_F(RulesTest, TurnsThatNeedTheOneBeforeAreNotToBeDivided) {
  kernel.name = "k";
  const auto follow = [&](const std::string& turn) {
    program = ".visible .entry k(\n)\n{\nmov.f32 %f1, 0f00000000;\nmov.u32 %r1, 0;\n$L1:\n" + turn +
              "\nadd.s32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, %r9;\n@%p1 bra $L1;\nret;\n}";
    return turns_of(kernel, program).follow_each_other;
  };
  EXPECT_FALSE(follow("ld.global.f32 %f2, [%rd1];\nadd.f32 %f1, %f1, %f2;")) << "a sum";
  EXPECT_FALSE(follow("fma.rn.f32 %f3, %f2, %f2, %f1;\nmov.f32 %f1, %f3;")) << "of products";
  EXPECT_TRUE(follow(
      "ld.global.f32 %f2, [%rd1];\nmax.f32 %f3, %f1, %f2;\nst.global.f32 [%rd2], %f3;\nmov.f32 %f1, %f3;"))
      << "a running maximum";
  EXPECT_FALSE(follow("ld.global.f32 %f2, [%rd1];\nadd.f32 %f3, %f2, %f2;\nst.global.f32 [%rd2], %f3;"))
      << "each turn stores its own";
  EXPECT_FALSE(follow("cvt.rn.f32.u32 %f3, %r1;\nst.global.f32 [%rd2], %f3;")) << "the turn's number";
  EXPECT_FALSE(
      follow("ld.global.f32 %f2, [%rd1];\nadd.f32 %f1, %f1, %f2;\nadd.f32 %f4, %f2, %f9;\n"
             "st.global.f32 [%rd2], %f4;"))
      << "a sum beside what is stored";
  EXPECT_TRUE(follow("mul.f32 %f3, %f1, %f2;\nmov.f32 %f1, %f3;")) << "a chain of products";
  EXPECT_TRUE(follow("fma.rn.f32 %f1, %f1, %f2, %f3;")) << "a polynomial by Horner's rule";
  EXPECT_TRUE(follow("ex2.approx.f32 %f3, %f1;\nadd.f32 %f1, %f1, %f3;")) << "steps of time";
  EXPECT_TRUE(follow(
      "mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd9, %rd2;\nld.global.u32 %r2, [%rd3];\nmov.u32 %r2, %r9;"))
      << "a list that is walked";
  EXPECT_TRUE(follow("ld.local.u32 %r2, [%rd1];\nxor.b32 %r3, %r2, %r4;\nst.local.u32 [%rd1+4], %r3;"))
      << "a stack in local memory";
  EXPECT_FALSE(follow("ld.local.f32 %f2, [%rd1];\nfma.rn.f32 %f3, %f4, %f4, %f2;\nst.local.f32 [%rd1], %f3;"))
      << "sums in an array";
  EXPECT_TRUE(
      follow("ld.local.f32 %f2, [%rd1];\nsetp.leu.f32 %p2, %f3, %f2;\n@%p2 bra $L2;\n"
             "st.local.f32 [%rd1], %f3;\n$L2:\nmov.u32 %r5, %r6;"))
      << "the largest values in their order";
  EXPECT_TRUE(
      follow("ld.local.f32 %f2, [%rd1];\nsetp.gtu.f32 %p2, %f3, %f2;\n@%p2 st.local.f32 [%rd1], %f3;"))
      << "the same under a predicate";
  EXPECT_FALSE(
      follow("ld.local.f32 %f2, [%rd1];\nsetp.leu.f32 %p2, %f3, %f4;\n@%p2 bra $L2;\n"
             "st.local.f32 [%rd1], %f3;\n$L2:\nadd.f32 %f5, %f5, %f2;"))
      << "what is loaded decides what is stored";
  program =
      ".visible .entry k(\n)\n{\nmov.f32 %f1, 0f00000000;\nmov.u32 %r1, 0;\n$L1:\n"
      "ld.global.f32 %f2, [%rd1];\nadd.f32 %f1, %f1, %f2;\nadd.s32 %r1, %r1, 1;\n@%p1 bra $L1;\n$L2:\n"
      "sub.f32 %f3, %f2, %f1;\nst.global.f32 [%rd2], %f3;\n@%p2 bra $L2;\nret;\n}";
  EXPECT_FALSE(turns_of(kernel, program).follow_each_other) << "a sum that another loop uses";
  operation("fp32", "mul.f32 %f3, %f1, %f2", 8);
  operation("int", "mov.f32 %f1, %f3", 8);
  EXPECT_TRUE(follow("mul.f32 %f3, %f1, %f2;\nmov.f32 %f1, %f3;"));
  operation("fp32", "add.f32 %f8, %f8, %f9", 20);
  EXPECT_TRUE(follow("mul.f32 %f3, %f1, %f2;\nmov.f32 %f1, %f3;")) << "one side of a condition in the loop";
  operation("fp32", "add.f32 %f8, %f8, %f9", 100);
  EXPECT_FALSE(follow("mul.f32 %f3, %f1, %f2;\nmov.f32 %f1, %f3;")) << "another loop is longer";
}

TEST_F(RulesTest, ARegisterThatIsWrittenTwiceInATurnHasTwoValues) {
  kernel.name = "k";
  const auto follow = [&](const std::string& turn) {
    program = ".visible .entry k(\n)\n{\nmov.u32 %r1, 0;\nmov.f32 %f1, 0f00000000;\n$L1:\n" + turn +
              "\nadd.s32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, %r9;\n@%p1 bra $L1;\nret;\n}";
    return turns_of(kernel, program).follow_each_other;
  };
  EXPECT_FALSE(
      follow("cvt.rn.f32.s32 %f1, %r1;\n@%p2 bra $L2;\nmul.f32 %f1, %f1, %f9;\n$L2:\n"
             "st.shared.f32 [%r3], %f1;"))
      << "a sign that some turns change";
  EXPECT_TRUE(follow("@%p2 cvt.rn.f32.s32 %f1, %r1;\nmul.f32 %f1, %f1, %f9;\nst.shared.f32 [%r3], %f1;"))
      << "the first value is not always new";
  EXPECT_TRUE(follow("@%p2 bra $L2;\ncvt.rn.f32.s32 %f1, %r1;\n$L2:\nmul.f32 %f1, %f1, %f9;")) << "nor here";
}

TEST_F(RulesTest, LoopsOfSomeOperationsAreLookedAtAlone) {
  kernel.name = "k";
  operation("fp32", "mul.f32 %f1, %f1, %f9", 8);
  operation("fp32", "add.f32 %f2, %f2, %f9", 1);
  program =
      ".visible .entry k(\n)\n{\nmov.f32 %f1, 0f00000000;\nmov.f32 %f2, 0f00000000;\n$L1:\nmul.f32 %f1, %f1, "
      "%f9;\n@%p1 bra $L1;\n$L2:\nadd.f32 %f2, %f2, %f9;\n@%p2 bra $L2;\nret;\n}";
  EXPECT_TRUE(turns_of(kernel, program).follow_each_other);
  EXPECT_FALSE(turns_of(kernel, program, [](uint64_t pc) { return pc == 1; }).follow_each_other);
  EXPECT_TRUE(turns_of(kernel, program, [](uint64_t pc) { return pc == 0; }).follow_each_other);
}

/// Loops one after the other, each of which goes on with the sum of the one before.
std::string sums(int loops, bool in_a_loop) {
  std::string text = ".visible .entry k(\n)\n{\nmov.f32 %f0, 0f00000000;\n$L:\n";
  for (int i = 0; i < loops; ++i) {
    const std::string sum = "%f" + std::to_string(i + 1), label = "$L" + std::to_string(i);
    text += "mov.f32 " + sum + ", %f" + std::to_string(i) + ";\nmov.u32 %r1, 0;\n" + label +
            ":\nld.global.f32 %v1, [%rd1];\nadd.f32 " + sum + ", " + sum +
            ", %v1;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, %r2;\n@%p1 bra " + label + ";\n";
  }
  const std::string last = "%f" + std::to_string(loops);
  if (in_a_loop) text += "mov.f32 %f0, " + last + ";\n@%p2 bra $L;\n";
  return text + "st.global.f32 [%rd2], " + last + ";\nret;\n}";
}

TEST_F(RulesTest, WorkGrowsWithTheProgramAndNotWithItsSquare) {
  kernel.name = "k";
  for (const bool in_a_loop : {false, true}) {
    const Turns few = turns_of(kernel, sums(500, in_a_loop)), many = turns_of(kernel, sums(4000, in_a_loop));
    EXPECT_FALSE(few.follow_each_other || many.follow_each_other);
    EXPECT_GT(few.looked_at, 500U);
    EXPECT_LE(many.looked_at, 8 * few.looked_at + 100) << "64 times would be quadratic; " << in_a_loop;
  }
}

TEST_F(RulesTest, ARegisterThatIsWrittenThousandsOfTimesIsLookedAtOnce) {
  kernel.name = "k";
  const auto looked_at = [&](int sums) {
    program = ".visible .entry k(\n)\n{\nmov.f32 %f1, 0f00000000;\n$L1:\n";
    for (int i = 0; i < sums; ++i) program += "ld.global.f32 %f2, [%rd1];\nadd.f32 %f1, %f1, %f2;\n";
    program += "@%p1 bra $L1;\nst.global.f32 [%rd2], %f1;\nret;\n}";
    const Turns turns = turns_of(kernel, program);
    EXPECT_FALSE(turns.follow_each_other);
    return turns.looked_at;
  };
  EXPECT_LE(looked_at(4000), 4 * looked_at(1000) + 100) << "16 would be quadratic";
}

}  // namespace
}  // namespace gpusim::analysis::advice
