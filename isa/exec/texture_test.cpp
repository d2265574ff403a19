// Texture fetches where they are special: coordinates at and beyond the edges, weights, NaN, half precision.
#include "isa/exec/texture.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include "isa/tests/texture_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

float read_at(Texture t, AddressMode mode, double x) {
  t.address_mode.fill(mode);
  TextureFetch f;
  f.position[0] = x;
  fetch(t, f);
  return std::bit_cast<float>(f.value[0]);
}

TEST(Texture, CoordinatesBeyondAnySize) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity(), kFar = 3.4028234663852886e38;
  Texture t = four();
  for (const bool linear : {false, true}) {
    t.linear_filter = linear;
    for (const bool normalized : {false, true}) {
      t.normalized = normalized;
      EXPECT_EQ(read_at(t, AddressMode::kClamp, kInfinity), 40);
      EXPECT_EQ(read_at(t, AddressMode::kClamp, -kInfinity), 10);
      EXPECT_EQ(read_at(t, AddressMode::kClamp, kFar), 40);
      EXPECT_EQ(read_at(t, AddressMode::kClamp, -kFar), 10);
      EXPECT_EQ(read_at(t, AddressMode::kBorder, kInfinity), 0);
      EXPECT_EQ(read_at(t, AddressMode::kBorder, -kFar), 0);
    }
    // A whole number of periods: as at 0; the left neighbour of texel 0 is the last one, or its mirror image.
    EXPECT_EQ(read_at(t, AddressMode::kWrap, kFar), 10);
    EXPECT_EQ(read_at(t, AddressMode::kWrap, -65536.0), linear ? 25 : 10);
    EXPECT_EQ(read_at(t, AddressMode::kMirror, 65536.0), 10);
    EXPECT_EQ(read_at(t, AddressMode::kMirror, 65537.0), 40);
    EXPECT_EQ(read_at(t, AddressMode::kWrap, kInfinity), 10);
    EXPECT_EQ(read_at(t, AddressMode::kWrap, std::nan("")), read_at(t, AddressMode::kWrap, 0));
    EXPECT_EQ(read_at(t, AddressMode::kClamp, std::nan("")), 10);
  }
}

TEST(Texture, EdgesOfTheUnfilteredTexture) {
  const Texture t = four();
  EXPECT_EQ(read_at(t, AddressMode::kBorder, -1e-30), 0);
  EXPECT_EQ(read_at(t, AddressMode::kBorder, -0.0), 10);
  EXPECT_EQ(read_at(t, AddressMode::kBorder, 0.9999999403953552), 10);
  EXPECT_EQ(read_at(t, AddressMode::kBorder, 1), 20);
  EXPECT_EQ(read_at(t, AddressMode::kBorder, 3.999999761581421), 40);
  EXPECT_EQ(read_at(t, AddressMode::kBorder, 4), 0);
  EXPECT_EQ(read_at(t, AddressMode::kClamp, 4), 40);
}

TEST(Texture, WeightsHaveEightBits) {
  Texture t = four();
  t.linear_filter = true;
  EXPECT_EQ(read_at(t, AddressMode::kClamp, 0.5), 10);
  EXPECT_EQ(read_at(t, AddressMode::kClamp, 1), 15);
  EXPECT_EQ(read_at(t, AddressMode::kClamp, 0.5 + 1 / 1024.0), 10);               // a quarter of a step
  EXPECT_EQ(read_at(t, AddressMode::kClamp, 0.5 + 1 / 512.0), 10 + 10 / 256.0f);  // half: upward
  EXPECT_EQ(read_at(t, AddressMode::kClamp, 1.5 - 1 / 1024.0), 20);               // 1.0 is a weight
  EXPECT_EQ(read_at(t, AddressMode::kBorder, 0), 5);
}

TEST(Texture, NumberedTexelsOutsideReadZero) {
  Texture t = four(Type::kS32);
  for (const AddressMode mode : kAddressModes) {
    t.address_mode.fill(mode);
    for (const double i : {-1.0, 4.0, -2147483648.0, 2147483647.0}) {
      TextureFetch f;
      f.integer = true;
      f.position[0] = i;
      fetch(t, f);
      EXPECT_EQ(f.value, (std::array<uint32_t, 4>{0, 0, 0, 1}));
      EXPECT_EQ(f.texels, 0);
    }
  }
}

