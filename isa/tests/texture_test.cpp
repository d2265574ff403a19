// Texture fetches where they are special: coordinates at and beyond the edges, weights, NaN, half precision.
#include "isa/texture.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
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

}  // namespace
}  // namespace gpusim::isa
