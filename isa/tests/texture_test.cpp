// tex and txq: the fetch against a reference in integer arithmetic for all formats, filters, address modes
// and geometries; coordinates at and beyond the edges; the statements through parser and lowering.
#include "isa/texture.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <sstream>

#include "isa/tests/lowering_test_util.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder
using Wide = __int128;

constexpr Type kFormats[] = {Type::kU8,  Type::kS8,  Type::kU16, Type::kS16,
                             Type::kU32, Type::kS32, Type::kF16, Type::kF32};
constexpr AddressMode kModes[] = {AddressMode::kWrap, AddressMode::kMirror, AddressMode::kClamp,
                                  AddressMode::kBorder};

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
    texture.pitch = (texture.size[0] + 2) * texture.texel_bytes();
    texture.address = 0x2000'0000;
    const uint64_t texels = 7 * texture.size[1] * texture.size[2] * texture.layers;
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
  const int64_t largest = (int64_t{1} << (8 * type_bytes(t.format) - (is_signed(t.format) ? 1 : 0))) - 1;
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
          t.address_mode = {kModes[options >> 3 & 3], kModes[options >> 5 & 3], kModes[random() % 4]};
          compare(image, random);
          if (HasFatalFailure()) return;
        }
      }
}
INSTANTIATE_TEST_SUITE_P(Texture, Formats, testing::ValuesIn(kFormats),
                         [](const auto& format) { return std::string(type_name(format.param)); });

/// Four texels 10, 20, 30, 40.
Texture four(Type format = Type::kF32) {
  static const std::array<float, 4> values{10, 20, 30, 40};
  static const std::array<int32_t, 4> integers{10, 20, 30, 40};
  Texture t;
  t.format = format;
  t.data = format == Type::kS32 ? std::as_bytes(std::span(integers)).data()
                                : std::as_bytes(std::span(values)).data();
  t.size = {4, 1, 1};
  t.pitch = 16;
  return t;
}

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
  for (const AddressMode mode : kModes) {
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

/// Memory with textures whose handles are numbered.
class TextureMemory : public TestMemory {
 public:
  std::vector<Texture> textures;
  [[nodiscard]] const Texture* texture(uint64_t handle) const override {
    for (size_t i = 0; i < textures.size(); ++i)
      if (handle == texture_handle(i)) return &textures[i];
    return nullptr;
  }
};

Texture shaped(int dimensions, bool array = false) {
  Texture t = four(Type::kS32);
  t.dimensions = static_cast<uint8_t>(dimensions);
  t.array = array;
  if (dimensions > 1) {
    t.size = {2, 2, 1};
    t.pitch = 8;
  }
  if (array) t.size = {2, 1, 1}, t.layers = 2, t.pitch = 8;
  return t;
}

struct Ran {
  RunResult result;
  std::vector<uint32_t> out;
};
/// Kernel body with %out (256 bytes per thread), %h with the handle of the texture, %r1 the thread's number.
Ran run_body(const std::string& body, const Texture& texture, uint64_t handle = texture_handle(0)) {
  const std::string text =
      thread_kernel(".reg .b64 %h; .reg .b32 %r<20>; .reg .f32 %f<20>; .reg .pred %p;",
                    "mov.u64 %h, %in; sub.s64 %h, %h, %off; mov.u32 %r1, %tid0; cvt.rn.f32.u32 %f1, %r1;\n" +
                        body + "\nst.global.v4.u32 [%out], {%r4, %r5, %r6, %r7};\nret;");
  Ran ran;
  for (const LoweringLevel l : {LoweringLevel::kNone, LoweringLevel::kClean}) {
    TextureMemory memory;
    memory.textures = {texture};
    const uint64_t out = memory.add(32 * 256);
    const KernelImage image = lower_ok(text, level(l));
    BlockRunner runner(image, memory, pack_params({handle, out}), 32);
    ran.result = runner.run();
    ran.out = memory.read<uint32_t>(out, 32 * 64);
  }
  return ran;
}

TEST(TextureStatements, ResultsMayReplaceCoordinates) {
  const Ran ran =
      run_body("mov.u32 %r4, %r1; tex.1d.v4.s32.s32 {%r4, %r5, %r6, %r7}, [%h, {%r4}];", shaped(1));
  ASSERT_TRUE(ran.result.finished);
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(ran.out[64 * i], i < 4 ? 10 * (i + 1) : 0);
    EXPECT_EQ(ran.out[64 * i + 3], 1u);
  }
}

