// wmma.load, wmma.store and wmma.mma: every shape, layout, type and memory space against the model of
// wmma_model.h; the published arithmetic of each architecture; which element lies in which register; faults.
#include <functional>
#include <memory>
#include <random>

#include "isa/tests/wmma_model.h"

namespace gpusim::isa {
namespace {

using namespace test;

// --- inputs ---

struct Shape {
  std::string name;
  int m, n, k;
};
const std::vector<Shape> kShapes = {
    {"m16n16k16", 16, 16, 16}, {"m8n32k16", 8, 32, 16}, {"m32n8k16", 32, 8, 16}};
const Shape kDoubleShape{"m8n8k4", 8, 8, 4};

using Values = std::function<uint64_t(const Format&)>;

Matrix matrix(const Format& format, int rows, int columns, const Values& values) {
  Matrix m{format, rows, columns, true, 0, {}};
  for (int i = 0; i < rows * columns; ++i) m.raw.push_back(values(format));
  return m;
}

Case make_case(const Shape& shape, const Format& multiplicand, const Format& c, const Format& d,
               const Values& values) {
  Case t;
  t.shape = shape.name;
  t.types = multiplicand.name == "f16"
                ? d.name + "." + c.name
                : d.name + "." + multiplicand.name + "." + multiplicand.name + "." + c.name;
  t.a = matrix(multiplicand, shape.m, shape.k, values);
  t.b = matrix(multiplicand, shape.k, shape.n, values);
  t.c = matrix(c, shape.m, shape.n, values);
  t.d = matrix(d, shape.m, shape.n, [](const Format&) { return 0; });
  if (multiplicand.name == "bf16" || multiplicand.bytes == 8) t.target = 80;
  return t;
}

/// Values whose products have exponents apart from each other, with zeros and denormals among them.
Values scattered(uint32_t seed) {
  auto random = std::make_shared<std::mt19937_64>(seed);
  return [random](const Format& f) -> uint64_t {
    const uint64_t bits = (*random)();
    if (f.exponent == 0) return bits & ((uint64_t{1} << (8 * f.bytes)) - 1);
    if (bits % 16 == 0) return 0;
    const auto sign = bits >> 63 << (f.exponent + f.mantissa);
    const uint64_t fraction = (bits >> 8) & ((uint64_t{1} << f.mantissa) - 1);
    const uint64_t bias = (uint64_t{1} << (f.exponent - 1)) - 1;
    const uint64_t spread = f.bytes == 2 && f.exponent == 5 ? 14 : 24;
    const uint64_t field = bits % 16 == 1 && f.exponent == 5 ? 0 : bias - spread / 2 + (bits >> 4) % spread;
    return sign | field << f.mantissa | fraction;
  };
}

/// Small integers: every sum is exact in every format.
Values small_integers(uint32_t seed) {
  auto random = std::make_shared<std::mt19937_64>(seed);
  return [random](const Format& f) -> uint64_t {
    const auto v = static_cast<double>((*random)() % 9);
    return encode(f, f.is_signed ? v - 4 : v);
  };
}

struct Types {
  Format multiplicand, c, d;
};
const std::vector<Types> kTypes = {{kF16, kF32, kF32}, {kF16, kF16, kF16},  {kF16, kF16, kF32},
                                   {kF16, kF32, kF16}, {kBF16, kF32, kF32}, {kU8, kS32, kS32},
                                   {kS8, kS32, kS32}};

class WmmaTest : public testing::TestWithParam<SimdLevel> {
 protected:
  void SetUp() override {
    if (!simd_supported(GetParam())) GTEST_SKIP() << "this CPU lacks " << simd_level_name(GetParam());
  }
};

// --- tests ---

TEST_P(WmmaTest, EveryShapeTypeLayoutAndSpace) {
  uint32_t seed = 1;
  for (const Shape& shape : kShapes) {
    for (const Types& types : kTypes) {
      for (int layouts = 0; layouts < 16; ++layouts) {
        for (const char* space : {".global", ".shared", ""}) {
          Case t = make_case(shape, types.multiplicand, types.c, types.d, scattered(seed++));
          t.simd = GetParam();
          t.space = space;
          t.a.is_row = layouts & 1;
          t.b.is_row = layouts & 2;
          t.c.is_row = layouts & 4;
          t.d.is_row = layouts & 8;
          if (seed % 2 == 0) {  // strides that are no power of two
            t.a.stride = t.a.format.bytes == 1 ? 48 : 40;
            t.b.stride = t.b.format.bytes == 1 ? 80 : 56;
            t.c.stride = t.d.stride = 36;
          }
          run_and_compare(t);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(WmmaTest, DoublePrecision) {
  for (int layouts = 0; layouts < 16; ++layouts) {
    Case t = make_case(kDoubleShape, kF64, kF64, kF64, scattered(static_cast<uint32_t>(layouts) + 900));
    t.simd = GetParam();
    t.a.is_row = layouts & 1;
    t.b.is_row = layouts & 2;
    t.c.is_row = layouts & 4;
    t.d.is_row = layouts & 8;
    t.c.stride = layouts % 3 == 0 ? 10 : 0;
    run_and_compare(t);
  }
}

TEST_P(WmmaTest, ArithmeticOfEachArchitecture) {
  uint32_t seed = 5000;
  for (const int target : {70, 75, 80, 86, 90, 100}) {
    for (const Types& types : kTypes) {
      if (target < 80 && types.multiplicand.name == "bf16") continue;
      if (target < 72 && types.multiplicand.exponent == 0) continue;
      for (int i = 0; i < 8; ++i) {
        Case t = make_case(kShapes[0], types.multiplicand, types.c, types.d, scattered(seed++));
        t.simd = GetParam();
        t.target = target;
        t.version = target == 100 ? "8.7" : "7.8";
        run_and_compare(t);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(WmmaTest, SmallIntegersAreExactInEveryFormat) {
  uint32_t seed = 77;
  for (const Shape& shape : kShapes) {
    for (const Types& types : kTypes) {
      Case t = make_case(shape, types.multiplicand, types.c, types.d, small_integers(seed++));
      t.simd = GetParam();
      if (types.multiplicand.name == "bf16") t.target = 80;
      run(t);
      if (HasFatalFailure()) return;
      for (int i = 0; i < shape.m; ++i) {
        for (int j = 0; j < shape.n; ++j) {
          const std::vector<double> a = t.a.line(i), b = t.b.column(j);
          double sum = decode(t.c.format, t.c.raw[static_cast<size_t>(i) * shape.n + j]);
          for (size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
          ASSERT_EQ(decode(t.d.format, t.d.raw[static_cast<size_t>(i) * shape.n + j]), sum) << program(t);
        }
      }
    }
  }
}

/// D where every row of A has these values, B is `factor` in each row that meets one, and C is the same
/// everywhere.
uint64_t one_sum(int target, const Types& types, const std::vector<double>& products, double c,
                 const std::string& suffix = "", const std::string& version = "9.0", double factor = 1.0) {
  Case t = make_case(kShapes[0], types.multiplicand, types.c, types.d, [](const Format&) { return 0; });
  t.target = target;
  t.suffix = suffix;
  t.version = version;
  for (int i = 0; i < 16; ++i) {
    for (size_t k = 0; k < products.size(); ++k) {
      t.a.raw[static_cast<size_t>(i) * 16 + k] = encode(types.multiplicand, products[k]);
      t.b.raw[k * 16 + static_cast<size_t>(i)] = encode(types.multiplicand, factor);
    }
  }
  for (uint64_t& v : t.c.raw) v = encode(types.c, c);
  run(t);
  for (const uint64_t v : t.d.raw) EXPECT_EQ(v, t.d.raw[0]);
  return t.d.raw[0];
}
float single_sum(int target, const std::vector<double>& products, double c) {
  return std::bit_cast<float>(static_cast<uint32_t>(one_sum(target, kTypes[0], products, c)));
}

// Fasi et al. 2021, sections "Rounding in the accumulation", "Extra bits", "Subnormal numbers"; MMA-Sim for
// the number of bits and products of each architecture.
TEST(WmmaArithmetic, BitsBehindThePoint) {
  const double tiny = 0x1p-24;
  const std::vector<double> four(4, tiny);
  EXPECT_EQ(single_sum(70, four, 1.0), 1.0f);  // each term is cut off before the sum
  EXPECT_EQ(single_sum(75, four, 1.0), 1.0f + 0x1p-22f);
  EXPECT_EQ(single_sum(80, four, 1.0), 1.0f + 0x1p-22f);
  // One more bit from sm_90 on: with C = 2 the terms lie 25 bits below it.
  EXPECT_EQ(single_sum(80, four, 2.0), 2.0f);
  EXPECT_EQ(single_sum(90, four, 2.0), 2.0f + 0x1p-22f);
  EXPECT_EQ(single_sum(100, four, 2.0), 2.0f + 0x1p-22f);
}

TEST(WmmaArithmetic, SumsAreCutOffNotRounded) {
  EXPECT_EQ(single_sum(80, {0x1p-24}, 1.0 + 0x1p-23), 1.0f + 0x1p-23f);  // a tie
  EXPECT_EQ(single_sum(80, {-0x1p-24}, -1.0 - 0x1p-23), -1.0f - 0x1p-23f);
  EXPECT_EQ(single_sum(80, {0x1p-24, 0x1p-24}, 1.0), 1.0f + 0x1p-23f);
}

TEST(WmmaArithmetic, ProductsAreSummedInBlocks) {
  // 1 cancels within a block; what was cut off before it does not come back.
  std::vector<double> products(16, 0.0);
  products[0] = 1024;
  products[1] = 0x1p-20;
  products[4] = -1024;
  EXPECT_EQ(single_sum(70, products, 0.0), 0.0f);  // blocks of 4: 2^-20 lies 30 bits below 2^10
  products[1] = 0x1p-14;                           // 24 bits below
  EXPECT_EQ(single_sum(70, products, 0.0), 0.0f);
  EXPECT_EQ(single_sum(75, products, 0.0), 0x1p-14f);  // one block of 8 with one bit more
  products[4] = 0;
  products[8] = -1024;
  EXPECT_EQ(single_sum(75, products, 0.0), 0.0f);      // two blocks: the sum of the first is cut to f32
  EXPECT_EQ(single_sum(90, products, 0.0), 0x1p-14f);  // one block of 16
}

TEST(WmmaArithmetic, HalfAccumulatorsRoundToNearest) {
  const Types& half = kTypes[1];
  EXPECT_EQ(one_sum(90, half, {0x1p-11}, 1.0), encode(kF16, 1.0));  // tie to even
  EXPECT_EQ(one_sum(90, half, {0x1p-11, 0x1p-20}, 1.0), encode(kF16, 1.0 + 0x1p-10));
  EXPECT_EQ(one_sum(90, half, {32768, 32768}, 0.0), encode(kF16, HUGE_VAL));
  EXPECT_EQ(one_sum(90, half, {0x1p-24}, 0x1p-24), encode(kF16, 0x1p-23));  // denormals count
}

TEST(WmmaArithmetic, InfinitiesAndNotANumber) {
  const double inf = HUGE_VAL;
  for (const int target : {70, 80, 90}) {
    EXPECT_EQ(one_sum(target, kTypes[0], {inf, 1}, 2), encode(kF32, inf));
    EXPECT_EQ(one_sum(target, kTypes[0], {1, 1}, -inf), encode(kF32, -inf));
    EXPECT_EQ(one_sum(target, kTypes[0], {inf, -inf}, 2), 0x7fffffffu);
    EXPECT_EQ(one_sum(target, kTypes[0], {std::nan("")}, 2), 0x7fffffffu);
    EXPECT_EQ(one_sum(target, kTypes[1], {inf}, -inf), 0x7fffu);
    EXPECT_EQ(one_sum(target, kTypes[0], {-1, 1}, 0), 0u);
  }
}

TEST(WmmaArithmetic, BfloatSumsReachInfinityAndDenormals) {
  const Types& types = kTypes[4];
  EXPECT_EQ(one_sum(80, types, {0x1p127, 0x1p127}, 0), encode(kF32, HUGE_VAL));
  EXPECT_EQ(one_sum(80, types, {-0x1p127, -0x1p126}, 0), encode(kF32, -0x1.8p127));
  EXPECT_EQ(one_sum(80, types, {0x1p-130}, 0x1p-140), encode(kF32, 0x1p-130 + 0x1p-140));
}

TEST(WmmaArithmetic, DenormalAccumulators) {
  // A product of half of the last place is cut off from a single-precision sum.
  EXPECT_EQ(one_sum(80, kTypes[4], {0x1p-75}, 0x1p-127 + 0x1p-149, "", "7.8", 0x1p-75),
            encode(kF32, 0x1p-127 + 0x1p-149));
  // The exponent of a half-precision one is that of the format: 2^-38 lies too far below it to break the tie.
  EXPECT_EQ(one_sum(70, kTypes[1], {0x1p-11, 0x1p-24}, 0x1p-23, "", "7.8", 0x1p-14), encode(kF16, 0x1p-23));
}

TEST(WmmaArithmetic, SatfiniteOfIntegersClamps) {
  const Types &u8 = kTypes[5], &s8 = kTypes[6];
  const double top = INT32_MAX, bottom = INT32_MIN;
  EXPECT_EQ(one_sum(75, u8, {255}, top), static_cast<uint32_t>(INT32_MIN) + 254);
  EXPECT_EQ(one_sum(75, u8, {255}, top, ".satfinite"), static_cast<uint32_t>(INT32_MAX));
  EXPECT_EQ(one_sum(75, s8, {-128}, bottom), static_cast<uint32_t>(INT32_MAX) - 127);
  EXPECT_EQ(one_sum(75, s8, {-128}, bottom, ".satfinite"), static_cast<uint32_t>(INT32_MIN));
  EXPECT_EQ(one_sum(75, s8, {-128}, bottom + 128, ".satfinite"), static_cast<uint32_t>(INT32_MIN));
  EXPECT_EQ(one_sum(75, u8, {100}, top - 101, ".satfinite"), static_cast<uint32_t>(INT32_MAX) - 1);
  EXPECT_EQ(one_sum(75, s8, {-100}, bottom + 101, ".satfinite"), static_cast<uint32_t>(INT32_MIN) + 1);
  // CUDA C++ Programming Guide, mma_sync with satf; in PTX up to 6.4.
  EXPECT_EQ(one_sum(75, kTypes[1], {HUGE_VAL}, 0, ".satfinite", "6.4"), 0x7bffu);
  EXPECT_EQ(one_sum(75, kTypes[1], {-HUGE_VAL}, 0, ".satfinite", "6.4"), 0xfbffu);
  EXPECT_EQ(one_sum(75, kTypes[0], {HUGE_VAL}, 0, ".satfinite", "6.4"), 0x7f7fffffu);
  EXPECT_EQ(one_sum(75, kTypes[0], {HUGE_VAL, -HUGE_VAL}, 0, ".satfinite", "6.4"), 0u);
}

TEST(WmmaArithmetic, RoundingOfDoubles) {
  for (const auto& [suffix, third] :
       {std::pair{".rn", 0x1p-53 * 2}, {".rz", 0.0}, {".rm", 0.0}, {".rp", 0x1p-52}}) {
    Case t = make_case(kDoubleShape, kF64, kF64, kF64, [](const Format&) { return 0; });
    for (uint64_t& v : t.c.raw) v = encode(kF64, 1.0);
    for (int i = 0; i < 8; ++i) {
      t.a.raw[static_cast<size_t>(i) * 4] = encode(kF64, 0x1.8p-53);
      t.b.raw[static_cast<size_t>(i)] = encode(kF64, 1.0);
    }
    t.types = "f64.f64.f64.f64";
    t.shape = "m8n8k4";
    std::string text = t.types;
    t.types = std::string(suffix).substr(1) + "." + text;
    run(t);
    EXPECT_EQ(t.d.raw[0], encode(kF64, 1.0 + third)) << suffix;
  }
}

TEST(Wmma, ResultsMayTakeTheRegistersOfTheAccumulator) {
  for (const LoweringLevel level : {LoweringLevel::kNone, LoweringLevel::kClean}) {
    for (const Types& types : kTypes) {
      if (types.c.name != types.d.name) continue;
      Case t = make_case(kShapes[0], types.multiplicand, types.c, types.d, scattered(4242));
      t.in_place = true;
      t.level = level;
      run_and_compare(t);
    }
  }
}

TEST(Wmma, ResultsMayTakeTheRegistersOfAMultiplicand) {
  // The second half of the product still needs A when the first half is written.
  const char* text = R"(
.version 7.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .b64 %p;
.reg .b32 %a<8>, %b<8>;
ld.param.u64 %p, [p];
wmma.load.a.sync.aligned.row.m16n16k16.f16 {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, [%p];
wmma.load.b.sync.aligned.row.m16n16k16.f16 {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, [%p+512];
wmma.mma.sync.aligned.row.row.m16n16k16.f16.f16 {%a0, %a1, %a2, %a3}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7},
  {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, {%b0, %b1, %b2, %b3};
wmma.store.d.sync.aligned.row.m16n16k16.f16 [%p+1024], {%a0, %a1, %a2, %a3};
ret;
})";
  const Module module = test::parse_ok(text);
  auto lowered = lower_kernel(module, *module.find_function("k"), LoweringOptions{});
  ASSERT_TRUE(std::holds_alternative<KernelImage>(lowered));
  TestMemory memory;
  const uint64_t base = memory.add(1536);
  Matrix a = matrix(kF16, 16, 16, small_integers(1)), b = matrix(kF16, 16, 16, small_integers(2));
  for (size_t i = 0; i < 256; ++i) {
    std::memcpy(memory.data(base) + 2 * i, &a.raw[i], 2);
    std::memcpy(memory.data(base) + 512 + 2 * i, &b.raw[i], 2);
  }
  ASSERT_TRUE(
      BlockRunner(std::get<KernelImage>(lowered), memory, test::pack_params({base}), 32).run().finished);
  // C has B's registers: of element (k, n) of B, lane 4 (n % 8) + k % 8 / 2 has register k / 8 + n / 8 * 2;
  // the same register of C is (row, column) with row n % 8 + 8 (register % 2), column k % 8 + 8 (register /
  // 2).
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) {
      const int k = j % 8 + i / 8 * 8, n = i % 8 + j / 8 * 8;
      double sum = decode(kF16, b.raw[static_cast<size_t>(k) * 16 + n]);
      const std::vector<double> x = a.line(i), y = b.column(j);
      for (size_t q = 0; q < 16; ++q) sum += x[q] * y[q];
      uint16_t got = 0;
      std::memcpy(&got, memory.data(base) + 1024 + 2l * (i * 16 + j), 2);
      ASSERT_EQ(decode(kF16, got), sum) << i << " " << j;
    }
  }
}

/// Registers that wmma.load leaves in each lane, [lane][register].
std::vector<std::vector<uint32_t>> loaded(const std::string& form, int registers,
                                          const std::vector<uint32_t>& words) {
  std::string list;
  for (int i = 0; i < registers; ++i) list += fmt::format("{}%r{}", i == 0 ? "" : ", ", i);
  std::string text =
      ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %p, "
      "%q;\n"
      ".reg .b32 %r<8>, %lane;\nld.param.u64 %p, [p];\n";
  text += "wmma.load." + form + " {" + list +
          "}, [%p];\nmov.u32 %lane, %laneid;\nmul.wide.u32 %q, %lane, 32;\n"
          "add.u64 %q, %q, %p;\n";
  for (int i = 0; i < registers; ++i) text += fmt::format("st.global.b32 [%q+{}], %r{};\n", 4096 + 4 * i, i);
  const Module module = test::parse_ok(text + "ret;\n}\n");
  EXPECT_EQ(test::messages(verify_module(module)), "");
  auto lowered = lower_kernel(module, *module.find_function("k"), LoweringOptions{});
  EXPECT_TRUE(std::holds_alternative<KernelImage>(lowered));
  TestMemory memory;
  const uint64_t base = memory.add(8192);
  std::memcpy(memory.data(base), words.data(), words.size() * 4);
  EXPECT_TRUE(
      BlockRunner(std::get<KernelImage>(lowered), memory, test::pack_params({base}), 32).run().finished);
  std::vector<std::vector<uint32_t>> result(32, std::vector<uint32_t>(static_cast<size_t>(registers)));
  for (size_t l = 0; l < 32; ++l)
    std::memcpy(result[l].data(), memory.data(base) + 4096 + 32 * l, static_cast<size_t>(registers) * 4);
  return result;
}

std::vector<uint32_t> counted_halves() {
  std::vector<uint32_t> words;
  for (uint32_t i = 0; i < 256; i += 2) words.push_back(i | (i + 1) << 16);
  return words;
}

// The places that wmma_extension measured on sm_75 and sm_80 (isa/ptx/wmma.h), element by element.
TEST(WmmaFragments, PlacesOfHalfMultiplicands) {
  for (const char matrix : {'a', 'b'}) {
    for (const bool is_row : {true, false}) {
      const auto registers =
          loaded(fmt::format("{}.sync.aligned.{}.m16n16k16.f16", matrix, is_row ? "row" : "col"), 8,
                 counted_halves());
      for (int lane = 0; lane < 32; ++lane) {
        for (int x = 0; x < 16; ++x) {
          const int y = x % 8;
          const int i = matrix == 'a' ? lane / 4 + (y & 2) * 4 : lane % 4 * 2 + (y & 2) * 4 + (y & 1);
          const int j = matrix == 'a' ? lane % 4 * 2 + (y & 4) * 2 + (y & 1) : lane / 4 + (y & 4) * 2;
          const uint32_t got =
              registers[static_cast<size_t>(lane)][static_cast<size_t>(x / 2)] >> (x % 2 * 16) & 0xffff;
          ASSERT_EQ(got, static_cast<uint32_t>(is_row ? i * 16 + j : j * 16 + i))
              << matrix << " " << is_row << " lane " << lane << " element " << x;
        }
      }
    }
  }
}

TEST(WmmaFragments, PlacesOfAccumulators) {
  std::vector<uint32_t> numbers(256);
  for (uint32_t i = 0; i < 256; ++i) numbers[i] = i;
  for (const bool is_row : {true, false}) {
    const std::string layout = is_row ? "row" : "col";
    const auto words = loaded("c.sync.aligned." + layout + ".m16n16k16.s32", 8, numbers);
    const auto halves = loaded("c.sync.aligned." + layout + ".m16n16k16.f16", 4, counted_halves());
    for (int lane = 0; lane < 32; ++lane) {
      for (int x = 0; x < 8; ++x) {
        const int i = lane / 4 + (x & 2) * 4, j = lane % 4 * 2 + (x & 4) * 2 + (x & 1);
        const auto want = static_cast<uint32_t>(is_row ? i * 16 + j : j * 16 + i);
        const auto l = static_cast<size_t>(lane);
        ASSERT_EQ(words[l][static_cast<size_t>(x)], want) << layout << " lane " << lane << " element " << x;
        ASSERT_EQ(halves[l][static_cast<size_t>(x / 2)] >> (x % 2 * 16) & 0xffff, want) << layout;
      }
    }
  }
}

TEST(Wmma, ElementsMayBeChangedOneByOne) {
  Case t = make_case(kShapes[1], kF16, kF32, kF32, small_integers(9));
  for (int i = 0; i < 8; ++i)
    t.between += fmt::format("fma.rn.f32 %fd{0}, %fd{0}, 0f40000000, 0f3F800000;\n", i);
  Case plain = t;
  plain.between.clear();
  run(t);
  run(plain);
  for (size_t i = 0; i < t.d.raw.size(); ++i)
    EXPECT_EQ(decode(kF32, t.d.raw[i]), 2 * decode(kF32, plain.d.raw[i]) + 1);
}

// --- faults ---

RunResult faulting(const std::string& body, uint64_t bytes) {
  const Module module = test::parse_ok(
      ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %p, "
      "%q;\n"
      ".reg .b32 %r<8>, %lane;\n.reg .f32 %f<8>;\nld.param.u64 %p, [p];\nmov.u32 %lane, %laneid;\n" +
      body + "ret;\n}\n");
  auto lowered = lower_kernel(module, *module.find_function("k"), LoweringOptions{});
  EXPECT_TRUE(std::holds_alternative<KernelImage>(lowered));
  TestMemory memory;
  const uint64_t base = memory.add(bytes);
  return BlockRunner(std::get<KernelImage>(lowered), memory, test::pack_params({base}), 32).run();
}
const std::string kLoadA =
    "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, ";

TEST(Wmma, AccessesOutsideAndMisalignedOnesFail) {
  EXPECT_TRUE(faulting(kLoadA + "[%p];\n", 512).finished);
  EXPECT_EQ(faulting(kLoadA + "[%p];\n", 511).fault, FaultKind::kOutOfBounds);
  EXPECT_EQ(faulting(kLoadA + "[%p], 18;\n", 512).fault, FaultKind::kOutOfBounds);
  EXPECT_EQ(faulting(kLoadA + "[%p+2];\n", 2048).fault, FaultKind::kMisaligned);
  EXPECT_EQ(faulting("wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%p+64], "
                     "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7};\n",
                     1024)
                .fault,
            FaultKind::kOutOfBounds);
}

TEST(Wmma, LanesMustAgreeOnTheMatrix) {
  EXPECT_EQ(faulting(kLoadA + "[%p], %lane;\n", 2048).fault, FaultKind::kMatrixPlace);
  EXPECT_EQ(
      faulting("mul.wide.u32 %q, %lane, 4;\nadd.u64 %q, %q, %p;\n" + kLoadA + "[%q], 16;\n", 2048).fault,
      FaultKind::kMatrixPlace);
}

TEST(Wmma, HalvesInSharedMemoryAreLoadedAsMatricesFrom75On) {
  const auto loads = [](int capability, const std::string& where, const std::string& shape) {
    const Module module = test::parse_ok(
        ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %p;\n"
        ".reg .b32 %r<8>;\n.shared .align 32 .b8 tile[2048];\nld.param.u64 %p, [p];\n"
        "wmma.load.a.sync.aligned.row." +
        shape + where + " 16;\nret;\n}\n");
    LoweringOptions options;
    options.machine_capability = capability;
    const auto lowered = lower_kernel(module, *module.find_function("k"), options);
    EXPECT_TRUE(std::holds_alternative<KernelImage>(lowered));
    return std::ranges::count_if(std::get<KernelImage>(lowered).ops,
                                 [](const MicroOp& op) { return op.kind == OpKind::kLoad && op.whole_warp; });
  };
  const std::string halves = ".f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, ",
                    shared = ".shared" + halves + "[tile],";
  EXPECT_EQ(loads(75, shared, "m16n16k16"), 1);
  EXPECT_EQ(loads(75, shared, "m32n8k16"), 2) << "four registers each";
  EXPECT_EQ(loads(70, shared, "m16n16k16"), 4);
  EXPECT_EQ(loads(75, ".global" + halves + "[%p],", "m16n16k16"), 4);
  EXPECT_EQ(loads(75, ".shared.s8 {%r0,%r1}, [tile],", "m16n16k16"), 2);
}

TEST(Wmma, NeedsTheWholeWarp) {
  const Module module =
      test::kernel_ok(".reg .b32 %r<8>;\n.reg .b64 %p;\nld.param.u64 %p, [p];\n" + kLoadA + "[%p];\nret;");
  auto lowered = lower_kernel(module, *module.find_function("k"), LoweringOptions{});
  ASSERT_TRUE(std::holds_alternative<KernelImage>(lowered));
  size_t count = 0;
  for (const MicroOp& op : std::get<KernelImage>(lowered).ops) {
    if (op.mem == nullptr || op.memory.space != Space::kGlobal) continue;
    ++count;
    EXPECT_TRUE(lacks_lanes(op, LaneMask(0x7fffffff)));
    EXPECT_FALSE(lacks_lanes(op, LaneMask::all()));
    EXPECT_FALSE(lacks_lanes(op, LaneMask()));
  }
  EXPECT_EQ(count, 4u);
}

INSTANTIATE_TEST_SUITE_P(Levels, WmmaTest,
                         testing::Values(SimdLevel::kBaseline, SimdLevel::kAvx2, SimdLevel::kAvx512),
                         [](const auto& level) { return std::string(simd_level_name(level.param)); });

}  // namespace
}  // namespace gpusim::isa
