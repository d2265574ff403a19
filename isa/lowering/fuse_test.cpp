// Addresses, wide products, comparisons, rotations, bitwise functions of up to three values and tests of the
// bits of a byte become one operation, with the values of the several.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

/// %a0 to %a4 (words) or %b0 to %b4 (64 bits) are read; %a9 or %b9 is stored.
std::string computing(std::string_view body, bool wide) {
  std::string text = ".reg .b32 %a<10>, %t<9>; .reg .b64 %b<10>, %u<9>; .reg .pred %p0;\n";
  for (int i = 0; i < 5; ++i) {
    text +=
        wide ? fmt::format(
                   "ld.global.u32 %a0, [%in+{}]; ld.global.u32 %a1, [%in+{}]; mov.b64 %b{}, {{%a0, %a1}};\n",
                   8 * i, 8 * i + 4, i)
             : fmt::format("ld.global.u32 %a{}, [%in+{}];\n", i, 4 * i);
  }
  text += "setp.lt.u32 %p0, %tid0, 9;\n" + std::string(body);
  text += wide ? "\nmov.b64 {%a8, %a9}, %b9; st.global.u32 [%out], %a8; st.global.u32 [%out+4], %a9; ret;"
               : "\nst.global.u32 [%out], %a9; ret;";
  return thread_kernel("", text);
}

/// Bitwise operations, shifts and sums that are left.
size_t operations(const std::string& body, bool wide, int capability = 75) {
  const KernelImage image = lower_ok(computing(body, wide), level(LoweringLevel::kSchedule, 0, capability));
  size_t n = 0;
  for (const MicroOp& op : image.ops) {
    if (op.kind != OpKind::kAlu) continue;
    const std::string& text = image.ptx[op.ptx_index].text;
    for (const std::string_view name : {"and.b", "or.b", "xor.b", "not.b", "shl.b", "shr.", "lop3", "add.u"})
      n += text.starts_with(name) && text.find("%p") == std::string::npos ? 1 : 0;
  }
  return n;
}
std::string widened(std::string body) {
  for (size_t at = 0; (at = body.find("b32", at)) != std::string::npos;) body.replace(at, 3, "b64");
  for (size_t at = 0; (at = body.find("%a", at)) != std::string::npos;) body.replace(at, 2, "%b");
  for (size_t at = 0; (at = body.find("%t", at)) != std::string::npos;) body.replace(at, 2, "%u");
  return body;
}

TEST(Fuse, BitwiseFunctionsOfThreeValues) {
  const std::vector<std::pair<std::string, size_t>> cases = {
      {"xor.b32 %t1, %a0, %a1; xor.b32 %a9, %t1, %a2;", 1},
      {"and.b32 %t1, %a0, %a1; not.b32 %t2, %a0; and.b32 %t3, %t2, %a2; or.b32 %a9, %t1, %t3;", 1},
      {"not.b32 %t1, %a1; and.b32 %t2, %t1, %a2; xor.b32 %a9, %t2, %a0;", 1},
      {"and.b32 %t1, %a0, %a1; and.b32 %t2, %a0, %a2; and.b32 %t3, %a1, %a2; xor.b32 %t4, %t1, %t2; "
       "xor.b32 %a9, %t4, %t3;",
       1},
      {"xor.b32 %t1, %a0, %a1; xor.b32 %t2, %t1, %a2; xor.b32 %t3, %t2, %a3; xor.b32 %a9, %t3, %a4;", 2},
      {"and.b32 %t1, %a0, 255; or.b32 %t2, %t1, 4096; xor.b32 %a9, %t2, %a1;", 2},
      {"and.b32 %t1, %a0, 255; or.b32 %t2, %t1, %a1; and.b32 %t3, %t2, 255; xor.b32 %a9, %t3, %a1;", 1},
      {"xor.b32 %t1, %a0, %a1; xor.b32 %t2, %t1, %a2; and.b32 %a9, %t1, %t2;", 1},
      {"not.b32 %t1, %a0; not.b32 %t2, %t1; not.b32 %t3, %t2; and.b32 %a9, %t3, %a1;", 1},
      {"xor.b32 %t1, %a0, %a1; @%p0 mov.b32 %a0, %a3; xor.b32 %t2, %t1, %a2; xor.b32 %a9, %t2, %a0;", 2},
      {"and.b32 %t1, %a0, %a1; @%p0 xor.b32 %t1, %a2, %a3; xor.b32 %a9, %t1, %a4;", 2},
  };
  for (const auto& [body, expected] : cases) {
    EXPECT_EQ(operations(body, false), expected) << body;
    EXPECT_GE(operations(body, false, 61), expected) << body;
    expect_same_everywhere(computing(body, false), 64);
    const std::string wide = widened(body);
    EXPECT_EQ(operations(wide, true), expected) << wide;
    expect_same_everywhere(computing(wide, true), 64);
  }
}

