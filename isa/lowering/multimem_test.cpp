// multimem.ld_reduce, multimem.st and multimem.red on a machine of one GPU: what they leave in memory and
// load is compared with plain computations on the host.
#include <bit>
#include <cstring>
#include <random>

#include "isa/tests/family_kernels.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

uint64_t both(uint32_t low, uint32_t high) { return low | uint64_t{high} << 32; }

std::vector<uint32_t> random_words() {
  std::mt19937 random(24);
  std::vector<uint32_t> words(32 * 64);
  for (uint32_t& w : words) w = static_cast<uint32_t>(random());
  return words;
}

TEST(Multimem, WholeNumbersAndBits) {
  const std::vector<uint32_t> in = random_words();
  const std::vector<uint32_t> out = run_warp(warp_kernel(".reg .b32 %r<9>; .reg .b64 %d<9>;", R"(
          ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%in];
          ld.global.v2.u64 {%d0, %d1}, [%in+16];
          ld.global.u64 %d2, [%in+32];
          multimem.st.relaxed.gpu.global.u32 [%out], %r0;
          multimem.red.relaxed.gpu.global.add.u32 [%out], %r1;
          multimem.st.weak.global.s32 [%out+4], %r0;
          multimem.red.release.sys.global.min.s32 [%out+4], %r2;
          multimem.st.b32 [%out+8], %r3;
          multimem.red.xor.b32 [%out+8], %r1;
          multimem.st.release.gpu.global.b64 [%out+16], %d0;
          multimem.red.global.add.u64 [%out+16], %d1;
          multimem.st.u64 [%out+24], %d0;
          multimem.red.max.u64 [%out+24], %d2;
          multimem.st.s64 [%out+32], %d1;
          multimem.red.min.s64 [%out+32], %d2;
          multimem.st.b64 [%out+40], %d1;
          multimem.red.relaxed.cta.and.b64 [%out+40], %d0;
          multimem.ld_reduce.relaxed.gpu.global.max.u32 %r4, [%out];
          multimem.ld_reduce.acquire.sys.add.s32 %r5, [%out+4];
          multimem.ld_reduce.or.b32 %r6, [%out+8];
          multimem.ld_reduce.weak.global.add.u64 %d3, [%out+16];
          st.global.v2.u32 [%out+64], {%r4, %r5};
          st.global.u32 [%out+72], %r6;
          st.global.u64 [%out+80], %d3;
          ret;)"),
                                             in);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t *const w = &in[64 * lane], *const o = &out[64 * lane];
    const uint64_t d0 = both(w[4], w[5]), d1 = both(w[6], w[7]), d2 = both(w[8], w[9]);
    EXPECT_EQ(o[0], w[0] + w[1]);
    EXPECT_EQ(o[1], static_cast<uint32_t>(std::min(static_cast<int32_t>(w[0]), static_cast<int32_t>(w[2]))));
    EXPECT_EQ(o[2], w[3] ^ w[1]);
    EXPECT_EQ(both(o[4], o[5]), d0 + d1);
    EXPECT_EQ(both(o[6], o[7]), std::max(d0, d2));
    EXPECT_EQ(both(o[8], o[9]),
              static_cast<uint64_t>(std::min(static_cast<int64_t>(d1), static_cast<int64_t>(d2))));
    EXPECT_EQ(both(o[10], o[11]), d1 & d0);
    EXPECT_EQ(o[16], o[0]);
    EXPECT_EQ(o[17], o[1]);
    EXPECT_EQ(o[18], o[2]);
    EXPECT_EQ(both(o[20], o[21]), both(o[4], o[5]));
  }
}

