// Programs with one wmma.mma and what they must give: a model in floating point and wide integers that shares
// no code with the semantic functions.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "isa/tests/ptx_test_util.h"
#include "isa/tests/warp_runner.h"

namespace gpusim::isa::test {

// --- formats ---

struct Format {
  std::string name;
  int bytes;
  int exponent, mantissa;  ///< bits; 0: an integer
  bool is_signed;
};
inline const Format kF16{"f16", 2, 5, 10, true}, kBF16{"bf16", 2, 8, 7, true}, kF32{"f32", 4, 8, 23, true},
    kF64{"f64", 8, 11, 52, true}, kU8{"u8", 1, 0, 0, false}, kS8{"s8", 1, 0, 0, true},
    kS32{"s32", 4, 0, 0, true};

inline double decode(const Format& f, uint64_t raw) {
  if (f.exponent == 0) {
    const uint64_t sign = f.is_signed ? uint64_t{1} << (8 * f.bytes - 1) : 0;
    return static_cast<double>(static_cast<int64_t>(raw ^ sign) - static_cast<int64_t>(sign));
  }
  const int field = static_cast<int>(raw >> f.mantissa) & ((1 << f.exponent) - 1);
  const uint64_t fraction = raw & ((uint64_t{1} << f.mantissa) - 1);
  const double sign = raw >> (f.exponent + f.mantissa) & 1 ? -1.0 : 1.0;
  if (field == (1 << f.exponent) - 1) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  const uint64_t significand = field == 0 ? fraction : fraction | uint64_t{1} << f.mantissa;
  const int bias = (1 << (f.exponent - 1)) - 1;
  return sign * std::ldexp(static_cast<double>(significand), std::max(field, 1) - bias - f.mantissa);
}

/// `rounded` turns a scaled value into an integer.
inline double narrowed(const Format& f, double v, double (*rounded)(double)) {
  if (v == 0 || !std::isfinite(v)) return v;
  const int lowest = 2 - (1 << (f.exponent - 1));
  const int e = std::max(std::ilogb(v), lowest);
  const double r = std::ldexp(rounded(std::ldexp(v, f.mantissa - e)), e - f.mantissa);
  return std::abs(r) >= std::ldexp(1.0, 1 << (f.exponent - 1)) ? std::copysign(HUGE_VAL, v) : r;
}

inline uint64_t encode(const Format& f, double v) {
  if (f.exponent == 0)
    return static_cast<uint64_t>(static_cast<int64_t>(v)) & ((uint64_t{1} << (8 * f.bytes)) - 1);
  if (std::isnan(v)) return f.bytes == 2 ? 0x7fff : f.bytes == 4 ? 0x7fffffff : 0xfff8000000000000;
  if (f.bytes == 8) return std::bit_cast<uint64_t>(v);
  const uint64_t sign = uint64_t{std::signbit(v)} << (f.exponent + f.mantissa);
  const uint64_t top = (uint64_t{1} << f.exponent) - 1;
  if (std::isinf(v)) return sign | top << f.mantissa;
  if (v == 0) return sign;
  const int lowest = 2 - (1 << (f.exponent - 1)), e = std::max(std::ilogb(v), lowest);
  const auto significand = static_cast<uint64_t>(std::abs(std::ldexp(v, f.mantissa - e)));
  return sign | ((static_cast<uint64_t>(e - lowest) << f.mantissa) + significand);
}

// --- the model of one result ---

struct Model {
  int fraction_bits, block;
};
inline Model model_of(int target) {
  if (target >= 90) return {25, 16};
  return target >= 75 ? Model{24, 8} : Model{23, 4};
}

inline double sum_of_block(const Model& model, const Format& multiplicand, const Format& kept,
                           const std::vector<double>& a, const std::vector<double>& b, double c) {
  double plain = c;
  for (size_t k = 0; k < a.size(); ++k) plain += a[k] * b[k];
  if (!std::isfinite(plain)) return plain;
  const auto exponent = [](const Format& f, double v) {
    return std::max(std::ilogb(v), 2 - (1 << (f.exponent - 1)));
  };
  int largest = c == 0 ? -126 : exponent(kept, c);
  std::vector<std::pair<double, int>> terms{{c, largest}};
  for (size_t k = 0; k < a.size(); ++k) {
    if (a[k] == 0 || b[k] == 0) continue;
    const int e = exponent(multiplicand, a[k]) + exponent(multiplicand, b[k]);
    terms.emplace_back(a[k] * b[k], e);
    largest = std::max(largest, e);
  }
  double total = 0;
  for (const auto& [v, e] : terms) total += std::trunc(std::ldexp(v, model.fraction_bits - largest));
  total = std::ldexp(total, largest - model.fraction_bits);
  return kept.bytes == 2 ? narrowed(kF16, total, std::nearbyint) : narrowed(kF32, total, std::trunc);
}

inline uint64_t float_result(const Model& model, const Format& multiplicand, const Format& c_format,
                             const Format& d_format, const std::vector<double>& a,
                             const std::vector<double>& b, double c) {
  const Format& kept = c_format.bytes == 2 && d_format.bytes == 2 ? kF16 : kF32;
  for (size_t k = 0; k < a.size(); k += static_cast<size_t>(model.block)) {
    const auto part = [&](const std::vector<double>& v) {
      return std::vector<double>(v.begin() + static_cast<long>(k),
                                 v.begin() + static_cast<long>(k) + model.block);
    };
    c = sum_of_block(model, multiplicand, kept, part(a), part(b), c);
  }
  return encode(d_format, d_format.bytes == 2 ? narrowed(kF16, c, std::nearbyint) : c);
}

inline uint64_t integer_result(bool clamp, const std::vector<double>& a, const std::vector<double>& b,
                               double c) {
  auto sum = static_cast<int64_t>(c);
  for (size_t k = 0; k < a.size(); ++k) sum += static_cast<int64_t>(a[k]) * static_cast<int64_t>(b[k]);
  if (clamp) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
  return static_cast<uint32_t>(sum);
}

inline uint64_t double_result(const std::vector<double>& a, const std::vector<double>& b, double c) {
  for (size_t k = 0; k < a.size(); ++k) c = std::fma(a[k], b[k], c);
  return encode(kF64, c);
}

// --- one program: load A, B, C; multiply; store D ---

inline constexpr uint64_t kRegion = 8192;  // bytes of memory for each matrix

struct Matrix {
  Format format;
  int rows, columns;
  bool is_row;
  int stride;                 ///< 0: the default
  std::vector<uint64_t> raw;  ///< row by row

