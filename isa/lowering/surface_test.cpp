// Surfaces, gathers, cubes, offsets and queries of textures: what they give is compared with plain
// computations on the host.
#include "isa/exec/surface.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "isa/tests/family_kernels.h"
#include "isa/tests/texture_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

/// Runs `body` with %h the handle of `texture`, %out and %r1 the lane; the texture's bytes are `bytes`.
struct SurfaceRun {
  RunResult result;
  std::vector<uint32_t> out;
  std::vector<std::byte> bytes;
};
SurfaceRun run_surface(const std::string& body, Texture texture, std::vector<std::byte> bytes) {
  const std::string text =
      warp_kernel(".reg .b64 %h; .reg .b64 %d<8>; .reg .b32 %r<20>; .reg .b16 %s<4>; .reg .f32 %f<20>;",
                  "mov.u64 %h, %in; sub.s64 %h, %h, %off; mov.u32 %r1, %tid0;\n" + body + "\nret;");
  SurfaceRun run;
  for (const LoweringLevel l : {LoweringLevel::kNone, LoweringLevel::kSchedule}) {
    TextureMemory memory;
    run.bytes = bytes;
    texture.data = texture.surface = run.bytes.data();
    memory.textures = {texture};
    const uint64_t out = memory.add(32ul * 256);
    const KernelImage image = lower_ok(text, level(l, 0, 75));
    BlockRunner runner(image, memory, pack_params({texture_handle(0), out}), 32);
    run.result = runner.run();
    run.out = memory.read<uint32_t>(out, 32ul * 64);
  }
  return run;
}

Texture plane(uint32_t width, uint32_t height) {
  Texture t;
  t.format = Type::kU32;
  t.dimensions = 2;
  t.size = {width, height, 1};
  t.pitch = 4ul * width;
  return t;
}
std::vector<std::byte> numbered(size_t words) {
  std::vector<std::byte> bytes(4 * words);
  for (uint32_t i = 0; i < words; ++i) std::memcpy(&bytes[4ul * i], &i, 4);
  return bytes;
}

TEST(Surfaces, LoadsTakeBytesOfARow) {
  // Row lane / 8, column lane % 8.
  const std::string place = "and.b32 %r2, %r1, 7; shl.b32 %r2, %r2, 2; shr.u32 %r3, %r1, 3;\n";
  SurfaceRun run = run_surface(place + "suld.b.2d.b32.trap %r4, [%h, {%r2, %r3}]; st.global.u32 [%out], %r4;",
                               plane(8, 4), numbered(32));
  ASSERT_TRUE(run.result.finished);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(run.out[64ul * i], i);
  run =
      run_surface(place +
                      "and.b32 %r2, %r2, 16; suld.b.2d.v4.b32.zero {%r4, %r5, %r6, %r7}, [%h, {%r2, %r3}];\n"
                      "st.global.v4.u32 [%out], {%r4, %r5, %r6, %r7};",
                  plane(8, 4), numbered(32));
  for (uint32_t i = 0; i < 32; ++i)
    for (uint32_t e = 0; e < 4; ++e) EXPECT_EQ(run.out[64 * i + e], i / 4 * 4 + e);
  run = run_surface(
      place +
          "and.b32 %r2, %r2, 24; suld.b.2d.b64.trap %d0, [%h, {%r2, %r3}]; st.global.u64 [%out], %d0;\n"
          "suld.b.2d.b8.trap %s0, [%h, {%r2, %r3}]; cvt.u32.u16 %r5, %s0; st.global.u32 [%out+8], %r5;",
      plane(8, 4), numbered(32));
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(run.out[64 * i], i / 2 * 2);
    EXPECT_EQ(run.out[64 * i + 1], i / 2 * 2 + 1);
    EXPECT_EQ(run.out[64 * i + 2], i / 2 * 2);
  }
}