TEST(TextureStatements, GuardedLanesKeepTheirRegisters) {
  const Ran ran = run_body(
      "mov.u32 %r4, 7; mov.u32 %r5, 7; mov.u32 %r6, 7; mov.u32 %r7, 7; setp.eq.u32 %p, %r1, 2;\n"
      "@%p tex.1d.v4.s32.f32 {%r4, %r5, %r6, _}, [%h, %f1];",
      shaped(1));
  ASSERT_TRUE(ran.result.finished);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[64 * i], i == 2 ? 30u : 7u);
  EXPECT_EQ(ran.out[64 * 2 + 3], 7u);
}

TEST(TextureStatements, LayersAndRows) {
  const std::string two = "and.b32 %r2, %r1, 1; shr.u32 %r3, %r1, 1; cvt.rn.f32.u32 %f2, %r2;\n";
  const Ran layers =
      run_body(two + "tex.a1d.v4.s32.f32 {%r4, %r5, %r6, %r7}, [%h, {%r3, %f2}];", shaped(1, true));
  const Ran rows = run_body(two + "tex.2d.v4.s32.s32 {%r4, %r5, %r6, %r7}, [%h, {%r2, %r3}];", shaped(2));
  for (uint32_t i = 0; i < 32; ++i) {
    const uint32_t expected = 10 * (1 + (i & 1) + 2 * std::min(i / 2, 1u));
    EXPECT_EQ(layers.out[64 * i], expected);
    EXPECT_EQ(rows.out[64 * i], expected);
  }
}

TEST(TextureStatements, Queries) {
  Texture t = shaped(2);
  t.normalized = true;
  t.channels = 2;
  t.address_mode[1] = AddressMode::kMirror;
  const Ran ran = run_body(
      "txq.width.b32 %r4, [%h]; txq.addr_mode_1.b32 %r5, [%h]; txq.channel_order.b32 %r6, [%h];\n"
      "txq.channel_data_type.b32 %r7, [%h];",
      t);
  EXPECT_EQ(std::vector<uint32_t>(ran.out.begin(), ran.out.begin() + 4),
            (std::vector<uint32_t>{2, 1, 0x10b2, 0x10d9}));
  const Ran more = run_body(
      "txq.height.b32 %r4, [%h]; txq.depth.b32 %r5, [%h]; txq.normalized_coords.b32 %r6, [%h];\n"
      "txq.filter_mode.b32 %r7, [%h];",
      t);
  EXPECT_EQ(std::vector<uint32_t>(more.out.begin(), more.out.begin() + 4),
            (std::vector<uint32_t>{2, 0, 1, 0}));
}

TEST(TextureStatements, Faults) {
  const std::string fetch_1d = "tex.1d.v4.s32.s32 {%r4, %r5, %r6, %r7}, [%h, {%r1}];";
  const Ran none = run_body(fetch_1d, shaped(1), 12345);
  EXPECT_EQ(none.result.fault, FaultKind::kNoTexture);
  EXPECT_EQ(none.result.access.fault_address, 12345u);
  EXPECT_EQ(run_body(fetch_1d, shaped(2)).result.fault, FaultKind::kTextureShape);
  EXPECT_EQ(run_body(fetch_1d, shaped(1, true)).result.fault, FaultKind::kTextureShape);
}