TEST(Fuse, Rotations) {
  const std::vector<std::pair<std::string, size_t>> cases = {
      {"shl.b32 %t1, %a0, 7; shr.b32 %t2, %a0, 25; or.b32 %a9, %t1, %t2;", 1},
      {"shl.b32 %t1, %a0, 31; shr.b32 %t2, %a0, 1; xor.b32 %a9, %t2, %t1;", 1},
      {"shl.b32 %t1, %a0, 7; shr.b32 %t2, %a0, 24; or.b32 %a9, %t1, %t2;", 3},
      {"shl.b32 %t1, %a0, 7; shr.b32 %t2, %a1, 25; or.b32 %a9, %t1, %t2;", 3},
      {"shl.b32 %t1, %a0, 0; shr.b32 %t2, %a0, 32; or.b32 %a9, %t1, %t2;", 3},
      {"shl.b32 %t1, %a0, 7; shr.b32 %t2, %a0, 25; and.b32 %a9, %t1, %t2;", 3},
  };
  for (const auto& [body, expected] : cases) {
    EXPECT_EQ(operations(body, false), expected) << body;
    expect_same_everywhere(computing(body, false), 64);
  }
  const std::vector<std::pair<std::string, size_t>> wide_cases = {
      {"shl.b64 %u1, %b0, 7; shr.b64 %u2, %b0, 57; or.b64 %b9, %u1, %u2;", 1},
      {"shl.b64 %u1, %b0, 32; shr.u64 %u2, %b0, 32; add.u64 %b9, %u1, %u2;", 1},
      {"shl.b64 %u1, %b0, 63; shr.u64 %u2, %b0, 1; add.u64 %b9, %u2, %u1;", 1},
      {"shl.b64 %u1, %b0, 7; shr.s64 %u2, %b0, 57; or.b64 %b9, %u1, %u2;", 3},
      {"shl.b64 %u1, %b0, 7; shr.u64 %u2, %b0, 25; or.b64 %b9, %u1, %u2;", 3},
      {"shl.b64 %u1, %b0, 7; @%p0 mov.b64 %b0, %b1; shr.u64 %u2, %b0, 57; or.b64 %b9, %u1, %u2;", 3},
      {"shl.b64 %u1, %b0, 9; shr.u64 %u2, %b0, 55; xor.b64 %u3, %u1, %u2; xor.b64 %u4, %u3, %b1; "
       "xor.b64 %b9, %u4, %b2;",
       2},
  };
  for (const auto& [body, expected] : wide_cases) {
    EXPECT_EQ(operations(body, true), expected) << body;
    expect_same_everywhere(computing(body, true), 64);
  }
}

/// Adds 1 << bit to the result if the bit of %a0 is set, or not set in every third case.
std::string counting(const std::vector<int>& bits, std::string_view between = "") {
  std::string body = "mov.u32 %a9, 0;";
  std::string uses;
  for (size_t i = 0; i < bits.size(); ++i) {
    body += fmt::format(".reg .pred %q{0}; and.b32 %t1, %a0, {1}; setp.{2}.b32 %q{0}, %t1, 0; ", i,
                        1U << bits[i], i % 3 == 2 ? "eq" : "ne");
    if (i == 0) body += between;
    uses += fmt::format("@%q{} add.u32 %a9, %a9, {}; ", i, 1U << bits[i]);
  }
  return computing(body + uses, false);
}

/// Operations that write predicates, without the one for %p0.
std::vector<int> tests_of(const std::string& kernel) {
  const KernelImage image = lower_ok(kernel, level(LoweringLevel::kSchedule, 0, 75));
  std::vector<int> written;
  for (const MicroOp& op : image.ops) {
    if (op.kind == OpKind::kAlu && image.ptx[op.ptx_index].text.starts_with("setp.") &&
        image.ptx[op.ptx_index].text.find("%p0") == std::string::npos)
      written.push_back(op.num_sb_writes);
  }
  std::ranges::sort(written, std::greater<>());
  return written;
}