TEST(Surfaces, OutsideIsZeroOrClampedOrATrap) {
  const std::string left =
      "sub.s32 %r2, %r1, 4; shl.b32 %r2, %r2, 2; mov.u32 %r3, 9;\n";  // from -4, below the last row
  for (const bool clamp : {false, true}) {
    const SurfaceRun run =
        run_surface(left + fmt::format("suld.b.2d.b32.{} %r4, [%h, {{%r2, %r3}}]; st.global.u32 [%out], %r4;",
                                       clamp ? "clamp" : "zero"),
                    plane(8, 4), numbered(32));
    ASSERT_TRUE(run.result.finished);
    for (uint32_t i = 0; i < 32; ++i)
      EXPECT_EQ(run.out[64ul * i],
                clamp ? 24u + static_cast<uint32_t>(std::clamp(static_cast<int>(i) - 4, 0, 7)) : 0u);
  }
  const SurfaceRun trap =
      run_surface(left + "suld.b.2d.b32.trap %r4, [%h, {%r2, %r3}];", plane(8, 4), numbered(32));
  EXPECT_EQ(trap.result.fault, FaultKind::kSurface);
  const SurfaceRun misaligned =
      run_surface("mov.u32 %r2, 2; suld.b.2d.b32.trap %r4, [%h, {%r2, %r2}];", plane(8, 4), numbered(32));
  EXPECT_EQ(misaligned.result.fault, FaultKind::kMisaligned);
}

TEST(Surfaces, StoresOfEveryGeometry) {
  const auto word = [](const SurfaceRun& run, size_t i) {
    uint32_t v = 0;
    std::memcpy(&v, &run.bytes[4 * i], 4);
    return v;
  };
  const std::string value = "mad.lo.u32 %r4, %r1, 3, 7; and.b32 %r2, %r1, 3; shl.b32 %r2, %r2, 2;\n";
  Texture line = plane(32, 1);
  line.dimensions = 1;
  SurfaceRun run =
      run_surface(value + "shl.b32 %r2, %r1, 2; sust.b.1d.b32.trap [%h, {%r2}], %r4;", line, numbered(32));
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(word(run, i), 3 * i + 7);
  Texture cube = plane(4, 4);
  cube.dimensions = 3, cube.size = {4, 4, 2};
  run = run_surface(value +
                        "shr.u32 %r3, %r1, 2; and.b32 %r3, %r3, 3; shr.u32 %r5, %r1, 4;\n"
                        "sust.b.3d.b32.zero [%h, {%r2, %r3, %r5, %r5}], %r4;",
                    cube, numbered(32));
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(word(run, i), 3 * i + 7);
  Texture layers = plane(4, 2);
  layers.array = true, layers.layers = 4;
  run = run_surface(value +
                        "shr.u32 %r3, %r1, 2; and.b32 %r3, %r3, 1; shr.u32 %r5, %r1, 3;\n"
                        "sust.b.a2d.b32.clamp [%h, {%r5, %r2, %r3, %r3}], %r4;",
                    layers, numbered(32));
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(word(run, i), 3 * i + 7);
  // Outside nothing is written.
  run = run_surface(value + "add.u32 %r2, %r2, 16; mov.u32 %r3, 0; sust.b.2d.b32.zero [%h, {%r2, %r3}], %r4;",
                    plane(4, 8), numbered(32));
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(word(run, i), i);
}

