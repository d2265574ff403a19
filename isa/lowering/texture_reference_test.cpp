// Texture fetches against a reference in integers: all formats, filters, address modes and geometries.
#include <fmt/format.h>

#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>

#include "isa/tests/lowering_test_util.h"
#include "isa/tests/texture_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder
using Wide = __int128;

constexpr Type kFormats[] = {Type::kU8,  Type::kS8,  Type::kU16, Type::kS16,
                             Type::kU32, Type::kS32, Type::kF16, Type::kF32};

class Random {
 public:
  uint32_t operator()() {
    return static_cast<uint32_t>((state_ = state_ * 6364136223846793005u + 99991u) >> 33);
  }
  int64_t between(int64_t low, int64_t high) { return low + (*this)() % (high - low + 1); }

 private:
  uint64_t state_ = 20;
};

/// f16 bits of numerator / 8, |numerator| < 2048.
uint16_t half_bits(int64_t numerator) {
  if (numerator == 0) return 0;
  const auto magnitude = static_cast<uint64_t>(std::abs(numerator));
  const int top = std::bit_width(magnitude) - 1;
  const auto bits = static_cast<uint32_t>((top - 3 + 15) << 10 | ((magnitude << (10 - top)) & 0x3ff));
  return static_cast<uint16_t>(bits | (numerator < 0 ? 0x8000 : 0));
}

/// A texture whose channels are known as integers (in eighths for float formats).
struct Image {
  Texture texture;
  std::vector<int64_t> numbers;
  std::vector<std::byte> bytes;

  Image(Type format, int channels, int dimensions, bool array, Random& random) {
    texture.format = format;
    texture.channels = static_cast<uint8_t>(channels);
    texture.dimensions = static_cast<uint8_t>(dimensions);
    texture.array = array;
    texture.size = {5, dimensions > 1 ? 3u : 1u, dimensions > 2 ? 4u : 1u};
    texture.layers = array ? 3 : 1;
    texture.pitch = (texture.size[0] + 2ul) * texture.texel_bytes();
    texture.address = 0x2000'0000;
    const uint64_t texels = 7ul * texture.size[1] * texture.size[2] * texture.layers;
    const auto width = static_cast<size_t>(type_bytes(format));
    bytes.resize(texels * texture.texel_bytes());
    for (size_t i = 0; i < texels * texture.channels; ++i) {
      numbers.push_back(number(random));
      const uint64_t bits = bits_of(numbers.back());
      std::memcpy(bytes.data() + i * width, &bits, width);
    }
    texture.data = bytes.data();
  }

  [[nodiscard]] int64_t number(Random& random) const {
    if (is_float(texture.format)) return random.between(-2047, 2047);
    const int bits = 8 * type_bytes(texture.format);
    assert(bits <= 32);
    const int64_t low = is_signed(texture.format) ? -(int64_t{1} << (bits - 1)) : 0;
    // The ends of the range often.
    const int64_t high = low + (int64_t{1} << bits) - 1;
    const uint32_t pick = random() % 8;
    return pick == 0 ? low : pick == 1 ? high : random.between(low, high);
  }
  [[nodiscard]] uint64_t bits_of(int64_t v) const {
    if (texture.format == Type::kF16) return half_bits(v);
    if (texture.format == Type::kF32) return std::bit_cast<uint32_t>(static_cast<float>(v) / 8);
    return static_cast<uint64_t>(v);
  }
  [[nodiscard]] int64_t channel(int64_t x, int64_t y, int64_t z, int64_t layer, int64_t c) const {
    const auto& s = texture.size;
    return numbers[static_cast<size_t>((((layer * s[2] + z) * s[1] + y) * 7 + x) * texture.channels + c)];
  }
};

/// Coordinates count in 1/kUnits of a texel; a position is a whole number of them.
constexpr int64_t kUnits = 4096;

int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

/// Steps to the texel as one would on paper; -1 outside.
int64_t reference_index(AddressMode mode, int64_t i, int64_t n) {
  switch (mode) {
    case AddressMode::kBorder:
      return i < 0 || i >= n ? -1 : i;
    case AddressMode::kClamp:
      return i < 0 ? 0 : i >= n ? n - 1 : i;
    case AddressMode::kWrap:
      while (i < 0) i += n;
      while (i >= n) i -= n;
      return i;
    case AddressMode::kMirror:
      while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
      return i;
  }
  return -1;
}

struct ReferenceTap {
  int64_t index, weight;
};
std::vector<ReferenceTap> reference_taps(AddressMode mode, int64_t position, int64_t n, bool filter) {
  if (!filter) return {{reference_index(mode, floor_div(position, kUnits), n), 256}};
  const int64_t from = position - kUnits / 2, low = floor_div(from, kUnits);
  const int64_t part = from - low * kUnits;
  const int64_t weight = (part * 256 * 2 + kUnits) / (2 * kUnits);  // to the nearest 1/256, ties upward
  return {{reference_index(mode, low, n), 256 - weight}, {reference_index(mode, low + 1, n), weight}};
}

uint32_t float_bits(long double v) { return std::bit_cast<uint32_t>(static_cast<float>(v)); }

