// Rotations, bitwise functions of up to three values and tests of the bits of a byte become one operation,
// with the values of the several.
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

}  // namespace
}  // namespace gpusim::isa