TEST(Surfaces, ReductionsOfAllLanesAndTypes) {
  const auto number = [](const SurfaceRun& run, size_t i) {
    int64_t v = 0;
    std::memcpy(&v, &run.bytes[8 * i], 8);
    return v;
  };
  const std::string value =  // lane * 3 - 40, the first two numbers of a row of 64 bits in turn
      "mul.lo.u32 %r4, %r1, 3; sub.s32 %r4, %r4, 40; cvt.s64.s32 %d0, %r4;\n"
      "and.b32 %r2, %r1, 1; shl.b32 %r2, %r2, 3; mov.u32 %r3, 1;\n";
  const auto of_lanes = [](const auto& step, auto first, int parity) {
    auto v = first;
    for (int lane = parity; lane < 32; lane += 2) v = step(v, static_cast<decltype(first)>(lane * 3 - 40));
    return v;
  };
  const auto run = [&](const std::string& statement) {
    return run_surface(value + statement, plane(4, 2), numbered(8));
  };
  const auto least = [](auto a, auto b) { return std::min(a, b); };
  const auto most = [](auto a, auto b) { return std::max(a, b); };
  for (int parity = 0; parity < 2; ++parity) {  // at byte 8 * parity of row 1: words 4 and 6 of the surface
    const auto at = static_cast<size_t>(2 + parity);
    const auto word = [&](const std::string& statement) {
      return static_cast<uint32_t>(number(run(statement), at));
    };
    const uint32_t first = 4 + 2 * static_cast<uint32_t>(parity);
    EXPECT_EQ(word("sured.b.add.2d.u32.trap [%h, {%r2, %r3}], %r4;"),
              of_lanes([](auto a, auto b) { return a + b; }, first, parity));
    EXPECT_EQ(static_cast<int>(word("sured.b.min.2d.s32.zero [%h, {%r2, %r3}], %r4;")),
              of_lanes(least, static_cast<int>(first), parity));
    EXPECT_EQ(word("sured.b.max.2d.u32.clamp [%h, {%r2, %r3}], %r4;"), of_lanes(most, first, parity));
    EXPECT_EQ(word("sured.b.and.2d.b32.trap [%h, {%r2, %r3}], %r4;"),
              of_lanes([](auto a, auto b) { return a & b; }, first, parity));
    EXPECT_EQ(word("sured.b.or.2d.b32.trap [%h, {%r2, %r3}], %r4;"),
              of_lanes([](auto a, auto b) { return a | b; }, first, parity));
    const int64_t both = int64_t{first + 1} << 32 | first;
    EXPECT_EQ(number(run("sured.b.add.2d.u64.trap [%h, {%r2, %r3}], %d0;"), at),
              of_lanes([](auto a, auto b) { return a + b; }, both, parity));
    EXPECT_EQ(number(run("sured.b.min.2d.s64.trap [%h, {%r2, %r3}], %d0;"), at),
              of_lanes(least, both, parity));
  }
}

TEST(Surfaces, ReductionsByFormatCountTexels) {
  const std::string text =
      "sub.s32 %r4, %r1, 9; and.b32 %r2, %r1, 3; mov.u32 %r3, 0; sured.p.min.2d.b32.trap [%h, {%r2, %r3}], "
      "%r4;";
  for (const Type format : {Type::kU32, Type::kS32}) {
    Texture t = plane(4, 1);
    t.format = format;
    const SurfaceRun run = run_surface(text, t, numbered(4));
    for (int i = 0; i < 4; ++i) {
      int32_t got = 0;
      std::memcpy(&got, &run.bytes[4 * static_cast<size_t>(i)], 4);
      // Unsigned, lanes 9 to 12 have 0 to 3; signed, lanes 0 to 3 have the least numbers.
      const int least = std::min(i, (i + 3) % 4);
      EXPECT_EQ(got, format == Type::kS32 ? i - 9 : least) << i;
    }
  }
  // Nothing is written outside, and a texel of floating point has no reduction.
  const SurfaceRun out =
      run_surface("add.u32 %r2, %r1, 4; mov.u32 %r3, 0; sured.p.add.2d.b32.zero [%h, {%r2, %r3}], %r2;",
                  plane(4, 1), numbered(4));
  EXPECT_EQ(out.bytes, numbered(4));
  Texture floats = plane(4, 1);
  floats.format = Type::kF32;
  EXPECT_EQ(run_surface(text, floats, numbered(4)).result.fault, FaultKind::kTextureShape);
}

