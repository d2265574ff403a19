// Registers that ptxas 13.0 gives small kernels for sm_75, sm_80 and sm_90: what values have to do with each
// other (register_relations.h) decides about them.
#include <fmt/format.h>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

constexpr int kCapabilities[] = {75, 80, 90};

uint32_t registers_taken(std::string_view body, int capability) {
  const std::string text = fmt::format(
      ".version 9.0\n.target sm_{}\n.address_size 64\n"
      ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)\n{{\n.reg .pred %p<3>; .reg .b64 "
      "%a<9>, "
      "%d<40>; .reg .b32 %t, %r<120>; .reg .f64 %f<40>;\nld.param.u64 %a0, [p]; ld.param.u64 %a1, [q];\n"
      "mov.u32 %t, %tid.x;\n{}ret;\n}}\n",
      capability, body);
  LoweringOptions options = level(LoweringLevel::kSchedule, 0, capability);
  options.max_registers = 255;
  options.threads_per_sm = threads_per_sm(capability);
  return lower_ok(text, options).registers;
}

/// A word that is summed over lanes `steps` times.
std::string sum_of_words(int steps) {
  std::string body = "mul.wide.u32 %a2, %t, 4; add.s64 %a3, %a0, %a2; ld.global.u32 %r0, [%a3];\n";
  for (int i = 0; i < steps; ++i)
    body += fmt::format("shfl.sync.bfly.b32 %r{1}|%p1, %r{0}, {3}, 31, -1;\nadd.s32 %r{2}, %r{1}, %r{0};\n",
                        2 * i, 2 * i + 1, 2 * i + 2, i % 31 + 1);
  return body + fmt::format("st.global.u32 [%a3], %r{};\n", 2 * steps);
}

std::string sum_of_doubles(int steps) {
  std::string body = "mul.wide.u32 %a2, %t, 8; add.s64 %a3, %a0, %a2; ld.global.f64 %f0, [%a3];\n";
  for (int i = 0; i < steps; ++i)
    body += fmt::format(
        "mov.b64 {{%r{0},%r{1}}}, %f{4};\nshfl.sync.bfly.b32 %r{3}|%p1, %r{1}, {6}, 31, -1;\n"
        "shfl.sync.bfly.b32 %r{2}|%p1, %r{0}, {6}, 31, -1;\nmov.b64 %f{5}, {{%r{2},%r{3}}};\n"
        "add.f64 %f{7}, %f{4}, %f{5};\n",
        4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3, 2 * i, 2 * i + 1, i + 1, 2 * i + 2);
  return body + fmt::format("st.global.f64 [%a3], %f{};\n", 2 * steps);
}

TEST(RegisterRelations, AShuffleReadsItsWordLateAndASumReadsBothBanks) {
  // R0, then R5 for what the shuffle brings and for the sum, R4, R7, R6, R9, R8, R11, and R0 again.
  for (const int capability : kCapabilities) {
    EXPECT_EQ(registers_taken(sum_of_words(2), capability), 10u) << capability;
    EXPECT_EQ(registers_taken(sum_of_words(3), capability), 10u) << capability;
    EXPECT_EQ(registers_taken(sum_of_words(4), capability), 12u) << capability;
    EXPECT_EQ(registers_taken(sum_of_words(6), capability), 14u) << capability;
    EXPECT_EQ(registers_taken(sum_of_words(8), capability), 14u) << capability;
    EXPECT_EQ(registers_taken(sum_of_words(24), capability), 14u) << capability;
  }
}

TEST(RegisterRelations, WordsAreHalvesOfThePairsThatTheyMakeUp) {
  for (const int capability : kCapabilities) {
    EXPECT_EQ(registers_taken(sum_of_doubles(2), capability), 12u) << capability;
    EXPECT_EQ(registers_taken(sum_of_doubles(3), capability), 14u) << capability;
    EXPECT_EQ(registers_taken(sum_of_doubles(4), capability), 16u) << capability;
    EXPECT_EQ(registers_taken(sum_of_doubles(8), capability), 16u) << capability;
  }
}

TEST(RegisterRelations, AResultStandsInAPairThatReplacesIt) {
  // The index stands in R4, which the second address begins with, and three words in R0, R6 and R7.
  const std::string body =
      "mul.wide.u32 %a2, %t, 4; add.s64 %a3, %a1, %a2; ld.global.u32 %r0, [%a3]; ld.global.u32 %r1, "
      "[%a3+128];\nld.global.u32 %r2, [%a3+256]; mad.lo.s32 %r3, %r1, %r0, %r2;\nadd.s64 %a4, %a0, %a2; "
      "st.global.u32 [%a4], %r3;\n";
  EXPECT_EQ(registers_taken(body, 75), 10u);
  EXPECT_EQ(registers_taken(body, 80), 10u);
}

TEST(RegisterRelations, AFactorOfALoopAndItsSumHaveBanksOfTheirOwn) {
  // The counter stands in R0, the number that is added in R5, and the block size in R7 (ptxas for 8.0).
  const std::string body =
      "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mad.lo.s32 %r2, %r0, %r1, %t; ld.param.u32 %r3, [n];\n"
      "setp.ge.u32 %p1, %r2, %r3; @%p1 bra END;\nmul.wide.u32 %a2, %t, 4; add.s64 %a3, %a0, %a2; mov.u32 "
      "%r4, %nctaid.x; mul.lo.s32 %r5, %r1, %r4;\nLOOP: red.global.add.f32 [%a3], 0f3F800000;\nadd.s32 %r2, "
      "%r2, %r5; setp.lt.u32 %p2, %r2, %r3; @%p2 bra LOOP;\nEND:\n";
  EXPECT_EQ(registers_taken(body, 80), 10u);
}

TEST(RegisterRelations, ANumberIsMovedBeforeTheOperationInFrontOfItsReader) {
  // ptxas for 9.0: R9 for the factor, as the index in R7 is read between its move and the product; for 8.0
  // R7.
  const std::string body =
      "mul.wide.u32 %a2, %t, 4; add.s64 %a3, %a1, %a2; ld.global.u32 %r0, [%a3];\nmad.lo.s32 %r1, %r0, "
      "1664525, 1013904223; add.s64 %a4, %a0, %a2; st.global.u32 [%a4], %r1;\n";
  EXPECT_EQ(registers_taken(body, 80), 10u);
  EXPECT_EQ(registers_taken(body, 90), 12u);
}

}  // namespace
}  // namespace gpusim::isa
