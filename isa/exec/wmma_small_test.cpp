// wmma of elements of 4 bits and of one: loads, products and stores against sums over the bits in memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "isa/tests/ptx_test_util.h"
#include "isa/tests/warp_runner.h"

namespace gpusim::isa {
namespace {

using namespace test;

struct SmallCase {
  std::string type;        ///< u4 s4 b1
  std::string op;          ///< .xor.popc, .and.popc, or nothing
  int stride = 0;          ///< elements from one row of A, or column of B, to the next
  std::string suffix;      ///< .satfinite
  bool c_by_rows = true;   ///< and D the other way round
  bool in_shared = false;  ///< A and B
  std::string register_stride;

  [[nodiscard]] int bits() const { return type == "b1" ? 1 : 4; }
  [[nodiscard]] int depth() const { return type == "b1" ? 128 : 32; }
};

constexpr int kSide = 8;
constexpr uint64_t kRegion = 1024;  // bytes for each matrix

/// Element `k` of a line, with the first elements of a byte in its lowest bits.
int64_t element(const SmallCase& t, const std::vector<uint8_t>& memory, int line, int k) {
  const size_t bit = (static_cast<size_t>(line) * static_cast<size_t>(t.stride) + static_cast<size_t>(k)) *
                     static_cast<size_t>(t.bits());
  const int64_t v = memory[bit / 8] >> bit % 8 & ((1 << t.bits()) - 1);
  return t.type == "s4" && v >= 8 ? v - 16 : v;
}

int64_t product(const SmallCase& t, int64_t a, int64_t b) {
  return t.op == ".xor.popc" ? a ^ b : t.op == ".and.popc" ? a & b : a * b;
}

std::string program(const SmallCase& t) {
  const std::string shape = fmt::format("m8n8k{}", t.depth());
  const std::string space = t.in_shared ? ".shared" : ".global", base = t.in_shared ? "area" : "%p";
  std::string text =
      ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %p, %q, "
      "%s, %w;\n.reg .b32 %lane, %stride, %r<6>;\n.shared .align 32 .b8 area[2048];\nld.param.u64 %p, [p];\n";
  text += fmt::format("mov.u32 %stride, {};\n", t.stride);
  if (t.in_shared) {
    text +=
        "mov.u32 %lane, %laneid;\nmul.wide.u32 %w, %lane, 8;\nadd.u64 %q, %p, %w;\nmov.u64 %s, area;\n"
        "add.u64 %s, %s, %w;\n";
    for (int at = 0; at < 2048; at += 256)
      text += fmt::format("ld.global.u64 %w, [%q+{0}];\nst.shared.u64 [%s+{0}], %w;\n", at);
    text += "bar.sync 0;\n";
  }
  const std::string stride = t.register_stride.empty() ? fmt::format("{}", t.stride) : t.register_stride;
  text += fmt::format("wmma.load.a.sync.aligned.row.{}{}.{} {{%r0}}, [{}], {};\n", shape, space, t.type, base,
                      stride);
  text += fmt::format("wmma.load.b.sync.aligned.col.{}{}.{} {{%r1}}, [{}+{}], {};\n", shape, space, t.type,
                      base, kRegion, stride);
  text += fmt::format("wmma.load.c.sync.aligned.{}.{}.global.s32 {{%r2, %r3}}, [%p+{}];\n",
                      t.c_by_rows ? "row" : "col", shape, 2 * kRegion);
  text += fmt::format(
      "wmma.mma{0}.sync.aligned.row.col.{1}.s32.{2}.{2}.s32{3} {{%r4, %r5}}, {{%r0}}, {{%r1}}, {{%r2, "
      "%r3}};\n",
      t.op, shape, t.type, t.suffix);
  text += fmt::format("wmma.store.d.sync.aligned.{}.{}.global.s32 [%p+{}], {{%r4, %r5}};\nret;\n}}\n",
                      t.c_by_rows ? "col" : "row", shape, 3 * kRegion);
  return text;
}

void run_and_compare(const SmallCase& t, SimdLevel simd, LoweringLevel level, uint32_t seed) {
  const std::string text = program(t);
  SCOPED_TRACE(text);
  const Module module = parse_ok(text);
  ASSERT_EQ(messages(verify_module(module)), "");
  LoweringOptions options;
  options.simd = simd;
  options.level = level;
  auto lowered = lower_kernel(module, *module.find_function("k"), options);
  ASSERT_TRUE(std::holds_alternative<KernelImage>(lowered)) << messages(std::get<Diagnostics>(lowered));
  std::mt19937 random(seed);
  std::vector<uint8_t> a(kRegion), b(kRegion);
  for (std::vector<uint8_t>* m : {&a, &b})
    for (uint8_t& v : *m) v = static_cast<uint8_t>(random());
  std::vector<int32_t> c(kSide * kSide);
  for (int32_t& v : c) {
    const auto near = static_cast<int32_t>(random() % 2000);
    v = t.suffix.empty() ? near - 1000 : random() % 2 == 0 ? INT32_MAX - near : INT32_MIN + near;
  }
  TestMemory memory;
  const uint64_t base = memory.add(4 * kRegion);
  std::memcpy(memory.data(base), a.data(), kRegion);
  std::memcpy(memory.data(base) + kRegion, b.data(), kRegion);
  std::memcpy(memory.data(base) + 2 * kRegion, c.data(), c.size() * sizeof(int32_t));
  const auto result = BlockRunner(std::get<KernelImage>(lowered), memory, pack_params({base}), 32).run();
  ASSERT_TRUE(result.finished) << fault_name(result.fault);
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) {
      const int by_rows = i * kSide + j, by_columns = j * kSide + i;
      int64_t sum = c[static_cast<size_t>(t.c_by_rows ? by_rows : by_columns)];
      for (int k = 0; k < t.depth(); ++k) sum += product(t, element(t, a, i, k), element(t, b, j, k));
      if (!t.suffix.empty()) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      int32_t found = 0;
      const int place = t.c_by_rows ? by_columns : by_rows;
      std::memcpy(&found, memory.data(base) + 3 * kRegion + static_cast<size_t>(place) * sizeof found,
                  sizeof found);
      ASSERT_EQ(found, static_cast<int32_t>(sum)) << "row " << i << " column " << j;
    }
  }
}