TEST(Surfaces, FormattedStoresBecomeTexels) {
  const auto bytes_of = [](const SurfaceRun& run, size_t at, size_t count) {
    uint64_t v = 0;
    std::memcpy(&v, &run.bytes[at], count);
    return v;
  };
  Texture bytes = plane(8, 4);
  bytes.format = Type::kU8, bytes.channels = 4;
  const std::string place = "and.b32 %r2, %r1, 7; shr.u32 %r3, %r1, 3;\n";
  SurfaceRun run = run_surface(place +
                                   "mul.lo.u32 %r4, %r1, 10; mov.u32 %r5, 255; mov.u32 %r6, 256;\n"
                                   "sust.p.2d.v4.b32.trap [%h, {%r2, %r3}], {%r1, %r4, %r5, %r6};",
                               bytes, numbered(32));
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(bytes_of(run, 4 * i, 4), i | std::min(10 * i, 255u) << 8 | 0xffff0000u) << i;
  bytes.format = Type::kS16, bytes.channels = 2;
  run = run_surface(place +
                        "sub.s32 %r4, %r1, 3; mad.lo.s32 %r5, %r4, 5000, 0;\n"
                        "sust.p.2d.v2.b32.trap [%h, {%r2, %r3}], {%r4, %r5};",
                    bytes, numbered(32));
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(bytes_of(run, 4 * static_cast<size_t>(i), 4),
              static_cast<uint16_t>(i - 3) |
                  static_cast<uint32_t>(static_cast<uint16_t>(std::min((i - 3) * 5000, 32767))) << 16)
        << i;
  // Channels that the vector lacks stay as they were; what the texel lacks is dropped.
  run = run_surface(place + "sust.p.2d.b32.trap [%h, {%r2, %r3}], %r1;", bytes, std::vector<std::byte>(128));
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(bytes_of(run, 4 * i, 4), i);
  bytes.format = Type::kU32, bytes.channels = 1;
  run = run_surface(place + "sust.p.2d.v2.b32.trap [%h, {%r2, %r3}], {%r1, %r3};", bytes, numbered(32));
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(bytes_of(run, 4 * i, 4), i);
}

TEST(Surfaces, FormattedStoresOfHalves) {
  Texture t = plane(16, 1);
  t.format = Type::kF16, t.pitch = 64, t.channels = 2;
  // 1 + 2^-11 is halfway and goes to the even one, 1 + 3 * 2^-11 goes up; denormals; out of range; NaN.
  const std::pair<uint32_t, uint16_t> cases[] = {
      {0x3f800000, 0x3c00}, {0x3f801000, 0x3c00}, {0x3f803000, 0x3c02}, {0x3f801001, 0x3c01},
      {0xc0490fdb, 0xc248}, {0x33800000, 0x0001}, {0x33000000, 0x0000}, {0x33000001, 0x0001},
      {0x387fc000, 0x03ff}, {0x387ff000, 0x0400}, {0x477fe000, 0x7bff}, {0x477feff0, 0x7bff},
      {0x477ff000, 0x7c00}, {0xff800000, 0xfc00}, {0x7fc00000, 0x7fff}, {0x80000000, 0x8000}};
  for (size_t i = 0; i < std::size(cases); ++i) {
    const SurfaceRun run = run_surface(
        fmt::format(
            "mov.u32 %r2, {}; mov.u32 %r3, 0; mov.b32 %r4, {}; sust.p.2d.v2.b32.trap [%h, {{%r2, %r3}}], "
            "{{%r4, %r4}};",
            i, cases[i].first),
        t, std::vector<std::byte>(64));
    uint16_t got[2] = {};
    std::memcpy(got, &run.bytes[4 * i], 4);
    EXPECT_EQ(got[0], cases[i].second) << i;
    EXPECT_EQ(got[1], cases[i].second) << i;
  }
}

TEST(Surfaces, QueriesAndTexturesThatCannotBeWritten) {
  const SurfaceRun run =
      run_surface("suq.width.b32 %r2, [%h]; suq.height.b32 %r3, [%h]; st.global.v2.u32 [%out], {%r2, %r3};",
                  plane(8, 4), numbered(32));
  EXPECT_EQ(run.out[0], 8u);
  EXPECT_EQ(run.out[1], 4u);
}

