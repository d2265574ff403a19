// cvt from and to 8-bit floating point, compared for every input with a search in the list of all values, in
// doubles: nothing here shares a step with the implementation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "isa/exec/semantics/table.h"
#include "isa/ptx/parser/parser.h"
#include "isa/ptx/verifier/verifier.h"
#include "isa/tests/ptx_test_util.h"
#include "isa/tests/warp_runner.h"

namespace gpusim::isa {
namespace {

using test::BlockRunner;
using test::TestMemory;

struct Format8 {
  const char* name;
  int exponent, mantissa;
  bool infinite;  ///< the largest exponent has infinities and NaN; else only its last value is NaN
};
constexpr Format8 kFormats[] = {{"e4m3x2", 4, 3, false}, {"e5m2x2", 5, 2, true}};
constexpr int kByteNan = 0x7f, kHalfNan = 0x7fff;

double value_of_byte(const Format8& f, int byte) {
  const int magnitude = byte & 0x7f, field = magnitude >> f.mantissa,
            fraction = magnitude & ((1 << f.mantissa) - 1);
  const int bias = (1 << (f.exponent - 1)) - 1;
  double v = 0;
  if (f.infinite && field == (1 << f.exponent) - 1)
    v = fraction == 0 ? HUGE_VAL : std::nan("");
  else if (!f.infinite && magnitude == kByteNan)
    v = std::nan("");
  else if (field == 0)
    v = fraction * std::pow(2.0, 1 - bias - f.mantissa);
  else
    v = (1 + fraction / std::pow(2.0, f.mantissa)) * std::pow(2.0, field - bias);
  return (byte & 0x80) != 0 ? -v : v;
}

double value_of_half(int half) {
  const int field = (half >> 10) & 31, fraction = half & 1023;
  double v = 0;
  if (field == 31)
    v = fraction == 0 ? HUGE_VAL : std::nan("");
  else
    v = field == 0 ? fraction * std::pow(2.0, -24) : (1 + fraction / 1024.0) * std::pow(2.0, field - 15);
  return (half & 0x8000) != 0 ? -v : v;
}

/// The nearest finite value, the one with an even last bit of two.
class Rounding8 {
 public:
  explicit Rounding8(const Format8& f) {
    for (int b = 0; b < 0x80; ++b)
      if (const double v = value_of_byte(f, b); std::isfinite(v)) values_.push_back(v);
  }
  [[nodiscard]] int operator()(double v, bool relu) const {
    if (std::isnan(v)) return kByteNan;
    const int sign = std::signbit(v) ? 0x80 : 0;
    if (relu && sign != 0) return 0;
    const double magnitude = std::fabs(v);
    if (magnitude >= values_.back()) return sign | static_cast<int>(values_.size() - 1);
    size_t above = 0;
    while (values_[above] < magnitude) ++above;
    if (above == 0) return sign;
    const double up = values_[above] - magnitude, down = magnitude - values_[above - 1];
    const bool take_above = up < down || (up == down && above % 2 == 0);
    return sign | static_cast<int>(take_above ? above : above - 1);
  }