  [[nodiscard]] size_t place(int i, int j) const {
    const int step = stride != 0 ? stride : is_row ? columns : rows;
    return static_cast<size_t>(is_row ? i * step + j : j * step + i) * format.bytes;
  }
  [[nodiscard]] std::string layout() const { return is_row ? "row" : "col"; }
  [[nodiscard]] std::vector<double> line(int i) const {  // row
    std::vector<double> v;
    v.reserve(columns);
    for (int j = 0; j < columns; ++j) v.push_back(decode(format, raw[static_cast<size_t>(i) * columns + j]));
    return v;
  }
  [[nodiscard]] std::vector<double> column(int j) const {
    std::vector<double> v;
    v.reserve(rows);
    for (int i = 0; i < rows; ++i) v.push_back(decode(format, raw[static_cast<size_t>(i) * columns + j]));
    return v;
  }
};

struct Case {
  std::string shape = "m16n16k16", types, space, suffix;
  int target = 75;
  std::string version = "7.8";
  Matrix a, b, c, d;
  SimdLevel simd = SimdLevel::kBaseline;
  LoweringLevel level = LoweringLevel::kClean;
  std::string between;    ///< statements between wmma.mma and wmma.store
  bool in_place = false;  ///< D takes C's registers
};

inline int registers_of(const Case& t, char matrix, const Matrix& m) {
  if (m.format.name == "f16" && (matrix == 'a' || matrix == 'b')) return 8;
  const int bytes = m.rows * m.columns * m.format.bytes / 32;
  return t.shape == "m8n8k4" ? bytes / 8 : bytes / 4;
}

inline std::string vector_of(const Case& t, char matrix, const Matrix& m) {
  const bool is_single = m.format.name == "f32", is_double = m.format.name == "f64";
  std::string text = "{";
  for (int i = 0; i < registers_of(t, matrix, m); ++i)
    text += fmt::format("{}%{}{}{}", i == 0 ? "" : ", ", is_single ? "f" : is_double ? "g" : "r", matrix, i);
  return text + "}";
}

inline std::string transfer(const Case& t, char matrix, const Matrix& m, const std::string& base) {
  const std::string vector = vector_of(t, matrix, m);
  const std::string place = fmt::format("[{}+{}]", base, kRegion * static_cast<uint64_t>(matrix - 'a'));
  const std::string stride = m.stride == 0 ? "" : fmt::format(", {}", m.stride);
  const bool store = matrix == 'd';
  return fmt::format("wmma.{}.{}.sync.aligned.{}.{}{}.{} {}, {}{};\n", store ? "store" : "load", matrix,
                     m.layout(), t.shape, t.space, m.format.name, store ? place : vector,
                     store ? vector : place, stride);
}

inline std::string program(const Case& t) {
  std::string text = fmt::format(".version {}\n.target sm_{}\n.address_size 64\n", t.version, t.target);
  text +=
      ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %p, %q, %s, %w;\n.reg .b32 %n, %lane;\n.reg .pred "
      "%more;\n";
  for (const char m : {'a', 'b', 'c', 'd'})
    text += fmt::format(".reg .b32 %r{0}<8>;\n.reg .f32 %f{0}<8>;\n.reg .f64 %g{0}<8>;\n", m);
  text += ".shared .align 32 .b8 area[32768];\nld.param.u64 %p, [p];\n";
  const bool staged = t.space == ".shared";
  const std::string base = staged ? "area" : "%p";
  // 32 lanes copy eight bytes each time, there and back.
  const auto copy = [&](const std::string& label, const std::string& load, const std::string& store) {
    text +=
        "mov.u32 %lane, %laneid;\nmul.wide.u32 %w, %lane, 8;\nadd.u64 %q, %p, %w;\nmov.u64 %s, area;\n"
        "add.u64 %s, %s, %w;\nmov.u32 %n, 128;\n" +
        label + ":\nld." + load + ";\nst." + store +
        ";\nadd.u64 %q, %q, 256;\nadd.u64 %s, %s, 256;\nsub.u32 %n, %n, 1;\nsetp.ne.u32 %more, %n, 0;\n"
        "@%more bra " +
        label + ";\nbar.sync 0;\n";
  };
  if (staged) copy("IN", "global.u64 %w, [%q]", "shared.u64 [%s], %w");
  text += transfer(t, 'a', t.a, base) + transfer(t, 'b', t.b, base) + transfer(t, 'c', t.c, base);
  const std::string d = t.in_place ? vector_of(t, 'c', t.c) : vector_of(t, 'd', t.d);
  text += fmt::format("wmma.mma.sync.aligned.{}.{}.{}.{}{} {}, {}, {}, {};\n", t.a.layout(), t.b.layout(),
                      t.shape, t.types, t.suffix, d, vector_of(t, 'a', t.a), vector_of(t, 'b', t.b),
                      vector_of(t, 'c', t.c));
  text += t.between;
  std::string store = transfer(t, 'd', t.d, base);
  if (t.in_place) store.replace(store.find('{'), store.find('}') - store.find('{') + 1, d);
  text += store;
  if (staged) copy("OUT", "shared.u64 %w, [%s]", "global.u64 [%q], %w");
  return text + "ret;\n}\n";
}

/// Sets the matrix D of `t`.
inline void run(Case& t) {
  const std::string text = program(t);
  SCOPED_TRACE(text);
  const Module module = parse_ok(text);
  ASSERT_EQ(messages(verify_module(module)), "");
  LoweringOptions options;
  options.simd = t.simd;
  options.level = t.level;
  auto lowered = lower_kernel(module, *module.find_function("k"), options);
  ASSERT_TRUE(std::holds_alternative<KernelImage>(lowered)) << messages(std::get<Diagnostics>(lowered));
  TestMemory memory;
  const uint64_t base = memory.add(4 * kRegion);
  for (const auto& [index, m] : {std::pair{0, &t.a}, {1, &t.b}, {2, &t.c}}) {
    std::byte* at = memory.data(base) + kRegion * static_cast<uint64_t>(index);
    for (int i = 0; i < m->rows; ++i) {
      for (int j = 0; j < m->columns; ++j)
        std::memcpy(at + m->place(i, j), &m->raw[static_cast<size_t>(i) * m->columns + j],
                    static_cast<size_t>(m->format.bytes));
    }
  }
  const auto result = BlockRunner(std::get<KernelImage>(lowered), memory, pack_params({base}), 32).run();
  ASSERT_TRUE(result.finished) << fault_name(result.fault) << " " << std::hex << result.access.fault_address;
  t.d.raw.clear();
  for (int i = 0; i < t.d.rows; ++i) {
    for (int j = 0; j < t.d.columns; ++j) {
      uint64_t raw = 0;
      std::memcpy(&raw, memory.data(base) + 3 * kRegion + t.d.place(i, j),
                  static_cast<size_t>(t.d.format.bytes));
      t.d.raw.push_back(raw);
    }
  }
}

inline uint64_t expected(const Case& t, int i, int j) {
  const double c = decode(t.c.format, t.c.raw[static_cast<size_t>(i) * t.c.columns + j]);
  if (t.a.format.exponent == 0)
    return integer_result(t.suffix == ".satfinite", t.a.line(i), t.b.column(j), c);
  if (t.a.format.bytes == 8) return double_result(t.a.line(i), t.b.column(j), c);
  return float_result(model_of(t.target), t.a.format, t.c.format, t.d.format, t.a.line(i), t.b.column(j), c);
}

inline void run_and_compare(Case& t) {
  run(t);
  if (testing::Test::HasFatalFailure()) return;
  for (int i = 0; i < t.d.rows; ++i) {
    for (int j = 0; j < t.d.columns; ++j) {
      ASSERT_EQ(t.d.raw[static_cast<size_t>(i) * t.d.columns + j], expected(t, i, j))
          << "row " << i << " column " << j << std::hex << "\n"
          << program(t);
    }
  }
}

}  // namespace gpusim::isa::test
