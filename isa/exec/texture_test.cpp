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

TEST(Texture, BordersHaveTheirColour) {
  Texture t = four();
  t.border = {100, 0, 0, 0};
  EXPECT_EQ(read_at(t, AddressMode::kBorder, -1), 100);
  t.linear_filter = true;
  EXPECT_EQ(read_at(t, AddressMode::kBorder, 0), 55) << "half of 10 and half of 100";
  Texture integers = four(Type::kS32);
  integers.border = {std::bit_cast<float>(int32_t{-7}), 0, 0, 0};
  integers.dimensions = 2;
  integers.address_mode.fill(AddressMode::kBorder);
  TextureFetch f;
  f.position = {-1, 0, 0};
  fetch(integers, f);
  EXPECT_EQ(static_cast<int32_t>(f.value[0]), -7) << "the bits, where no number is made of them";
}

TEST(Texture, BytesInSrgbBecomeLinearBeforeTheyAreWeighed) {
  const std::array<uint8_t, 4> texel{188, 10, 255, 188};
  Texture t;
  t.data = reinterpret_cast<const std::byte*>(texel.data());
  t.format = Type::kU8;
  t.channels = 4;
  t.pitch = texel.size();
  t.normalized_float = t.srgb = true;
  TextureFetch f;
  fetch(t, f);
  const auto value = [&](size_t c) { return std::bit_cast<float>(f.value[c]); };
  EXPECT_NEAR(value(0), 0.50288646, 1e-6);  // ((188 / 255 + 0.055) / 1.055) ^ 2.4
  EXPECT_NEAR(value(1), 10 / 255.0 / 12.92, 1e-7);
  EXPECT_EQ(value(2), 1);
  EXPECT_NEAR(value(3), 188 / 255.0, 1e-7) << "alpha is linear";
}

/// Levels of 4, 2 and 1 texels, all of one value each.
class Mipmapped : public ::testing::Test {
 protected:
  Mipmapped() {
    for (size_t l = 0; l < texels_.size(); ++l) {
      texels_[l].assign(size_t{4} >> l, 10.0f * static_cast<float>(l + 1));
      TextureLevel level;
      level.data = reinterpret_cast<const std::byte*>(texels_[l].data());
      level.address = 4096 * (l + 1);
      level.size = {4u >> l, 1, 1};
      level.pitch = 16;
      t_.levels.push_back(level);
    }
    static_cast<TextureLevel&>(t_) = t_.levels.front();
    t_.normalized = true;
    t_.most_level = 100;
  }
  float at(double level) {
    f_.position[0] = 0.5;
    f_.level = level;
    fetch(t_, f_);
    return std::bit_cast<float>(f_.value[0]);
  }
  std::array<std::vector<float>, 3> texels_;
  Texture t_;
  TextureFetch f_;
};

TEST_F(Mipmapped, TheNearestLevelIsRead) {
  EXPECT_EQ(at(-3), 10);
  EXPECT_EQ(at(0.49), 10);
  EXPECT_EQ(at(0.5), 20);
  EXPECT_EQ(at(1.4), 20);
  EXPECT_EQ(f_.texel[0], 8192u + 4) << "what is timed lies in that level";
  EXPECT_EQ(at(7), 30);
  EXPECT_EQ(at(std::nan("")), 10);
}

TEST_F(Mipmapped, TwoLevelsAreWeighed) {
  t_.linear_levels = true;
  EXPECT_EQ(at(0.25), 12.5f);
  EXPECT_EQ(f_.texels, 2);
  EXPECT_EQ(at(1), 20);
  EXPECT_EQ(f_.texels, 1);
  EXPECT_EQ(at(1.75), 27.5f);
  EXPECT_EQ(at(5), 30);
}

TEST_F(Mipmapped, BiasAndBounds) {
  t_.linear_levels = true;
  t_.level_bias = 0.5;
  EXPECT_EQ(at(0.25), 17.5f);
  t_.level_bias = 0;
  t_.least_level = 0.5, t_.most_level = 1.5;
  EXPECT_EQ(at(0), 15);
  EXPECT_EQ(at(2), 25);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  t_.least_level = t_.most_level = t_.level_bias = nan;
  EXPECT_EQ(at(0.7), 10) << "what is no number counts as 0";
}

TEST_F(Mipmapped, GradientsSayTheLevel) {
  EXPECT_EQ(level_of(t_, {{{1.0 / 4, 0, 0}, {0, 0, 0}}}), 0) << "a texel";
  EXPECT_EQ(level_of(t_, {{{1.0 / 8, 0, 0}, {1.0, 0, 0}}}), 2) << "the longer one: four texels";
  EXPECT_EQ(at(level_of(t_, {})), 10) << "no step at all";
}

}  // namespace
}  // namespace gpusim::isa
