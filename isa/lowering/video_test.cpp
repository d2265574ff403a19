// Video instructions, scalar and SIMD, compared with plain computations on the host.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "isa/tests/family_kernels.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

/// Results of `statement` with %r1, %r2, %r3 the lane's random words, which `expected` gets.
void check_video(const std::string& statement,
                 const std::function<uint32_t(uint32_t, uint32_t, uint32_t)>& expected) {
  SCOPED_TRACE(statement);
  std::mt19937 random(11);
  std::vector<uint32_t> input(32 * 64);
  for (uint32_t& v : input) v = random() % 4 == 0 ? random() % 3 - 1 : static_cast<uint32_t>(random());
  const std::vector<uint32_t> out =
      run_warp(warp_kernel(".reg .b32 %r<8>;", "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%in];\n" + statement +
                                                   "\nst.global.u32 [%out], %r0;\nret;"),
               input);
  for (size_t lane = 0; lane < 32; ++lane) {
    const uint32_t* in = &input[64 * lane];
    EXPECT_EQ(out[64 * lane], expected(in[0], in[1], in[2])) << lane;
  }
}

TEST(Video, ScalarsOfWordsBytesAndHalves) {
  check_video("vadd.u32.u32.u32 %r0, %r1, %r2;", [](uint32_t a, uint32_t b, uint32_t) { return a + b; });
  check_video("vadd.s32.s32.s32.sat %r0, %r1, %r2;", [](uint32_t a, uint32_t b, uint32_t) {
    const int64_t sum = int64_t{static_cast<int32_t>(a)} + static_cast<int32_t>(b);
    return static_cast<uint32_t>(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
  });
  check_video("vsub.s32.s32.u32.add %r0, %r1.b3, %r2.h1, %r3;", [](uint32_t a, uint32_t b, uint32_t c) {
    return static_cast<uint32_t>(static_cast<int8_t>(a >> 24) - static_cast<int32_t>(b >> 16)) + c;
  });
  check_video("vabsdiff.u32.u32.u32.max %r0, %r1.h0, %r2.h1, %r3;", [](uint32_t a, uint32_t b, uint32_t c) {
    const auto d = static_cast<uint32_t>(std::abs(static_cast<int>(a & 0xffff) - static_cast<int>(b >> 16)));
    return std::max(d, c);
  });
  check_video("vmin.s32.s32.s32 %r0.b2, %r1, %r2, %r3;", [](uint32_t a, uint32_t b, uint32_t c) {
    const auto low = static_cast<uint32_t>(std::min(static_cast<int32_t>(a), static_cast<int32_t>(b)));
    return (c & 0xff00ffff) | (low & 0xff) << 16;
  });
  check_video("vmax.s32.s32.s32.sat %r0.h1, %r1, %r2, %r3;", [](uint32_t a, uint32_t b, uint32_t c) {
    const auto high = std::clamp(std::max(static_cast<int32_t>(a), static_cast<int32_t>(b)), -32768, 32767);
    return (c & 0xffff) | static_cast<uint32_t>(high) << 16;
  });
  check_video("vshl.u32.u32.u32.clamp %r0, %r1, %r2.b0;",
              [](uint32_t a, uint32_t b, uint32_t) { return (b & 0xff) > 31 ? 0 : a << (b & 0xff); });
  check_video("vshl.u32.u32.u32.sat.clamp %r0, %r1, %r2;", [](uint32_t a, uint32_t b, uint32_t) {
    const uint64_t wide = b > 31 ? uint64_t{a} << 32 : uint64_t{a} << b;
    return static_cast<uint32_t>(std::min<uint64_t>(wide, UINT32_MAX));
  });
  check_video("vshr.u32.u32.u32.wrap.add %r0, %r1, %r2, %r3;",
              [](uint32_t a, uint32_t b, uint32_t c) { return (a >> (b & 31)) + c; });
  check_video("vshr.s32.s32.u32.clamp %r0, %r1, %r2;", [](uint32_t a, uint32_t b, uint32_t) {
    return static_cast<uint32_t>(static_cast<int32_t>(a) >> std::min(b, 31u));
  });
  check_video("vset.u32.s32.lt %r0, %r1, %r2;", [](uint32_t a, uint32_t b, uint32_t) {
    return int64_t{a} < int64_t{static_cast<int32_t>(b)} ? 1u : 0u;
  });
  check_video("vmad.s32.s32.s32.po.shr7 %r0, %r1.b1, %r2.h0, %r3;", [](uint32_t a, uint32_t b, uint32_t c) {
    const int64_t p =
        int64_t{static_cast<int8_t>(a >> 8)} * static_cast<int16_t>(b) + static_cast<int32_t>(c) + 1;
    return static_cast<uint32_t>(p >> 7);
  });
}

TEST(Video, ProductsOrWhatIsAddedToThemMayBeNegated) {
  check_video("vmad.s32.u32.u32 %r0, -%r1.h0, %r2.h1, %r3;",
              [](uint32_t a, uint32_t b, uint32_t c) { return c - (a & 0xffff) * (b >> 16); });
  check_video("vmad.s32.u32.s32.sat.shr7 %r0, %r1, -%r2.b1, %r3;", [](uint32_t a, uint32_t b, uint32_t c) {
    const int64_t v = -int64_t{a} * static_cast<int8_t>(b >> 8) + static_cast<int32_t>(c);
    return static_cast<uint32_t>(std::clamp<int64_t>(v >> 7, INT32_MIN, INT32_MAX));
  });
  check_video("vmad.s32.s32.s32.shr15 %r0, %r1.h1, %r2.h1, -%r3;", [](uint32_t a, uint32_t b, uint32_t c) {
    const int64_t p = int64_t{static_cast<int16_t>(a >> 16)} * static_cast<int16_t>(b >> 16);
    return static_cast<uint32_t>((p - static_cast<int32_t>(c)) >> 15);
  });
  check_video("vmad.u32.u32.u32 %r0, -%r1.b0, -%r2.b0, %r3;",
              [](uint32_t a, uint32_t b, uint32_t c) { return c + (a & 0xff) * (b & 0xff); });
}

TEST(Video, SimdOfBytesAndHalves) {
  const auto bytes = [](uint32_t w, size_t i) { return static_cast<int>(w >> (8 * i) & 0xff); };
  check_video("vabsdiff4.u32.u32.u32.add %r0, %r1, %r2, %r3;", [&](uint32_t a, uint32_t b, uint32_t c) {
    for (size_t i = 0; i < 4; ++i) c += static_cast<uint32_t>(std::abs(bytes(a, i) - bytes(b, i)));
    return c;
  });
  check_video("vadd4.s32.s32.s32.sat %r0, %r1, %r2, %r3;", [&](uint32_t a, uint32_t b, uint32_t) {
    uint32_t d = 0;
    for (size_t i = 0; i < 4; ++i) {
      const int sum = static_cast<int8_t>(bytes(a, i)) + static_cast<int8_t>(bytes(b, i));
      d |= static_cast<uint32_t>(std::clamp(sum, -128, 127) & 0xff) << (8 * i);
    }
    return d;
  });
  check_video("vmax2.s32.s32.s32 %r0.h1, %r1, %r2, %r3;", [](uint32_t a, uint32_t b, uint32_t c) {
    const int high = std::max(static_cast<int16_t>(a >> 16), static_cast<int16_t>(b >> 16));
    return (c & 0xffff) | static_cast<uint32_t>(high) << 16;
  });
  check_video("vset4.u32.u32.ge.add %r0.b20, %r1, %r2, %r3;", [&](uint32_t a, uint32_t b, uint32_t c) {
    return c + (bytes(a, 0) >= bytes(b, 0) ? 1 : 0) + (bytes(a, 2) >= bytes(b, 2) ? 1 : 0);
  });
}

TEST(Video, AveragesRoundAwayFromZero) {
  const auto bytes = [](uint32_t w, size_t i) { return static_cast<int>(w >> (8 * i) & 0xff); };
  check_video("vavrg4.u32.u32.u32 %r0, %r1, %r2, %r3;", [&](uint32_t a, uint32_t b, uint32_t) {
    uint32_t d = 0;
    for (size_t i = 0; i < 4; ++i) d |= static_cast<uint32_t>((bytes(a, i) + bytes(b, i) + 1) / 2) << (8 * i);
    return d;
  });
  check_video("vavrg4.s32.s32.s32 %r0, %r1, %r2, %r3;", [&](uint32_t a, uint32_t b, uint32_t) {
    uint32_t d = 0;
    for (size_t i = 0; i < 4; ++i) {
      const double mean = (static_cast<int8_t>(bytes(a, i)) + static_cast<int8_t>(bytes(b, i))) / 2.0;
      d |= static_cast<uint32_t>(static_cast<int>(std::round(mean)) & 0xff) << (8 * i);
    }
    return d;
  });
  check_video("vavrg2.s32.u32.s32.add %r0, %r1, %r2, %r3;", [](uint32_t a, uint32_t b, uint32_t c) {
    for (int i = 0; i < 2; ++i) {
      const double mean = (static_cast<uint16_t>(a >> (16 * i)) + static_cast<int16_t>(b >> (16 * i))) / 2.0;
      c += static_cast<uint32_t>(static_cast<int>(std::round(mean)));
    }
    return c;
  });
}

TEST(Video, WhatIsAddedUpIsNotCutToTheSizeOfAPart) {
  check_video("vadd2.u32.u32.u32.add %r0, %r1, %r2, %r3;", [](uint32_t a, uint32_t b, uint32_t c) {
    return c + (a & 0xffff) + (b & 0xffff) + (a >> 16) + (b >> 16);
  });
  check_video("vsub4.s32.u32.u32.add %r0.b0, %r1, %r2, %r3;",
              [](uint32_t a, uint32_t b, uint32_t c) { return c + (a & 0xff) - (b & 0xff); });
  check_video("vabsdiff2.s32.s32.s32.add %r0.h1, %r1, %r2, %r3;", [](uint32_t a, uint32_t b, uint32_t c) {
    const int difference = static_cast<int16_t>(a >> 16) - static_cast<int16_t>(b >> 16);
    return c + static_cast<uint32_t>(std::abs(difference));
  });
  check_video("vmin4.u32.s32.s32.add %r0.b3, %r1, %r2, %r3;", [](uint32_t a, uint32_t b, uint32_t c) {
    return c + static_cast<uint32_t>(std::min(static_cast<int8_t>(a >> 24), static_cast<int8_t>(b >> 24)));
  });
}

TEST(Video, SimdSourcesAreAnyPartsOfBoth) {
  check_video("vadd4.u32.u32.u32 %r0, %r1.b0725, %r2.b6144, %r3;", [](uint32_t a, uint32_t b, uint32_t) {
    const auto part = [&](int n) { return n < 4 ? a >> (8 * n) & 0xff : b >> (8 * (n - 4)) & 0xff; };
    const int first[] = {5, 2, 7, 0}, second[] = {4, 4, 1, 6};
    uint32_t d = 0;
    for (int i = 0; i < 4; ++i) d |= ((part(first[i]) + part(second[i])) & 0xff) << (8 * i);
    return d;
  });
  check_video("vsub2.s32.s32.s32 %r0.h1, %r1.h03, %r2, %r3;", [](uint32_t a, uint32_t b, uint32_t c) {
    return (c & 0xffff) | ((a & 0xffff) - (b >> 16)) << 16;
  });
  check_video("vabsdiff4.u32.u32.u32.add %r0.b0, %r1, %r2.b0003, %r3;", [](uint32_t a, uint32_t, uint32_t c) {
    return c + static_cast<uint32_t>(std::abs(static_cast<int>(a & 0xff) - static_cast<int>(a >> 24)));
  });
}

}  // namespace
}  // namespace gpusim::isa
