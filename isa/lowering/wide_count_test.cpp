// Machine instructions of arithmetic on 64 bits, of operations that are one instruction with the one that
// reads them, and of sums in shared memory, against what ptxas 13.0 gives the same statements.
#include <fmt/format.h>

#include <tuple>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

constexpr std::string_view kStored = "st.global.u64 [%out], %d0; ret;";

/// A kernel with the numbers %d0 to %d2 of 64 bits, the words %w0 and %w1, and these as %d4 and %d5. It
/// stores %d0.
std::string integers(std::string_view statements) {
  return thread_kernel(".reg .b64 %d<8>; .reg .b32 %w<5>;",
                       fmt::format("ld.global.u64 %d0, [%in]; ld.global.u64 %d1, [%in+8]; ld.global.u64 %d2, "
                                   "[%in+16]; ld.global.u32 %w0, [%in+24]; ld.global.u32 %w1, [%in+28];\n"
                                   "xor.b64 %d0, %d0, %d1; xor.b64 %d0, %d0, %d2; cvt.u64.u32 %d4, %w0; "
                                   "cvt.u64.u32 %d5, %w1;\n{}\n{}",
                                   statements, kStored));
}
/// A kernel that loads the doubles %e0 and %e1 and stores %e0.
std::string doubles(std::string_view statements) {
  return thread_kernel(".reg .f64 %e<4>; .reg .pred %p; .reg .b32 %i;",
                       fmt::format("ld.global.f64 %e0, [%in]; ld.global.f64 %e1, [%in+8];\n{}\n"
                                   "st.global.f64 [%out], %e0; ret;",
                                   statements));
}
uint32_t instructions(const std::string& text, int capability) {
  return scheduled(text, capability).machine_instructions();
}

TEST(WideCount, ProductsOf64BitsTakeASumAndNoHalfThatIsZero) {
  const std::pair<const char*, uint32_t> cases[] = {
      {"mul.lo.s64 %d0, %d0, %d1;", 4},
      {"mul.lo.s64 %d0, %d0, %d1; add.s64 %d0, %d0, %d2;", 4},
      {"mul.lo.s64 %d0, %d0, %d1; sub.s64 %d0, %d0, %d2;", 6},
      {"mul.lo.s64 %d0, %d0, 1000003;", 3},
      {"mul.lo.s64 %d0, %d0, 1000003; add.s64 %d0, %d0, %d2;", 3},
      {"mul.lo.s64 %d0, %d0, 6364136223846793005;", 4},
      {"mul.lo.s64 %d3, %d0, %d1; add.s64 %d0, %d3, %d2; xor.b64 %d0, %d0, %d3;", 8},
  };
  for (const int capability : {75, 80, 90}) {
    const uint32_t alone = instructions(integers(""), capability);
    for (const auto& [statements, own] : cases) {
      EXPECT_EQ(instructions(integers(statements), capability), alone + own) << statements << capability;
      expect_same_everywhere(integers(statements), 32);
    }
  }
  EXPECT_EQ(instructions(integers("mul.lo.s64 %d3, %d4, 1000003; max.u64 %d0, %d0, %d3;"), 75),
            instructions(integers("max.u64 %d0, %d0, %d4;"), 75) + 1);
}