TEST(Queries, OfLevelsOfATexture) {
  Texture t = plane(8, 4);
  for (uint32_t level = 0; level < 3; ++level) {
    TextureLevel l;
    l.size = {8u >> level, 4u >> level, 1};
    t.levels.push_back(l);
  }
  const std::string ask =
      "and.b32 %r2, %r1, 3; txq.level.width.b32 %r4, [%h], %r2; txq.level.height.b32 %r5, [%h], %r2;\n"
      "txq.level.depth.b32 %r6, [%h], %r2; txq.num_mipmap_levels.b32 %r7, [%h];\n"
      "st.global.v4.u32 [%out], {%r4, %r5, %r6, %r7}; txq.level.width.b32 %r4, [%h], 1;\n"
      "txq.width.b32 %r5, [%h]; st.global.v2.u32 [%out+16], {%r4, %r5};";
  SurfaceRun run = run_surface(ask, t, numbered(32));
  for (uint32_t lane = 0; lane < 4; ++lane) {
    const uint32_t* out = &run.out[64ul * lane];
    EXPECT_EQ(out[0], lane < 3 ? 8u >> lane : 0u) << lane;
    EXPECT_EQ(out[1], lane < 3 ? 4u >> lane : 0u) << lane;
    EXPECT_EQ(out[2], 0u) << "no depth";
    EXPECT_EQ(out[3], 3u);
    EXPECT_EQ(out[4], 4u);
    EXPECT_EQ(out[5], 8u);
  }
  t.levels.clear();
  run = run_surface(ask, t, numbered(32));
  EXPECT_EQ(run.out[0], 8u);
  EXPECT_EQ(run.out[64], 0u);
  EXPECT_EQ(run.out[3], 1u) << "a texture without levels has one";
}

TEST(Gathers, GiveTheFourTexelsCounterClockwise) {
  Texture t = plane(4, 4);
  t.format = Type::kF32;
  std::vector<std::byte> bytes(64);
  for (uint32_t i = 0; i < 16; ++i) {
    const auto v = static_cast<float>(i);
    std::memcpy(&bytes[4ul * i], &v, 4);
  }
  const SurfaceRun run = run_surface(
      "mov.f32 %f1, 0f40000000; mov.f32 %f2, 0f3F800000;\n"  // between columns 1 and 2, rows 0 and 1
      "tld4.r.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%h, {%f1, %f2}]; st.global.v4.f32 [%out], {%f4, %f5, %f6, "
      "%f7};",
      t, bytes);
  ASSERT_TRUE(run.result.finished);
  const float expected[] = {5, 6, 2, 1};
  for (size_t c = 0; c < 4; ++c) EXPECT_EQ(std::bit_cast<float>(run.out[c]), expected[c]);
}

TEST(Offsets, AreTexelsBehindTheCoordinates) {
  // Texel (2, 1) of 8 x 4 with normalized and other coordinates, and two to the left, one down.
  for (const bool normalized : {false, true}) {
    Texture t = plane(8, 4);
    t.normalized = normalized;
    const char* const x = normalized ? "0f3EA00000" : "0f40200000";  // 2.5, of 8
    const char* const y = normalized ? "0f3EC00000" : "0f3FC00000";  // 1.5, of 4
    const SurfaceRun run = run_surface(
        fmt::format(
            "mov.f32 %f1, {}; mov.f32 %f2, {}; mov.u32 %r2, -2; mov.f32 %f3, 0f00000000;\n"
            "tex.2d.v4.u32.f32 {{%r4, %r5, %r6, %r7}}, [%h, {{%f1, %f2}}], {{%r2, 1}};\n"
            "tex.level.2d.v4.u32.f32 {{%r8, %r5, %r6, %r7}}, [%h, {{%f1, %f2}}], %f3, {{-8, 0}};\n"
            "tex.grad.2d.v4.u32.f32 {{%r9, %r5, %r6, %r7}}, [%h, {{%f1, %f2}}], {{%f3, %f3}}, {{%f3, %f3}}, "
            "{{5, 2}};\n"
            "st.global.v2.u32 [%out], {{%r4, %r8}}; st.global.u32 [%out+8], %r9;",
            x, y),
        t, numbered(32));
    ASSERT_TRUE(run.result.finished);
    EXPECT_EQ(run.out[0], 16u);
    EXPECT_EQ(run.out[1], 8u) << "clamped";
    EXPECT_EQ(run.out[2], 31u);
  }
}