TEST(TextureStatements, SectorsOfAWarp) {
  Texture t = shaped(1);
  std::vector<int32_t> many(4096);
  t.data = std::as_bytes(std::span(many)).data();
  t.address = 0x1000'0010;
  t.size[0] = 4096;
  alignas(64) std::array<std::array<uint32_t, 32>, 8> rows{};
  WarpContext ctx;
  TextureMemory memory;
  memory.textures = {t};
  ctx.global = &memory;
  ctx.bank[0] = reinterpret_cast<std::byte*>(rows.data());
  for (size_t l = 0; l < 32; ++l) {
    reinterpret_cast<uint64_t*>(rows[0].data())[l] = texture_handle(0);
    rows[2][l] = static_cast<uint32_t>(l);
  }
  MicroOp op;
  op.imm = static_cast<uint64_t>(TextureShape::k1d);
  op.modifiers = 1;
  op.num_src = 2, op.src[1].offset = 256;
  op.num_dst = 1, op.dst[0].offset = 384;
  MemoryAccess access;
  execute_tex(op, ctx, LaneMask::all(), access);
  // 128 bytes from byte 16 of a sector: five sectors.
  EXPECT_EQ(access.lanes, LaneMask::first(5));
  EXPECT_EQ(access.bytes, 32);
  EXPECT_EQ(access.address[0], 0x1000'0000u);
  EXPECT_EQ(access.address[4], 0x1000'0080u);
  for (size_t l = 0; l < 32; ++l) rows[2][l] = 8 * static_cast<uint32_t>(l);
  execute_tex(op, ctx, LaneMask::first(3), access);
  EXPECT_EQ(access.lanes, LaneMask::first(3));
}

/// A statement of a form of the census.
std::string statement_of(const std::string& form) {
  if (form.starts_with("txq")) return form + " %r4, [%h];";
  const bool integer = form.ends_with(".s32"), to_float = form.find(".v4.f32") != std::string::npos;
  const std::string c = integer ? "%r1" : "%f1";
  const std::string vector = form.starts_with("tex.1d")   ? fmt::format("{{{}}}", c)
                             : form.starts_with("tex.2d") ? fmt::format("{{{}, {}}}", c, c)
                                                          : fmt::format("{{{}, {}, {}, {}}}", c, c, c, c);
  const std::string to = to_float ? "{%f4, %f5, %f6, %f7}" : "{%r4, %r5, %r6, %r7}";
  return fmt::format("{} {}, [%h, {}];{}", form, to, vector, to_float ? " mov.b32 %r4, %f4;" : "");
}

TEST(TextureStatements, EveryFormOfTheCensusRuns) {
  int count = 0;
  for (const char* file : {"census_forms.txt", "required_forms.txt"}) {
    std::istringstream lines(read_file(std::string(GPUSIM_SOURCE_DIR "/isa/tests/") + file));
    for (std::string form; std::getline(lines, form);) {
      if (!form.starts_with("tex.") && !form.starts_with("txq.")) continue;
      SCOPED_TRACE(form);
      ++count;
      const Ran ran = run_body(statement_of(form), shaped(form.starts_with("tex") ? form[4] - '0' : 2));
      EXPECT_TRUE(ran.result.finished) << fault_name(ran.result.fault);
      const bool query = form.starts_with("txq");
      EXPECT_EQ(ran.out[0], !query                          ? 10u
                            : form == "txq.width.b32"       ? 2u
                            : form == "txq.filter_mode.b32" ? 0u
                                                            : 3u);
    }
  }
  EXPECT_EQ(count, 15);
}

TEST(TextureReferences, BindByName) {
  const std::string text = R"(.version 1.4
.target sm_13
.tex .u64 t;
.entry k(.param .u64 out) { .reg .u64 %o; .reg .u32 %r<9>; ld.param.u64 %o, [out]; mov.s32 %r1, 2;
  tex.1d.v4.s32.s32 {%r4,%r5,%r6,%r7},[t,{%r1,%r1,%r1,%r1}]; st.global.u32 [%o], %r4; exit; })";
  TextureMemory memory;
  memory.textures = {shaped(1), shaped(1)};
  memory.textures[1].size[0] = 2;
  for (const uint64_t number : {0, 1}) {
    const uint64_t out = memory.add(4);
    LoweringOptions options = level(LoweringLevel::kClean);
    options.address_of = [=](const Variable& v) { return v.name == "t" ? texture_handle(number) : 0; };
    const KernelImage image = lower_ok(text, options);
    BlockRunner runner(image, memory, pack_params({out}), 1);
    EXPECT_TRUE(runner.run().finished);
    EXPECT_EQ(memory.read<uint32_t>(out, 1)[0], number == 0 ? 30u : 0u);
  }
  EXPECT_THAT(lower_error(text), testing::HasSubstr("the texture reference 't' is not bound"));
}

/// What the verifier says about one statement.
std::string complaint(const std::string& statement) {
  const ParseResult parsed = parse_module(
      ".version 8.0\n.target sm_75\n.address_size 64\n.global .texref t; .global .u32 g;\n.entry k() {\n"
      ".reg .b64 %rd<3>; .reg .b32 %r<9>; .reg .f32 %f<9>;\n" +
      statement + "\nret; }");
  Diagnostics all = parsed.diagnostics;
  if (!has_errors(all))
    for (const Diagnostic& d : verify_module(parsed.module)) all.push_back(d);
  return all.empty() ? "" : all[0].message;
}

TEST(TextureStatements, Verifier) {
  const std::string to = "{%f1, %f2, %f3, %f4}, ";
  EXPECT_EQ(complaint("tex.2d.v4.f32.f32 " + to + "[t, {%f5, %f6}];"), "");
  EXPECT_EQ(complaint("tex.a2d.v4.f32.f32 " + to + "[%rd1, {%r1, %f5, %f6, %f6}];"), "");
  EXPECT_EQ(complaint("tex.v4.f32.f32 " + to + "[t, {%f5}];"), "'tex.v4.f32.f32' needs a geometry");
  EXPECT_EQ(complaint("tex.1d.f32.f32 %f1, [t, {%f5}];"), "'tex.1d.f32.f32' needs .v4");
  EXPECT_EQ(complaint("tex.1d.v4.f32.u32 " + to + "[t, {%r5}];"),
            "'tex.1d.v4.f32.u32': coordinates are .s32 or .f32, not .u32");
  EXPECT_EQ(complaint("tex.3d.v4.f32.f32 " + to + "[t, {%f5, %f6}];"),
            "'tex.3d.v4.f32.f32' needs 3 coordinates, found 2");
  EXPECT_EQ(complaint("tex.1d.v4.f32.s32 " + to + "[t, {%f5}];"),
            "'%f5' is a .f32 register, 'tex.1d.v4.f32.s32' needs .s32");
  EXPECT_EQ(complaint("tex.1d.v4.f32.f32 " + to + "[g, {%f5}];"), "'g' is not a texture reference");
  EXPECT_EQ(complaint("tex.1d.v4.f32.f32 " + to + "[tt, {%f5}];"), "undefined variable or function 'tt'");
  EXPECT_EQ(complaint("tex.1d.v4.f32.f32 " + to + "[%r1, {%f5}];"),
            "'%r1' is a .b32 register and cannot hold a texture's handle");
  EXPECT_EQ(complaint("tex.1d.v4.f32.f32 {%f1, %f2}, [t, {%f5}];"),
            "'tex.1d.v4.f32.f32' needs 4 elements, found 2");
  EXPECT_EQ(complaint("tex.1d.v4.f32.f32 " + to + "[t];"),
            "'tex.1d.v4.f32.f32' needs coordinates behind the texture");
  EXPECT_EQ(complaint("txq.b32 %r1, [t];"), "'txq.b32' does not say what it asks for");
  EXPECT_EQ(complaint("tex.level.2d.v4.f32.f32 " + to + "[t, {%f5, %f6}], %f7;"),
            "'tex.level.2d.v4.f32.f32' is not supported yet");
  EXPECT_EQ(complaint("tex.cube.v4.f32.f32 " + to + "[t, {%f5, %f6, %f7, %f7}];"),
            "'tex.cube.v4.f32.f32' is not supported yet");
}

}  // namespace
}  // namespace gpusim::isa