TEST(WideCount, SumsTakeAnotherSumOrAShiftedWord) {
  // Of three operands, of which no more is one instruction, or two of 64 bits; LEA.HI adds a word that is
  // shifted to the right, and does not subtract it. What another operation reads is made for it (ptxas 13).
  const std::pair<const char*, uint32_t> cases[] = {
      {"add.s64 %d3, %d0, %d1; add.s64 %d0, %d3, %d2;", 2},
      {"sub.s64 %d3, %d0, %d1; add.s64 %d0, %d3, 77;", 2},
      {"add.s64 %d3, %d0, %d1; add.s64 %d6, %d3, %d2; add.s64 %d0, %d6, %d1;", 4},
      {"shl.b64 %d3, %d0, 3; add.s64 %d6, %d3, %d1; add.s64 %d0, %d6, %d2;", 4},
      {"add.s64 %d3, %d0, %d1; add.s64 %d6, %d3, %d2; max.u64 %d0, %d3, %d6;", 8},
  };
  const uint32_t alone = instructions(integers(""), 75);
  for (const auto& [statements, own] : cases) {
    EXPECT_EQ(instructions(integers(statements), 75), alone + own) << statements;
    expect_same_everywhere(integers(statements), 32);
  }
  const std::pair<const char*, uint32_t> words[] = {
      {"shr.s32 %w2, %w0, 5; add.s32 %w3, %w2, %w1;", 1},
      {"shr.u32 %w2, %w0, 5; sub.s32 %w3, %w2, %w1;", 1},
      {"shr.s32 %w2, %w0, 5; sub.s32 %w3, %w1, %w2;", 2},
      {"shr.s32 %w2, %w0, %w1; add.s32 %w3, %w2, %w1;", 2},
      {"shr.s32 %w2, %w0, 5; add.s32 %w4, %w2, %w1; add.s32 %w3, %w4, %w0;", 2},
      {"shr.s32 %w2, %w0, 5; add.s32 %w3, %w2, %w1; mad.lo.s32 %w3, %w3, %w2, %w2;", 3},
  };
  const uint32_t stored = instructions(integers("st.global.u32 [%out+8], %w0;"), 75);
  for (const auto& [statements, own] : words)
    EXPECT_EQ(instructions(integers(std::string(statements) + " st.global.u32 [%out+8], %w3;"), 75),
              stored + own)
        << statements;
}

TEST(WideCount, ReciprocalRootsOfDoublesAreASequence) {
  // ptxas 13 for 7.5: 60 instructions for a kernel that makes one; of the 17 in its place five only lead to a
  // subroutine for what is no usual number.
  const std::string root = doubles("rsqrt.approx.f64 %e0, %e0;");
  EXPECT_EQ(instructions(root, 75), instructions(doubles(""), 75) + 17 + 34);
  const auto slots = [](const std::string& text) {
    const KernelImage image = scheduled(text, 75);
    const MicroOp& op = image.ops[position(image, "rsqrt.approx.f64 %e0, %e0")];
    return 1 + op.further_slots;
  };
  EXPECT_EQ(slots(root), 12);
}

/// Sums of products with `numbers` numbers, twice, in a loop or once more in another block.
std::string polynomial(int numbers, bool loop, std::string_view digits) {
  std::string body;
  for (int i = 0; i < numbers; ++i)
    body += fmt::format("fma.rn.f64 %e0, %e0, %e1, 0d3FF{}00{};\n", i % 10, digits);
  return doubles("mov.u32 %i, 0;\nL: .pragma \"nounroll\";\n" + body + body +
                 (loop ? "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %tid0; @%p bra L;"
                       : "setp.lt.u32 %p, %tid0, 9; @%p bra M; bar.warp.sync -1;\n" + body + "M:"));
}

TEST(WideCount, DoublesThatAreNoFloatsComeThroughTheWarpsRegistersFrom90On) {
  // Two instructions for each number where a block first needs it (ptxas 13, probes): the lower half of
  // others is zero, and they are operands. Four are put there in front of a loop, six in each of its rounds.
  const auto issued = [](const std::string& text, int capability) {
    uint32_t n = 0;
    for (const MicroOp& op : scheduled(text, capability).ops) n += 1 + op.further_slots;
    return n;
  };
  for (const int numbers : {4, 6}) {
    const std::string floats = polynomial(numbers, false, "0000000000"),
                      text = polynomial(numbers, false, "0000000001");
    EXPECT_EQ(instructions(text, 80), instructions(floats, 80));
    const uint32_t moves = numbers > 4 ? 24 : 8;
    EXPECT_EQ(instructions(text, 90), instructions(floats, 90) + moves);
    EXPECT_EQ(issued(text, 90), issued(floats, 90) + moves);
    const std::string loop = polynomial(numbers, true, "0000000001");
    EXPECT_EQ(issued(loop, 90), issued(polynomial(numbers, true, "0000000000"), 90) + (numbers > 4 ? 12 : 0));
    expect_same_everywhere(loop, 32);
  }
}