class WmmaSmallTest : public testing::TestWithParam<SimdLevel> {};

TEST_P(WmmaSmallTest, EveryTypeOperationLayoutAndSpace) {
  if (!simd_supported(GetParam())) GTEST_SKIP() << "this CPU lacks " << simd_level_name(GetParam());
  const std::vector<SmallCase> cases = {
      {"u4", "", 32, "", true, false, ""},           {"u4", "", 64, "", false, true, ""},
      {"u4", "", 96, ".satfinite", true, true, ""},  {"s4", "", 32, "", false, false, ""},
      {"s4", "", 160, "", true, true, "%stride"},    {"s4", "", 96, ".satfinite", false, false, ""},
      {"b1", ".xor.popc", 128, "", true, false, ""}, {"b1", ".xor.popc", 384, "", false, true, "%stride"},
      {"b1", ".and.popc", 256, "", true, true, ""},  {"b1", ".and.popc", 128, "", false, false, ""}};
  uint32_t seed = 1;
  for (const SmallCase& t : cases) {
    for (const LoweringLevel level : {LoweringLevel::kNone, LoweringLevel::kClean})
      run_and_compare(t, GetParam(), level, seed++);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, WmmaSmallTest,
                         testing::Values(SimdLevel::kBaseline, SimdLevel::kAvx2, SimdLevel::kAvx512),
                         [](const auto& level) { return std::string(simd_level_name(level.param)); });

/// What ptxas 13 refuses, too.
TEST(WmmaSmall, WhatDoesNotGoTogetherIsAnError) {
  const auto error_of = [](const std::string& statement, int target = 80, const char* version = "7.8") {
    const Module module = parse_ok(fmt::format(
        ".version {}\n.target sm_{}\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .b64 %p;\n"
        ".reg .b32 %r<8>;\nld.param.u64 %p, [p];\n{};\nret;\n}}\n",
        version, target, statement));
    return messages(verify_module(module));
  };
  const std::string registers = " {%r0, %r1}, {%r2}, {%r3}, {%r4, %r5}";
  const std::string bits = ".sync.aligned.row.col.m8n8k128.s32.b1.b1.s32";
  const auto mma = [&](const std::string& words, int target = 80, const char* version = "7.8") {
    return error_of("wmma.mma" + words + registers, target, version);
  };
  EXPECT_EQ(mma(".xor.popc" + bits, 75, "6.3"), "");
  EXPECT_EQ(mma(".sync.aligned.row.col.m8n8k32.s32.s4.s4.s32.satfinite", 75, "6.3"), "");
  EXPECT_NE(mma(".and.popc" + bits, 75), "");
  EXPECT_NE(mma(".and.popc" + bits, 80, "7.0"), "");
  EXPECT_NE(mma(bits), "");
  EXPECT_NE(mma(".xor" + bits), "");
  EXPECT_NE(mma(".xor.popc" + bits + ".satfinite"), "");
  EXPECT_NE(mma(".xor.popc.sync.aligned.row.col.m8n8k32.s32.u4.u4.s32"), "");
  EXPECT_NE(mma(".sync.aligned.row.col.m8n8k32.s32.s4.s4.s32", 72), "");
  EXPECT_NE(mma(".sync.aligned.row.col.m8n8k32.s32.s4.u4.s32"), "");
  EXPECT_NE(mma(".sync.aligned.row.col.m8n8k32.s32.u4.u8.s32"), "");
  EXPECT_NE(mma(".sync.aligned.row.col.m8n8k32.s32.u8.u8.s32"), "");
  EXPECT_NE(mma(".sync.aligned.row.col.m8n8k32.s32.b1.b1.s32"), "");
  EXPECT_NE(mma(".sync.aligned.col.col.m8n8k32.s32.s4.s4.s32"), "");
  EXPECT_NE(mma(".sync.aligned.row.row.m8n8k32.s32.s4.s4.s32"), "");
  EXPECT_EQ(error_of("wmma.load.a.sync.aligned.row.m8n8k32.s4 {%r0}, [%p]"), "");
  EXPECT_NE(error_of("wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r0}, [%p]"), "");
  EXPECT_NE(error_of("wmma.load.b.sync.aligned.row.m8n8k32.s4 {%r0}, [%p]"), "");
  EXPECT_NE(error_of("wmma.load.b.sync.aligned.col.m8n8k128.u4 {%r0}, [%p]"), "");
  EXPECT_NE(error_of("wmma.load.b.sync.aligned.col.m8n8k32.u8 {%r0}, [%p]"), "");
  EXPECT_NE(error_of("wmma.load.c.sync.aligned.col.m8n8k32.u4 {%r0, %r1}, [%p]"), "");
}

}  // namespace
}  // namespace gpusim::isa