std::array<uint32_t, 4> reference(const Image& image, const std::array<int64_t, 3>& position, int64_t layer,
                                  bool integer) {
  const Texture& t = image.texture;
  const bool filter = t.linear_filter && !integer;
  std::array<std::vector<ReferenceTap>, 3> taps;
  for (size_t d = 0; d < 3; ++d) {
    AddressMode mode = d < t.dimensions ? t.address_mode[d] : AddressMode::kClamp;
    if ((integer || !t.normalized) && mode != AddressMode::kBorder) mode = AddressMode::kClamp;
    if (integer && t.dimensions == 1 && !t.array) mode = AddressMode::kBorder;
    taps[d] = reference_taps(mode, d < t.dimensions ? position[d] : 0, t.size[d], filter && d < t.dimensions);
  }
  const bool as_float = t.normalized_float || is_float(t.format);
  std::array<uint32_t, 4> out{0, 0, 0, as_float ? 0x3f800000u : 1u};
  const int bits = 8 * type_bytes(t.format);
  assert(bits <= 32);
  const int64_t largest = (int64_t{1} << (bits - (is_signed(t.format) ? 1 : 0))) - 1;
  for (int64_t c = 0; c < t.channels; ++c) {
    Wide sum = 0;
    for (const auto& z : taps[2])
      for (const auto& y : taps[1])
        for (const auto& x : taps[0]) {
          if (x.index < 0 || y.index < 0 || z.index < 0) continue;
          int64_t v = image.channel(x.index, y.index, z.index, std::min<int64_t>(layer, t.layers - 1), c);
          if (t.normalized_float && v < -largest) v = -largest;
          sum += Wide{v} * x.weight * y.weight * z.weight;
        }
    constexpr auto kOne = static_cast<long double>(1 << 24);
    const auto mean = static_cast<long double>(sum) / kOne;
    uint32_t& component = out[static_cast<size_t>(c)];
    if (t.normalized_float)
      component = float_bits(mean / static_cast<long double>(largest));
    else if (as_float)
      component = float_bits(mean / 8);
    else
      component = static_cast<uint32_t>(static_cast<int64_t>(sum >> 24));
  }
  return out;
}

/// Positions around the texture: texel borders and centres, weights that round, and far away.
int64_t position_of(Random& random) {
  const int64_t texel = random.between(-17, 22);
  switch (random() % 4) {
    case 0:
      return texel * kUnits;
    case 1:
      return texel * kUnits + kUnits / 2;
    default:
      return texel * kUnits + random.between(0, kUnits - 1);
  }
}

void compare(Image& image, Random& random) {
  const Texture& t = image.texture;
  for (int k = 0; k < 24; ++k) {
    TextureFetch f;
    f.integer = k % 4 == 0;
    f.layer = t.array ? random() % 5 : 0;
    std::array<int64_t, 3> position{};
    for (size_t d = 0; d < t.dimensions; ++d) {
      position[d] = position_of(random);
      if (f.integer) position[d] = floor_div(position[d], kUnits) * kUnits;
      f.position[d] = static_cast<double>(position[d]) / kUnits;
      if (t.normalized && !f.integer) f.position[d] /= t.size[d];
    }
    const auto expected = reference(image, position, f.layer, f.integer);
    fetch(t, f);
    ASSERT_EQ(f.value, expected) << fmt::format(
        "{} x{}, {}d, linear {}, normalized {}, float {}, modes {} {}, at {} {} {} / {}, integer {}",
        type_name(t.format), t.channels, t.dimensions, t.linear_filter, t.normalized, t.normalized_float,
        static_cast<int>(t.address_mode[0]), static_cast<int>(t.address_mode[1]), position[0], position[1],
        position[2], kUnits, f.integer);
  }
}

class Formats : public testing::TestWithParam<Type> {};

TEST_P(Formats, AgreeWithTheReference) {
  Random random;
  const Type format = GetParam();
  const bool normalizes = !is_float(format) && type_bytes(format) < 4;
  for (const int channels : {1, 2, 4})
    for (const int dimensions : {1, 2, 3})
      for (const bool array : {false, true}) {
        if (array && dimensions == 3) continue;
        Image image(format, channels, dimensions, array, random);
        for (int options = 0; options < 8 * 16; ++options) {
          Texture& t = image.texture;
          t.linear_filter = (options & 1) != 0;
          t.normalized = (options & 2) != 0;
          t.normalized_float = (options & 4) != 0;
          if (t.normalized_float && !normalizes) continue;
          if (t.linear_filter && !t.normalized_float && !is_float(format)) continue;
          // Powers of two where the coordinate is divided by the size.
          t.size[0] = t.normalized ? 4 : 5;
          t.size[1] = dimensions < 2 ? 1 : t.normalized ? 2 : 3;
          t.address_mode = {kAddressModes[options >> 3 & 3], kAddressModes[options >> 5 & 3],
                            kAddressModes[random() % 4]};
          compare(image, random);
          if (HasFatalFailure()) return;
        }
      }
}
INSTANTIATE_TEST_SUITE_P(Texture, Formats, testing::ValuesIn(kFormats),
                         [](const auto& format) { return std::string(type_name(format.param)); });

}  // namespace
}  // namespace gpusim::isa