TEST(WideCount, MinimaAreOneInstructionWithWhatTheyTakeFrom90On) {
  // ptxas 13 for 9.0: VIADDMNMX, VIMNMX3 and a maximum with zero in any; three sums stay two instructions,
  // and a sum that somebody else reads stays one. For 8.0 (the second number) only sums are one with a sum.
  const std::tuple<const char*, uint32_t, uint32_t> cases[] = {
      {"add.s32 %w2, %w0, %w1; max.s32 %w2, %w2, %w3;", 1, 2},
      {"sub.s32 %w2, %w0, %w1; min.s32 %w2, %w2, %w3;", 1, 2},
      {"min.s32 %w2, %w0, %w1; min.s32 %w2, %w2, %w3;", 1, 2},
      {"min.s32 %w2, %w0, %w1; max.s32 %w2, %w2, 0; mad.lo.s32 %w2, %w2, %w2, %w3;", 2, 3},
      {"min.s32 %w2, %w0, %w1; max.s32 %w2, %w2, %w3;", 2, 2},
      {"min.u32 %w2, %w0, %w1; min.s32 %w2, %w2, %w3;", 2, 2},
      {"add.s32 %w4, %w0, %w1; add.s32 %w5, %w4, %w3; max.s32 %w2, %w5, %w0;", 2, 2},
      {"add.s32 %w2, %w0, %w1; max.s32 %w1, %w2, %w3; mad.lo.s32 %w2, %w2, %w2, %w1;", 3, 3},
      {"min.s32 %w4, %w0, %w1; min.s32 %w5, %w3, %w0; min.s32 %w2, %w4, %w5;", 2, 3},
      {"min.s32 %w4, %w0, %w1; min.s32 %w5, %w4, %w3; min.s32 %w2, %w5, 7;", 2, 3},
  };
  const auto text = [](std::string_view statements) {
    return thread_kernel(
        ".reg .b32 %w<6>;",
        fmt::format("ld.global.u32 %w0, [%in]; ld.global.u32 %w1, [%in+32]; ld.global.u32 %w2, "
                    "[%in+96]; ld.global.u32 %w3, [%in+128]; xor.b32 %w3, %w3, %w2;\n{}\n"
                    "st.global.u32 [%out], %w2; ret;",
                    statements));
  };
  const auto alone = [&](int capability) {
    return instructions(text("xor.b32 %w2, %w0, %w1; mad.lo.s32 %w2, %w2, %w2, %w3;"), capability) - 2;
  };
  for (const auto& [statements, for_90, for_80] : cases) {
    EXPECT_EQ(instructions(text(statements), 90), alone(90) + for_90) << statements;
    EXPECT_EQ(instructions(text(statements), 80), alone(80) + for_80) << statements;
    expect_same_everywhere(text(statements), 32);
  }
}

TEST(WideCount, SumsOfFloatsInSharedMemoryAreLoops) {
  // ptxas 13: for 7.5, 8.0 and 9.0 a kernel has 7, 6 and 6 instructions more with a float than with an
  // integer, one more with a double.
  const auto text = [](std::string_view type, std::string_view width) {
    return thread_kernel(fmt::format(".reg .{} %v; .shared .align 8 .b8 s[512]; .reg .b32 %a;", width),
                         fmt::format("ld.global.{0} %v, [%in]; mov.u32 %a, s; mad.lo.u32 %a, %tid0, 8, %a; "
                                     "red.shared.add.{1} [%a], %v; ret;",
                                     width, type));
  };
  const std::pair<int, uint32_t> cases[] = {{75, 7}, {80, 6}, {90, 6}};
  for (const auto& [capability, more] : cases) {
    EXPECT_EQ(instructions(text("f32", "b32"), capability),
              instructions(text("u32", "b32"), capability) + more);
    EXPECT_EQ(instructions(text("f64", "b64"), capability),
              instructions(text("u64", "b64"), capability) + more + 1);
  }
}

}  // namespace
}  // namespace gpusim::isa