TEST(Offsets, OfTexelNumbersLinesVolumesAndGathers) {
  SurfaceRun run = run_surface(
      "mov.u32 %r2, 3; mov.u32 %r3, 2;\n"
      "tex.2d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%h, {%r2, %r3}], {1, -2}; st.global.u32 [%out], %r4;",
      plane(8, 4), numbered(32));
  EXPECT_EQ(run.out[0], 4u);
  Texture line = plane(32, 1);
  line.dimensions = 1;
  run = run_surface(
      "mov.f32 %f1, 0f40E00000; tex.1d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%h, {%f1}], 4;\n"
      "st.global.u32 [%out], %r4;",
      line, numbered(32));
  EXPECT_EQ(run.out[0], 11u);
  Texture volume = plane(4, 4);
  volume.dimensions = 3, volume.size = {4, 4, 2};
  run = run_surface(
      "mov.f32 %f1, 0f3F800000; mov.u32 %r2, 1;\n"
      "tex.3d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%h, {%f1, %f1, %f1, %f1}], {%r2, 2, -1, 0};\n"
      "st.global.u32 [%out], %r4;",
      volume, numbered(32));
  EXPECT_EQ(run.out[0], 14u);
  run = run_surface(
      "mov.f32 %f1, 0f40000000; mov.f32 %f2, 0f3F800000; mov.u32 %r2, 3;\n"
      "tld4.r.2d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%h, {%f1, %f2}], {%r2, 1};\n"
      "st.global.v4.u32 [%out], {%r4, %r5, %r6, %r7};",
      plane(8, 4), numbered(32));
  const uint32_t expected[] = {20, 21, 13, 12};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(run.out[i], expected[i]) << i;
}

TEST(Cubes, EachDirectionHasItsFace) {
  Texture t = plane(1, 1);
  t.format = Type::kU32;
  t.array = t.cube = true;
  t.layers = 6;
  t.normalized = true;
  const char* const directions[] = {"3F800000 00000000 00000000", "BF800000 00000000 00000000",
                                    "00000000 3F800000 00000000", "00000000 BF800000 00000000",
                                    "00000000 00000000 3F800000", "00000000 00000000 BF800000"};
  for (uint32_t face = 0; face < 6; ++face) {
    const std::string d = directions[face];
    const SurfaceRun run =
        run_surface(fmt::format("mov.f32 %f1, 0f{}; mov.f32 %f2, 0f{}; mov.f32 %f3, 0f{};\n"
                                "tex.cube.v4.u32.f32 {{%r4, %r5, %r6, %r7}}, [%h, {{%f1, %f2, %f3, %f3}}]; "
                                "st.global.u32 [%out], %r4;",
                                d.substr(0, 8), d.substr(9, 8), d.substr(18, 8)),
                    t, numbered(6));
    ASSERT_TRUE(run.result.finished);
    EXPECT_EQ(run.out[0], face);
  }
}

TEST(Cubes, PlacesInAFace) {
  Texture t = plane(2, 2);
  t.array = t.cube = true;
  t.layers = 6;
  t.normalized = true;
  // +x: s = -z, t = -y. A direction up and forward is in the upper left quarter.
  const SurfaceRun run = run_surface(
      "mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f3F000000; mov.f32 %f3, 0f3F000000;\n"
      "tex.cube.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%h, {%f1, %f2, %f3, %f3}];\n"
      "neg.f32 %f2, %f2; tex.cube.v4.u32.f32 {%r8, %r5, %r6, %r7}, [%h, {%f1, %f2, %f3, %f3}];\n"
      "st.global.v2.u32 [%out], {%r4, %r8};",
      t, numbered(24));
  EXPECT_EQ(run.out[0], 0u);
  EXPECT_EQ(run.out[1], 2u);
}

TEST(Levels, ATextureHasOne) {
  const SurfaceRun run = run_surface(
      "mov.f32 %f1, 0f40200000; mov.f32 %f2, 0f3FC00000; mov.f32 %f3, 0f40400000;\n"
      "tex.level.2d.v4.u32.f32 {%r4, %r5, %r6, %r7}, [%h, {%f1, %f2}], %f3;\n"
      "tex.grad.2d.v4.u32.f32 {%r8, %r5, %r6, %r7}, [%h, {%f1, %f2}], {%f3, %f3}, {%f3, %f3};\n"
      "st.global.v2.u32 [%out], {%r4, %r8};",
      plane(8, 4), numbered(32));
  ASSERT_TRUE(run.result.finished);
  EXPECT_EQ(run.out[0], 10u);
  EXPECT_EQ(run.out[1], 10u);
}

}  // namespace
}  // namespace gpusim::isa