 private:
  std::vector<double> values_;  ///< by their bits
};

/// Runs `statement`, which makes %r9 of the words %r1 and %r2, on all pairs.
std::vector<uint32_t> run(const std::string& statement, const std::vector<uint32_t>& a,
                          const std::vector<uint32_t>& b, SimdLevel level) {
  const std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry test(.param .u64 in, .param .u64 out)
{
.reg .b64 %rd<8>; .reg .b32 %r<10>; .reg .f32 %f<4>; .reg .b16 %h<4>;
mov.u32 %r3, %tid.x;
ld.param.u64 %rd1, [in];
ld.param.u64 %rd2, [out];
mul.wide.u32 %rd3, %r3, 8;
add.u64 %rd4, %rd1, %rd3;
ld.global.v2.u32 {%r1, %r2}, [%rd4];
mov.b32 %f1, %r1;
mov.b32 %f2, %r2;
cvt.u16.u32 %h1, %r1;
)" + statement + R"(
mul.wide.u32 %rd3, %r3, 4;
add.u64 %rd5, %rd2, %rd3;
st.global.u32 [%rd5], %r9;
ret;
}
)";
  ParseResult parsed = parse_module(text);
  EXPECT_TRUE(parsed.ok()) << test::messages(parsed.diagnostics);
  LoweringOptions options;
  options.simd = level;
  auto lowered = lower_kernel(parsed.module, *parsed.module.find_function("test"), options);
  if (!std::holds_alternative<KernelImage>(lowered)) {
    ADD_FAILURE() << test::messages(std::get<Diagnostics>(lowered));
    return {};
  }
  const KernelImage& image = std::get<KernelImage>(lowered);
  std::vector<uint32_t> results;
  constexpr size_t kThreads = 1024;
  for (size_t first = 0; first < a.size(); first += kThreads) {
    const size_t count = std::min(kThreads, a.size() - first);
    TestMemory memory;
    std::vector<uint32_t> words;
    for (size_t i = first; i < first + count; ++i) words.insert(words.end(), {a[i], b[i]});
    const uint64_t in = memory.add_values(words), out = memory.add(count * 4);
    BlockRunner runner(image, memory, test::pack_params({in, out}), static_cast<uint32_t>(count));
    EXPECT_TRUE(runner.run().finished);
    const auto part = memory.read<uint32_t>(out, count);
    results.insert(results.end(), part.begin(), part.end());
  }
  return results;
}

class Float8 : public testing::TestWithParam<SimdLevel> {
 protected:
  void SetUp() override {
    if (!simd_supported(GetParam())) GTEST_SKIP() << "this CPU lacks " << simd_level_name(GetParam());
  }
};

TEST_P(Float8, EveryPairOfBytesBecomesHalves) {
  std::vector<uint32_t> all(0x10000);
  for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  for (const Format8& f : kFormats) {
    for (const bool relu : {false, true}) {
      const auto got = run(std::string("cvt.rn") + (relu ? ".relu" : "") + ".f16x2." + f.name + " %r9, %h1;",
                           all, all, GetParam());
      ASSERT_EQ(got.size(), all.size());
      for (uint32_t i = 0; i < all.size(); ++i)
        for (const int part : {0, 1}) {
          const double want = value_of_byte(f, static_cast<int>(i >> (8 * part) & 0xff));
          const auto half = static_cast<int>(got[i] >> (16 * part) & 0xffff);
          if (std::isnan(want)) {
            ASSERT_EQ(half, kHalfNan) << f.name << " " << std::hex << i;
          } else {
            const double expected = relu && std::signbit(want) ? 0.0 : want;
            ASSERT_EQ(value_of_half(half), expected) << f.name << " " << std::hex << i;
            ASSERT_EQ(std::signbit(value_of_half(half)), std::signbit(expected))
                << f.name << " " << std::hex << i;
          }
        }
    }
  }
}

TEST_P(Float8, EveryHalfBecomesBytes) {
  std::vector<uint32_t> pairs(0x10000);
  for (uint32_t i = 0; i < pairs.size(); ++i) pairs[i] = i << 16 | (i * 0x9e37u & 0xffff);
  for (const Format8& f : kFormats) {
    const Rounding8 rounded(f);
    for (const bool relu : {false, true}) {
      const auto got = run(std::string("cvt.rn.satfinite") + (relu ? ".relu." : ".") + f.name +
                               ".f16x2 %h2, %r1; cvt.u32.u16 %r9, %h2;",
                           pairs, pairs, GetParam());
      ASSERT_EQ(got.size(), pairs.size());
      for (uint32_t i = 0; i < pairs.size(); ++i) {
        const int high = rounded(value_of_half(static_cast<int>(pairs[i] >> 16)), relu);
        const int low = rounded(value_of_half(static_cast<int>(pairs[i] & 0xffff)), relu);
        ASSERT_EQ(got[i], static_cast<uint32_t>(high << 8 | low)) << f.name << " " << std::hex << pairs[i];
      }
    }
  }
}

/// Floats: all signs and exponents with the fractions at which a rounding may turn, which is every value of
/// the format, every middle between two, and what lies next to them.
std::vector<uint32_t> critical_floats(const Format8& f) {
  std::vector<uint32_t> bits;
  const auto add = [&](double v) {
    const auto exact = static_cast<float>(v);
    for (const float near : {exact, std::nextafterf(exact, HUGE_VALF), std::nextafterf(exact, -HUGE_VALF)}) {
      uint32_t b = 0;
      std::memcpy(&b, &near, sizeof b);
      bits.insert(bits.end(), {b, b ^ 0x80000000u});
    }
  };
  std::vector<double> values;
  for (int b = 0; b < 0x80; ++b)
    if (const double v = value_of_byte(f, b); std::isfinite(v)) values.push_back(v);
  for (size_t i = 0; i < values.size(); ++i) {
    add(values[i]);
    add(i + 1 < values.size() ? (values[i] + values[i + 1]) / 2 : 2 * values[i]);
  }
  for (uint32_t upper = 0; upper < 0x10000; ++upper)
    for (const uint32_t lower : {0u, 1u, 0x8000u, 0xffffu}) bits.push_back(upper << 16 | lower);
  return bits;
}

TEST_P(Float8, FloatsBecomeBytes) {
  for (const Format8& f : kFormats) {
    const Rounding8 rounded(f);
    const std::vector<uint32_t> a = critical_floats(f);
    const std::vector<uint32_t> b(a.rbegin(), a.rend());
    for (const bool relu : {false, true}) {
      const auto got = run(std::string("cvt.rn.satfinite") + (relu ? ".relu." : ".") + f.name +
                               ".f32 %h2, %f1, %f2; cvt.u32.u16 %r9, %h2;",
                           a, b, GetParam());
      ASSERT_EQ(got.size(), a.size());
      const auto value = [](uint32_t bits) {
        float v = 0;
        std::memcpy(&v, &bits, sizeof v);
        return double{v};
      };
      for (size_t i = 0; i < a.size(); ++i)
        ASSERT_EQ(got[i], static_cast<uint32_t>(rounded(value(a[i]), relu) << 8 | rounded(value(b[i]), relu)))
            << f.name << " " << std::hex << a[i] << " " << b[i];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Float8,
                         testing::Values(SimdLevel::kBaseline, SimdLevel::kAvx2, SimdLevel::kAvx512),
                         [](const auto& level) { return std::string(simd_level_name(level.param)); });

TEST(Float8Forms, OnlyThoseOfTheManual) {
  const auto wrong = [](const std::string& statement, const std::string& target) {
    const ParseResult parsed =
        parse_module(".version 8.0\n.target " + target +
                     "\n.address_size 64\n.visible .entry k() {\n.reg .b16 %h<2>; .reg .b32 "
                     "%r<2>; .reg .f32 %f<3>;\n" +
                     statement + "\nret;\n}\n");
    return !parsed.ok() || std::ranges::any_of(verify_module(parsed.module), [](const Diagnostic& d) {
      return d.severity == Diagnostic::Severity::kError;
    });
  };
  EXPECT_FALSE(wrong("cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;", "sm_89"));
  EXPECT_TRUE(wrong("cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;", "sm_86"));
  EXPECT_TRUE(wrong("cvt.rn.e4m3x2.f32 %h1, %f1, %f2;", "sm_90"));
  EXPECT_TRUE(wrong("cvt.rz.satfinite.e4m3x2.f32 %h1, %f1, %f2;", "sm_90"));
  EXPECT_TRUE(wrong("cvt.rn.satfinite.e4m3x2.f32 %h1, %f1;", "sm_90"));
  EXPECT_TRUE(wrong("cvt.rn.satfinite.e4m3x2.f32 %r1, %f1, %f2;", "sm_90"));
  EXPECT_TRUE(wrong("cvt.rn.satfinite.f16x2.e5m2x2 %r1, %h1;", "sm_90"));
}

}  // namespace
}  // namespace gpusim::isa