TEST(Fuse, TestsOfUpToSevenBitsOfAByte) {
  using testing::ElementsAre;
  EXPECT_THAT(tests_of(counting({0, 1, 2, 3, 4, 5, 6})), ElementsAre(7));
  EXPECT_THAT(tests_of(counting({6, 3, 0})), ElementsAre(3));
  EXPECT_THAT(tests_of(counting({0, 1, 2, 3, 4, 5, 6, 7})), ElementsAre(7, 1));  // r2p does not reach bit 7
  EXPECT_THAT(tests_of(counting({24, 25, 26, 30, 8, 9, 1})), ElementsAre(4, 2, 1));
  EXPECT_THAT(tests_of(counting({0, 1, 2}, "@%p0 mov.b32 %a0, %a1; ")), ElementsAre(2, 1));
  for (const std::vector<int>& bits :
       {std::vector<int>{0, 1, 2, 3, 4, 5, 6}, {0, 1, 2, 3, 4, 5, 6, 7}, {30, 24, 29, 9, 8, 11, 10, 31}}) {
    expect_same_everywhere(counting(bits), 64);
    expect_same_everywhere(counting(bits, "@%p0 mov.b32 %a0, %a1; "), 64);
  }
}

TEST(Fuse, AddressesBecomeOneMultiplyAdd) {
  // %in and %out: tid * 256 + parameter, each one mad.wide that reads the parameter from the constant bank.
  const std::string text = thread_kernel(".reg .b32 %r0;", R"(
    ld.global.u32 %r0, [%in];
    st.global.u32 [%out], %r0;
    ret;)");
  const KernelImage image = scheduled(text);
  ASSERT_EQ(image.ops.size(), 6u);  // tid, two addresses, load, store, exit
  EXPECT_EQ(count_class(image, OpClass::kIntMulWide), 2u);
  EXPECT_EQ(count_class(image, OpClass::kLoadParam), 0u);
  EXPECT_EQ(image.launch_constants.size(), 2u);
  EXPECT_EQ(total_ptx(image), total_ptx(lower_ok(text, level(LoweringLevel::kNone))));
  expect_same_everywhere(text, 64);
}

TEST(WideProducts, AreOneInstructionFromVoltaOn) {
  const std::string text = thread_kernel(".reg .b32 %r<4>; .reg .b64 %rd<8>;", R"(
    ld.global.u32 %r0, [%in];
    mul.wide.u32 %rd0, %r0, %r0;
    mad.wide.s32 %rd1, %r0, %r0, %rd0;
    mul.lo.u64 %rd2, %rd0, %rd1;
    cvt.u32.u64 %r1, %rd2;
    mul.hi.u32 %r2, %r1, %r0;
    mul.lo.u32 %r3, %r2, %r0;
    st.global.u32 [%out], %r3;
    ret;)");
  for (const LoweringLevel at : {LoweringLevel::kNone, LoweringLevel::kClean, LoweringLevel::kSchedule}) {
    const KernelImage volta = lower_ok(text, level(at, 0, 70)), fermi = lower_ok(text, level(at, 0, 20));
    // The products of 64 bits stay what they are; before Volta the wide ones are counted with them.
    EXPECT_EQ(count_class(volta, OpClass::kIntMul64), 1u);
    EXPECT_GE(count_class(fermi, OpClass::kIntMul64), 3u);
    // Those that keep the upper half occupy the multipliers for longer.
    EXPECT_GE(count_class(volta, OpClass::kIntMulWide), 3u);
    EXPECT_EQ(count_class(volta, OpClass::kIntMul), 1u);
    EXPECT_EQ(count_class(fermi, OpClass::kIntMulWide), 0u);
    EXPECT_EQ(count_class(fermi, OpClass::kIntMul), 2u);
  }
  expect_same_everywhere(text, 64);
}

TEST(Fuse, LogicAndComparisons) {
  const std::string text = thread_kernel(".reg .b32 %r<8>; .reg .pred %p<6>;", R"(
    ld.global.u32 %r0, [%in];
    ld.global.u32 %r1, [%in+4];
    ld.global.u32 %r2, [%in+8];
    not.b32 %r3, %r0;
    and.b32 %r4, %r3, %r1;
    xor.b32 %r5, %r2, %r4;
    setp.lt.s32 %p0, %r0, %r1;
    setp.gt.u32 %p1, %r1, %r2;
    and.pred %p2, %p0, %p1;
    not.pred %p3, %p2;
    setp.eq.u32 %p4, %r2, 7;
    or.pred %p5, %p3, %p4;
    selp.u32 %r6, %r5, %r4, %p5;
    @%p3 add.u32 %r6, %r6, 3;
    st.global.u32 [%out], %r5;
    st.global.u32 [%out+4], %r6;
    ret;)");
  const KernelImage image = scheduled(text);
  size_t predicate_logic = 0, combined = 0;
  for (const MicroOp& op : image.ops) {
    if (op.kind == OpKind::kAlu && op.num_src == 0 && op.pred_dst[0] != kNoPredicate) ++predicate_logic;
    if (op.num_src == 2 && op.pred_dst[0] != kNoPredicate && op.pred_src[0] != kNoPredicate) ++combined;
  }
  EXPECT_EQ(predicate_logic, 0u);
  EXPECT_EQ(combined, 2u);
  EXPECT_LT(image.ops.size(), lower_ok(text, level(LoweringLevel::kClean, 0, 75)).ops.size());
  expect_same_everywhere(text, 64);
}

