// The registers in which ptxas' code has the sources of operations (KernelImage::source_registers). A
// thread's registers lie in two banks, even and odd ones, and ptxas 13 has words that one operation reads in
// both of them (shares of its code in register_relations.h and docs/studies/compiler_history.md).
#include <fmt/format.h>

#include <set>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

KernelImage lowered(std::string_view body, LoweringLevel at = LoweringLevel::kSchedule, int capability = 90) {
  const std::string text = fmt::format(
      ".version 7.8\n.target sm_{}\n.address_size 64\n"
      ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)\n{{\n.reg .pred %p<3>; .reg .b64 "
      "%a<9>;\n"
      ".reg .b32 %t, %r<40>; .reg .f32 %f<60>; .shared .align 4 .b8 words[4096];\n"
      "ld.param.u64 %a0, [p]; ld.param.u64 %a1, [q];\nmov.u32 %t, %tid.x;\n{}ret;\n}}\n",
      capability, body);
  LoweringOptions options = level(at, 0, capability);
  options.max_registers = 255;
  options.threads_per_sm = threads_per_sm(capability);
  return lower_ok(text, options);
}

/// The registers that each operation of `of` reads, if it reads `words` of them.
std::vector<std::set<int>> registers_read(const KernelImage& image, OpClass of, size_t words) {
  std::vector<std::set<int>> found;
  for (size_t i = 0; i < image.ops.size(); ++i) {
    std::set<int> read;
    for (const uint8_t r : image.source_registers.at(i))
      if (r != kInNoRegister) read.insert(r);
    if (image.ops[i].op_class == of && read.size() == words) found.push_back(read);
  }
  return found;
}

bool in_both_banks(const std::set<int>& registers) {
  std::set<int> banks;
  for (const int r : registers) banks.insert(r % 2);
  return banks.size() == 2;
}

/// Words of a thread's own, in %f0 and up.
std::string loaded(int words) {
  std::string body = "mul.wide.u32 %a2, %t, 4; add.s64 %a3, %a0, %a2; add.s64 %a4, %a1, %a2;\n";
  for (int i = 0; i < words; ++i) body += fmt::format("ld.global.f32 %f{}, [%a3+{}];\n", i, 4096 * i);
  return body;
}

TEST(SourceRegisters, WordsThatAreReadTogetherStandInBothBanks) {
  for (const int capability : {75, 80, 90}) {
    const std::string products = "mul.f32 %f1, %f0, %f1;\nmul.f32 %f2, %f1, %f2;\nmul.f32 %f3, %f2, %f3;\n";
    const auto two = registers_read(
        lowered(loaded(4) + products + "st.global.f32 [%a4], %f3;\n", LoweringLevel::kSchedule, capability),
        OpClass::kFp32Mul, 2);
    ASSERT_EQ(two.size(), 3u) << capability;
    for (const auto& read : two) EXPECT_TRUE(in_both_banks(read)) << capability;

    const std::string chain = "fma.rn.f32 %f2, %f0, %f1, %f2;\nfma.rn.f32 %f3, %f1, %f2, %f3;\n";
    const auto three = registers_read(
        lowered(loaded(4) + chain + "st.global.f32 [%a4], %f3;\n", LoweringLevel::kSchedule, capability),
        OpClass::kFp32, 3);
    ASSERT_EQ(three.size(), 2u) << capability;
    for (const auto& read : three) EXPECT_TRUE(in_both_banks(read)) << capability;
  }
}

TEST(SourceRegisters, ABankHasOnlyHalfOfTheRegisters) {
  // Twenty-eight words that are alive at once are all multiplied by one: they cannot all stand in the other
  // bank without more registers than are wanted anyway.
  std::string products, sums;
  for (int i = 1; i < 28; ++i) products += fmt::format("mul.rn.f32 %f{0}, %f{0}, %f0;\n", i);
  for (int i = 2; i < 28; ++i) sums += fmt::format("add.f32 %f1, %f1, %f{};\n", i);
  const auto read = registers_read(lowered(loaded(28) + products + sums + "st.global.f32 [%a4], %f1;\n"),
                                   OpClass::kFp32Mul, 2);
  ASSERT_EQ(read.size(), 27u);
  const auto apart = std::ranges::count_if(read, in_both_banks);
  EXPECT_LT(apart, 27);
  EXPECT_GE(apart, 9);
}

TEST(SourceRegisters, ConstantsAreInNone) {
  const KernelImage image =
      lowered(loaded(1) +
              "ld.param.u32 %r0, [n]; cvt.rn.f32.u32 %f1, %t; fma.rn.f32 %f2, %f0, 0f3F000000, %f1;\n"
              "st.global.f32 [%a4], %f2;\n");
  EXPECT_EQ(registers_read(image, OpClass::kFp32, 2).size(), 1u);
  EXPECT_TRUE(
      lowered(loaded(1) + "st.global.f32 [%a4], %f0;\n", LoweringLevel::kClean).source_registers.empty());
}

TEST(SourceRegisters, AStoreToSharedMemoryReadsBothBanks) {
  // ptxas 13.0 takes 10 registers for 9.0: the address and the word of STS are in different banks.
  const std::string reversed =
      "ld.param.u32 %r0, [n]; mul.wide.s32 %a2, %t, 4; add.s64 %a3, %a0, %a2; ld.global.u32 %r1, [%a3];\n"
      "shl.b32 %r2, %t, 2; mov.u32 %r3, words; add.s32 %r4, %r3, %r2; st.shared.u32 [%r4], %r1;\nbar.sync "
      "0;\n"
      "not.b32 %r5, %t; add.s32 %r6, %r5, %r0; shl.b32 %r7, %r6, 2; add.s32 %r8, %r3, %r7;\n"
      "ld.shared.u32 %r9, [%r8]; st.global.u32 [%a3], %r9;\n";
  EXPECT_EQ(lowered(reversed).registers, 10u);
}

}  // namespace
}  // namespace gpusim::isa