TEST(Texture, UnfilteredBitsStayAndHiddenTexelsDoNotSpoil) {
  const std::array<uint32_t, 2> bits{0x7fa12345, 0x42280000};  // a signalling NaN, 42
  Texture t = four();
  t.data = std::as_bytes(std::span(bits)).data();
  t.size[0] = 2;
  TextureFetch f;
  fetch(t, f);
  EXPECT_EQ(f.value[0], 0x7fa12345u);
  t.linear_filter = true;
  f.position[0] = 1.5 - 1 / 1024.0;  // all the weight is on texel 1
  fetch(t, f);
  EXPECT_EQ(f.value[0], 0x42280000u);
  f.position[0] = 1;
  fetch(t, f);
  EXPECT_EQ(f.value[0], 0x7fffffffu);
}

TEST(Texture, HalfPrecisionTexels) {
  const std::array<uint16_t, 4> halves{0x0001, 0x8000, 0xfc00, 0x7bff};
  Texture t = four(Type::kF16);
  t.data = std::as_bytes(std::span(halves)).data();
  t.pitch = 8;
  const std::array<uint32_t, 4> expected{0x33800000, 0x80000000, 0xff800000, 0x477fe000};
  for (size_t i = 0; i < 4; ++i) {
    TextureFetch f;
    f.position[0] = static_cast<double>(i);
    fetch(t, f);
    EXPECT_EQ(f.value[0], expected[i]);
  }
}

TEST(Texture, TilesAreAPermutationThatKeepsNeighboursTogether) {
  // 100 x 20 bytes take two tiles by three: every byte has a place of its own, in 16-byte pieces of a row.
  constexpr uint64_t kRow = 100, kRows = 20;
  std::set<uint64_t> places;
  for (uint64_t y = 0; y < kRows; ++y) {
    for (uint64_t x = 0; x < kRow; ++x) {
      const uint64_t at = tiled_offset(x, y, kRow);
      EXPECT_LT(at, 6u * 512);
      EXPECT_TRUE(places.insert(at).second) << x << ", " << y;
      EXPECT_EQ(at % 16, x % 16);
    }
  }
  // Aligned pieces, worked out from the published order: bytes by rows.
  const std::array<std::array<uint64_t, 3>, 5> pieces{
      {{32, 16, 2}, {64, 32, 2}, {128, 32, 4}, {256, 32, 8}, {512, 64, 8}}};
  for (const auto& [bytes, width, rows] : pieces)
    for (uint64_t y = 0; y < 16; ++y)
      for (uint64_t x = 0; x < 64; ++x)
        EXPECT_EQ(tiled_offset(x, y, 64) / bytes,
                  tiled_offset(x / width * width, y / rows * rows, 64) / bytes)
            << bytes << " bytes at " << x << ", " << y;
}

TEST(Texture, TiledReadsNameTheirPlaceInTheTilesAndTheSameValues) {
  Texture t = four();
  t.dimensions = 2;
  t.size = {2, 2, 1};
  t.pitch = 8;
  t.address = 0x1000;
  TextureFetch f;
  f.position = {1, 1, 0};
  fetch(t, f);
  EXPECT_EQ(f.texel[0], 0x1000u + 12);
  const uint32_t value = f.value[0];
  t.tiles = 0x8000;
  fetch(t, f);
  EXPECT_EQ(f.texel[0], 0x8000u + 16 + 4) << "the second row begins behind 16 bytes";
  EXPECT_EQ(f.value[0], value);
  EXPECT_EQ(tiled_bytes(t), 512u);
  t.layers = 3;
  t.array = true;
  f.layer = 2;
  fetch(t, f);
  EXPECT_EQ(f.texel[0], 0x8000u + 1024 + 20);
}

}  // namespace
}  // namespace gpusim::isa