TEST(Fuse, ASourceThatChangesMeanwhileIsNotReadLater) {
  expect_same_everywhere(thread_kernel(".reg .b32 %r<8>; .reg .pred %p<4>;", R"(
    ld.global.u32 %r0, [%in];
    shl.b32 %r1, %r0, 3;
    mov.u32 %r0, 11;
    add.u32 %r2, %r1, %r0;
    setp.lt.u32 %p0, %r2, 400;
    and.b32 %r3, %r2, 12;
    add.u32 %r2, %r2, 77;
    setp.gt.u32 %p1, %r2, 100;
    xor.pred %p2, %p0, %p1;
    or.b32 %r3, %r3, %r2;
    @%p2 add.u32 %r3, %r3, 1;
    st.global.u32 [%out], %r3;
    ret;)"),
                         64);
}

TEST(Fuse, MasksAndTheirComparisonsBecomeTestsOfBits) {
  const auto tests_of = [](std::string_view statements) {
    const std::string text = thread_kernel(".reg .b32 %r<9>; .reg .pred %p<9>;", fmt::format(R"(
    ld.global.u32 %r0, [%in];
    ld.global.u32 %r1, [%in+4];
    {}
    selp.u32 %r3, %r0, 3, %p0;
    @%p1 add.u32 %r3, %r3, 100;
    @!%p2 xor.b32 %r3, %r3, %r1;
    st.global.u32 [%out], %r3;
    ret;)",
                                                                                             statements));
    expect_same_everywhere(text, 64);
    const KernelImage image = scheduled(text);
    std::array<size_t, 3> n{};  // operations that write one predicate, two, and masks that are left
    for (const MicroOp& op : image.ops) {
      if (op.pred_dst[0] != kNoPredicate) ++n[op.pred_dst[1] != kNoPredicate ? 1 : 0];
      if (op.kind == OpKind::kAlu && op.op_class == OpClass::kInt && op.pred_dst[0] == kNoPredicate &&
          op.pred_src[0] == kNoPredicate && op.guard == kNoPredicate && op.num_src == 2)
        ++n[2];
    }
    return n;
  };
  using Counts = std::array<size_t, 3>;
  // Two bits of one byte together, in either sense; a bit of another byte, and the eighth, alone.
  EXPECT_EQ(
      tests_of("and.b32 %r4, %r0, 4; setp.ne.u32 %p0, %r4, 0; and.b32 %r5, %r0, 2; setp.eq.s32 %p1, %r5, 0;"
               "and.b32 %r6, %r0, 1024; setp.eq.u32 %p2, %r6, 1024;"),
      (Counts{1, 1, 0}));
  EXPECT_EQ(
      tests_of("and.b32 %r4, %r0, 128; setp.ne.u32 %p0, %r4, 0; and.b32 %r5, %r0, 64; setp.eq.b32 %p1, %r5, "
               "64; and.b32 %r6, %r1, 32; setp.ne.u32 %p2, %r6, 0;"),
      (Counts{3, 0, 0}));
  // Masks of several bits, and of a register, alone; what is compared with another number stays.
  EXPECT_EQ(
      tests_of("and.b32 %r4, %r0, 12; setp.ne.u32 %p0, %r4, 0; and.b32 %r5, %r0, %r1; setp.eq.b32 %p1, %r5, "
               "0; and.b32 %r6, %r0, 48; setp.eq.u32 %p2, %r6, 16;"),
      (Counts{3, 0, 1}));
  // The word changes between the tests.
  EXPECT_EQ(
      tests_of("and.b32 %r4, %r0, 4; setp.ne.u32 %p0, %r4, 0; add.u32 %r0, %r0, 5; and.b32 %r5, %r0, 2; "
               "setp.eq.s32 %p1, %r5, 0; setp.lt.u32 %p2, %r0, %r1;"),
      (Counts{3, 0, 1}));
  // A test takes the logic on its predicate.
  EXPECT_EQ(
      tests_of("and.b32 %r4, %r0, 4; setp.lt.u32 %p1, %r0, %r1; setp.eq.u32 %p4, %r4, 0; or.pred %p0, %p4, "
               "%p1; setp.gt.u32 %p2, %r1, 9;"),
      (Counts{3, 0, 0}));
}

}  // namespace
}  // namespace gpusim::isa