TEST(Multimem, FloatsAndVectors) {
  const std::vector<uint32_t> in = random_words();
  std::vector<uint32_t> values(in.size());  // small numbers, whose sums are exact: floats, halves, bfloat16s
  const auto number = [&in](uint32_t lane, uint32_t k) {
    return static_cast<int>(in[64 * lane + k] % 64) - 32;
  };
  const auto bfloat = [](int v) { return std::bit_cast<uint32_t>(static_cast<float>(v)) >> 16; };
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t k = 0; k < 8; ++k) {
      values[64 * lane + k] = std::bit_cast<uint32_t>(static_cast<float>(number(lane, k)));
      values[64 * lane + 8 + k / 2] |= static_cast<uint32_t>(half_of(number(lane, k))) << (k % 2 * 16);
      values[64 * lane + 12 + k / 2] |= bfloat(number(lane, k)) << (k % 2 * 16);
    }
    for (uint32_t k = 0; k < 2; ++k) {
      const auto wide = std::bit_cast<uint64_t>(static_cast<double>(number(lane, k)));
      values[64 * lane + 16 + 2 * k] = static_cast<uint32_t>(wide);
      values[64 * lane + 17 + 2 * k] = static_cast<uint32_t>(wide >> 32);
    }
  }
  const std::vector<uint32_t> out =
      run_warp(warp_kernel(".reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b16 %h<9>; .reg .f64 %g<3>;", R"(
          ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%in];
          ld.global.v4.f32 {%f4, %f5, %f6, %f7}, [%in+16];
          multimem.st.relaxed.gpu.global.v4.f32 [%out], {%f0, %f1, %f2, %f3};
          multimem.red.relaxed.gpu.global.add.v4.f32 [%out], {%f4, %f5, %f6, %f7};
          multimem.ld_reduce.add.v4.f32 {%f0, %f1, %f2, %f3}, [%out];
          st.global.v4.f32 [%out+16], {%f0, %f1, %f2, %f3};
          ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%in+32];
          multimem.st.v2.f16x2 [%out+32], {%r0, %r1};
          multimem.red.add.v2.f16x2 [%out+32], {%r2, %r3};
          multimem.ld_reduce.add.acc::f32.v2.f16x2 {%r0, %r1}, [%out+32];
          st.global.v2.b32 [%out+40], {%r0, %r1};
          ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%in+48];
          mov.b32 {%h0, %h1}, %r0; mov.b32 {%h2, %h3}, %r1; mov.b32 {%h4, %h5}, %r2; mov.b32 {%h6, %h7}, %r3;
          multimem.st.v8.bf16 [%out+48], {%h0, %h1, %h2, %h3, %h4, %h5, %h6, %h7};
          multimem.red.release.gpu.global.add.v8.bf16 [%out+48], {%h7, %h6, %h5, %h4, %h3, %h2, %h1, %h0};
          multimem.ld_reduce.relaxed.gpu.global.max.v8.bf16 {%h0, %h1, %h2, %h3, %h4, %h5, %h6, %h7}, [%out+48];
          mov.b32 %r0, {%h0, %h1}; mov.b32 %r1, {%h2, %h3}; mov.b32 %r2, {%h4, %h5}; mov.b32 %r3, {%h6, %h7};
          st.global.v4.b32 [%out+64], {%r0, %r1, %r2, %r3};
          ld.global.v2.f64 {%g0, %g1}, [%in+64];
          multimem.st.f64 [%out+80], %g0;
          multimem.red.add.f64 [%out+80], %g1;
          ret;)"),
               values);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t* const o = &out[64 * lane];
    for (uint32_t k = 0; k < 4; ++k) {
      const uint32_t sum = std::bit_cast<uint32_t>(static_cast<float>(number(lane, k) + number(lane, k + 4)));
      EXPECT_EQ(o[k], sum);
      EXPECT_EQ(o[4 + k], sum);
      EXPECT_EQ(o[8 + k / 2] >> (k % 2 * 16) & 0xffff, half_of(number(lane, k) + number(lane, k + 4)));
      EXPECT_EQ(o[10 + k / 2], o[8 + k / 2]);
    }
    for (uint32_t k = 0; k < 8; ++k) {
      EXPECT_EQ(o[12 + k / 2] >> (k % 2 * 16) & 0xffff, bfloat(number(lane, k) + number(lane, 7 - k)));
      EXPECT_EQ(o[16 + k / 2], o[12 + k / 2]);
    }
    EXPECT_EQ(std::bit_cast<double>(both(o[20], o[21])), number(lane, 0) + number(lane, 1));
  }
}

TEST(Multimem, TheL1IsPassedByAndReleasesFence) {
  const auto lowered = [](std::string_view statement) {
    return lower_ok(warp_kernel(".reg .b32 %r<3>;", std::string("mov.u32 %r1, 1; ") + std::string(statement) +
                                                        "\nst.global.u32 [%out], %r1; ret;"),
                    level(LoweringLevel::kSchedule, 0, 90));
  };
  const KernelImage load = lowered("multimem.ld_reduce.global.add.u32 %r1, [%in];");
  const MicroOp* const op = find_op(load, OpKind::kLoad);
  ASSERT_NE(op, nullptr);
  EXPECT_TRUE(op->memory.bypasses_l1);
  EXPECT_EQ(count_class(lowered("multimem.red.release.gpu.global.add.u32 [%in], %r1;"), OpClass::kFence), 1u);
  EXPECT_EQ(count_class(lowered("multimem.red.relaxed.gpu.global.add.u32 [%in], %r1;"), OpClass::kFence), 0u);
}

}  // namespace
}  // namespace gpusim::isa
