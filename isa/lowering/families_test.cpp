// Matrices through mma, ldmatrix and its relatives, and tf32: what they give is compared with plain
// computations on the host. Surfaces and video instructions have files of their own.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "isa/tests/family_kernels.h"

namespace gpusim::isa {
namespace {

using namespace test;  // NOLINT: helpers of this folder

// --- mma ---

/// A shape with the types of its matrices; element (i, j) of a fragment is where the PTX manual says.
struct MmaCase {
  std::string name;
  size_t k;
  uint32_t bits;  ///< of a multiplicand
  size_t a_registers, b_registers;
  bool half_sums = false, integers = false;
  bool unsigned_a = false;  ///< where B is signed
};

uint32_t element_bits(const MmaCase& c, int v) {
  if (c.integers) return static_cast<uint32_t>(v) & 0xff;
  if (c.bits == 32) return std::bit_cast<uint32_t>(static_cast<float>(v));
  if (c.name.find("bf16") != std::string::npos) return std::bit_cast<uint32_t>(static_cast<float>(v)) >> 16;
  return half_of(v);
}

void check_mma(const MmaCase& c, int lowest, int highest) {
  SCOPED_TRACE(c.name);
  constexpr size_t kM = 16, kN = 8;
  std::mt19937 random(7);
  const auto value = [&] {
    return lowest + static_cast<int>(random() % static_cast<unsigned>(highest - lowest + 1));
  };
  std::vector<int> a(kM * c.k), b(c.k * kN), sums(kM * kN);
  for (auto* m : {&a, &b, &sums})
    for (int& v : *m) v = value();
  for (int& v : a)
    if (c.unsigned_a) v += 128;
  const bool clamps = c.name.find("satfinite") != std::string::npos;
  for (int& v : sums)  // so that some sums overflow, some do not, and some do only half-way
    if (clamps) v = v < 0 ? INT32_MIN - v * 500 : INT32_MAX - v * 500;
  const size_t parts = 32 / c.bits;  // elements of a register
  std::vector<uint32_t> input(32 * 64);
  for (size_t lane = 0; lane < 32; ++lane) {
    const size_t g = lane / 4, t = lane % 4;
    uint32_t* words = &input[64 * lane];
    for (size_t r = 0; r < c.a_registers; ++r)  // rows g and g + 8, then further k
      for (size_t e = 0; e < parts; ++e)
        words[r] |= element_bits(c, a[(g + r % 2 * 8) * c.k + r / 2 * 4 * parts + t * parts + e])
                    << (e * c.bits);
    for (size_t r = 0; r < c.b_registers; ++r)
      for (size_t e = 0; e < parts; ++e)
        words[4 + r] |= element_bits(c, b[(r * 4 * parts + t * parts + e) * kN + g]) << (e * c.bits);
    for (size_t r = 0; r < 4; ++r) {
      const int v = sums[(g + r / 2 * 8) * kN + 2 * t + r % 2];
      if (c.half_sums)
        words[8 + r / 2] |= uint32_t{half_of(v)} << (r % 2 * 16);
      else
        words[8 + r] = c.integers ? static_cast<uint32_t>(v) : std::bit_cast<uint32_t>(static_cast<float>(v));
    }
  }
  const auto list = [](const char* name, size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i) text += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, i);
    return "{" + text + "}";
  };
  const size_t sum_registers = c.half_sums ? 2 : 4;
  const char* const sum_type = c.half_sums || c.integers ? "b32" : "f32";
  const char* const s = c.half_sums || c.integers ? "s" : "fs";
  const std::string text = warp_kernel(
      ".reg .b32 %a<4>; .reg .b32 %b<4>; .reg .b32 %s<4>; .reg .f32 %fs<4>;",
      fmt::format("ld.global.v4.u32 {{%a0, %a1, %a2, %a3}}, [%in];\nld.global.v4.u32 {{%b0, %b1, %b2, %b3}}, "
                  "[%in+16];\n"
                  "ld.global.v4.{0} {{%{1}0, %{1}1, %{1}2, %{1}3}}, [%in+32];\n{2} {3}, {4}, {5}, {3};\n"
                  "st.global.v4.{0} [%out], {{%{1}0, %{1}1, %{1}2, %{1}3}};\nret;",
                  sum_type, s, c.name, list(s, sum_registers), list("a", c.a_registers),
                  list("b", c.b_registers)));
  const std::vector<uint32_t> out = run_warp(text, input);
  for (size_t lane = 0; lane < 32; ++lane) {
    for (size_t r = 0; r < 4; ++r) {
      const size_t i = lane / 4 + r / 2 * 8, j = lane % 4 * 2 + r % 2;
      int64_t exact = sums[i * kN + j];
      for (size_t k = 0; k < c.k; ++k) exact += a[i * c.k + k] * b[k * kN + j];
      const int sum = static_cast<int>(std::clamp<int64_t>(exact, INT32_MIN, INT32_MAX));
      const uint32_t word = out[64 * lane + (c.half_sums ? r / 2 : r)];
      if (c.half_sums)
        EXPECT_EQ(word >> (r % 2 * 16) & 0xffff, half_of(sum)) << lane << " " << r;
      else
        EXPECT_EQ(word,
                  c.integers ? static_cast<uint32_t>(sum) : std::bit_cast<uint32_t>(static_cast<float>(sum)))
            << lane << " " << r;
    }
  }
}

TEST(Mma, EveryShapeMultipliesMatrices) {
  const std::string head = "mma.sync.aligned.";
  for (const char* sums : {"f32", "f16"}) {
    const bool half = std::string(sums) == "f16";
    check_mma({fmt::format("{}m16n8k8.row.col.{}.f16.f16.{}", head, sums, sums), 8, 16, 2, 1, half}, -8, 8);
    check_mma({fmt::format("{}m16n8k16.row.col.{}.f16.f16.{}", head, sums, sums), 16, 16, 4, 2, half}, -8, 8);
  }
  check_mma({head + "m16n8k8.row.col.f32.bf16.bf16.f32", 8, 16, 2, 1}, -100, 100);
  check_mma({head + "m16n8k16.row.col.f32.bf16.bf16.f32", 16, 16, 4, 2}, -100, 100);
  check_mma({head + "m16n8k4.row.col.f32.tf32.tf32.f32", 4, 32, 2, 1}, -1000, 1000);
  check_mma({head + "m16n8k8.row.col.f32.tf32.tf32.f32", 8, 32, 4, 2}, -1000, 1000);
  check_mma({head + "m16n8k16.row.col.s32.s8.s8.s32", 16, 8, 2, 1, false, true}, -128, 127);
  check_mma({head + "m16n8k32.row.col.s32.s8.s8.s32", 32, 8, 4, 2, false, true}, -128, 127);
  check_mma({head + "m16n8k16.row.col.s32.u8.u8.s32", 16, 8, 2, 1, false, true}, 0, 255);
  check_mma({head + "m16n8k16.row.col.s32.u8.s8.s32", 16, 8, 2, 1, false, true, true}, -128, 127);
  check_mma({head + "m16n8k32.row.col.s32.u8.s8.s32", 32, 8, 4, 2, false, true, true}, -128, 127);
  for (const char* k : {"m16n8k16", "m16n8k32"}) {
    const size_t products = k[6] == '1' ? 16 : 32;
    check_mma({fmt::format("{}{}.row.col.satfinite.s32.s8.s8.s32", head, k), products, 8, products / 8,
               products / 16, false, true},
              -128, 127);
  }
}

TEST(Mma, Tf32DropsTheLowBitsOfTheFraction) {
  std::vector<uint32_t> input(32 * 64);
  for (size_t lane = 0; lane < 32; ++lane) {
    input[64 * lane] = lane % 4 == 0 ? std::bit_cast<uint32_t>(1.0f) | 0x1fff : 0;  // column 0 of A
    input[64 * lane + 4] = lane % 4 == 0 ? std::bit_cast<uint32_t>(3.0f) : 0;
  }
  const std::vector<uint32_t> out = run_warp(
      warp_kernel(
          ".reg .b32 %a<4>; .reg .b32 %b<4>; .reg .f32 %s<4>;",
          "ld.global.v2.u32 {%a0, %a1}, [%in];\nld.global.u32 %b0, [%in+16];\nmov.f32 %s0, 0f00000000;\n"
          "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%s0, %s1, %s2, %s3}, {%a0, %a1}, {%b0}, "
          "{%s0, %s0, %s0, %s0};\nst.global.f32 [%out], %s0;\nret;"),
      input);
  EXPECT_EQ(std::bit_cast<float>(out[0]), 3.0f);
}

TEST(Mma, FormsThatAreNotSimulatedAreNamed) {
  const std::string text =
      warp_kernel(".reg .b32 %a<8>;",
                  "mma.sync.aligned.m16n8k8.row.col.f32.f16.bf16.f32 {%a0, %a1, %a2, %a3}, "
                  "{%a0, %a1}, {%a4}, {%a0, %a1, %a2, %a3};\nret;");
  EXPECT_THAT(lower_error(text), testing::HasSubstr("not supported yet"));
}

// --- values measured on an H100 (driver 580.159) ---

/// The inputs of the measurements: numbers with random bits.
class MeasuredInputs {
 public:
  enum class Kind : uint8_t { kF16, kBF16, kF32, kF64, kE4M3, kE5M2, kInt, kMetadata, kWideMetadata };
  /// `set` 0: exponents around that of 1; 1: all of them; 2: also zeros, denormals, infinities, NaN.
  explicit MeasuredInputs(int set)
      : set_(set), state_(88172645463325252u + static_cast<uint64_t>(set) * 7919u) {}

  /// Puts a value, of one register or two, at `words`; returns how many.
  size_t put(uint32_t* words, Kind kind) {
    const auto parts = [&](int exponent, int mantissa, unsigned count) {
      uint32_t word = 0;
      for (unsigned i = 0; i < count; ++i)
        word |= static_cast<uint32_t>(number(exponent, mantissa)) << (32 / count % 32 * i);
      return word;
    };
    switch (kind) {
      case Kind::kF16:
        words[0] = parts(5, 10, 2);
        return 1;
      case Kind::kBF16:
        words[0] = parts(8, 7, 2);
        return 1;
      case Kind::kF32:
        words[0] = parts(8, 23, 1);
        return 1;
      case Kind::kE4M3:
        words[0] = parts(4, 3, 4);
        return 1;
      case Kind::kE5M2:
        words[0] = parts(5, 2, 4);
        return 1;
      case Kind::kF64: {
        const uint64_t v = number(11, 52);
        words[0] = static_cast<uint32_t>(v);
        words[1] = static_cast<uint32_t>(v >> 32);
        return 2;
      }
      case Kind::kInt:
        if (set_ != 2)
          words[0] = static_cast<uint32_t>(next());
        else if (next() % 3 != 0)
          words[0] = static_cast<uint32_t>(0x7fffffffu - next() % 8);
        else
          words[0] = static_cast<uint32_t>(0x80000000u + next() % 8);
        return 1;
      case Kind::kMetadata:
      case Kind::kWideMetadata:
        words[0] = 0;
        for (int i = 0; i < 8; ++i) {
          constexpr uint32_t kPlaces[] = {4, 8, 12, 9, 13, 14};
          const uint64_t r = next();
          words[0] |= (kind == Kind::kMetadata ? kPlaces[r % 6] : (r & 1) != 0 ? 4u : 14u) << (4 * i);
        }
        return 1;
    }
    return 1;
  }

 private:
  uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545f4914f6cdd1du;
  }
  uint64_t number(int exponent, int mantissa) {
    const int bias = (1 << (exponent - 1)) - 1;
    const uint64_t top = (uint64_t{1} << exponent) - 1, fraction = next() & ((uint64_t{1} << mantissa) - 1);
    const uint64_t sign = (next() >> 40 & 1) << (exponent + mantissa);
    int power = 0;
    if (set_ == 0) power = static_cast<int>(next() % 5) - 2;
    if (set_ == 1) {
      const int width = std::min(bias, 28);
      power = static_cast<int>(next() % static_cast<uint64_t>(2 * width)) - width + 1;
    }
    if (set_ == 2) {
      const uint64_t kind = next() % 24, infinity = top << mantissa;
      if (kind == 0) return sign | infinity;
      if (kind == 1) return sign | infinity | uint64_t{1} << (mantissa - 1) | fraction;
      if (kind == 2) return sign;
      if (kind == 3) return sign | fraction;
      if (kind == 4) return sign | (top - 1) << mantissa | ((uint64_t{1} << mantissa) - 1);
      power = static_cast<int>(next() % 9) - 4;
    }
    return sign | static_cast<uint64_t>(power + bias) << mantissa | fraction;
  }
  int set_;
  uint64_t state_;
};

/// A statement or some: registers x hold inputs and o results; `sm` is the address of the inputs in shared
/// memory, register by register.
struct MeasuredCase {
  using Kind = MeasuredInputs::Kind;
  struct Registers {
    int count;
    Kind kind;
  };
  std::string body;
  int set;
  std::vector<Registers> inputs;
  std::vector<uint32_t> results;  ///< of the first two lanes
  uint32_t threads = 32;
};

std::vector<MeasuredCase> measured_cases() {
  using Kind = MeasuredInputs::Kind;
  return {
      {R"(mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {o0,o1,o2,o3},{x0,x1,x2,x3},{x4,x5},{x6,x7,x8,x9};)",
       1,
       {{6, Kind::kE4M3}, {4, Kind::kF32}},
       {0x46da01ba, 0xc6a423a8, 0x467ed7d0, 0xcbfb47f3, 0x46981aaf, 0xc68395a0, 0x45e43b64, 0xc6c9efe2}},
      {R"(mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e4m3.f32 {o0,o1,o2,o3},{x0,x1},{x2},{x3,x4,x5,x6};)",
       1,
       {{2, Kind::kE5M2}, {1, Kind::kE4M3}, {4, Kind::kF32}},
       {0xc955240f, 0xc8d152da, 0xcc5320bb, 0x4a7f5374, 0x485ca2f7, 0x4b603ad4, 0x4c2d1e47, 0x47660ae1}},
      {R"(mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16 {o0,o1},{x0,x1,x2,x3},{x4,x5},{x6,x7};)",
       1,
       {{6, Kind::kE5M2}, {2, Kind::kF16}},
       {0xfc00fc00, 0x7c00fc00, 0x7c007c00, 0x7c007c00}},
      {R"(mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {o0,o1,o2,o3,o4,o5,o6,o7},{x0,x1},{x2,x3},{x4,x5,x6,x7,x8,x9,x10,x11};)",
       1,
       {{4, Kind::kF16}, {8, Kind::kF32}},
       {0xcd5f0886, 0x4b577598, 0x49969267, 0x47d9fb1a, 0xca23241f, 0x4ad07f5f, 0xcc70b15f, 0xc7094251,
        0x4a7895a5, 0xc97ed37f, 0x4ecc8310, 0xcbfb5c51, 0x47783e32, 0x4b5a96f6, 0x4c74fe08, 0xcc3f32d4}},
      {R"(mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {o0,o1,o2,o3},{x0,x1},{x2,x3},{x4,x5,x6,x7};)",
       1,
       {{4, Kind::kF16}, {4, Kind::kF16}},
       {0x7c00fc00, 0xfc00fc00, 0x7c00fc00, 0xf51b7c00, 0xfc007c00, 0x7c007c00, 0xfc007bbf, 0x6c67fc00}},
      {R"(mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f16 {o0,o1,o2,o3,o4,o5,o6,o7},{x0,x1},{x2,x3},{x4,x5,x6,x7};)",
       0,
       {{4, Kind::kF16}, {4, Kind::kF16}},
       {0x40f1216c, 0x41678520, 0x40b78bae, 0x41faf478, 0xc1e3b176, 0xc1357804, 0xc2529749, 0x40a7b812,
        0x3e3ed840, 0x3fcb1e70, 0xc12ecc97, 0xc20cf6ff, 0x40074970, 0x415dcc37, 0x420e9784, 0xc0c9338e}},
      {R"(mov.b64 z0,{x0,x1};mov.b64 z1,{x2,x3};mov.b64 z2,{x4,x5};mov.b64 z3,{x6,x7};mov.b64 z4,{x8,x9};mov.b64 z5,{x10,x11};mov.b64 z6,{x12,x13};mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {z20,z21,z22,z23},{z0,z1},{z2},{z3,z4,z5,z6};mov.b64 {o0,o1},z20;mov.b64 {o2,o3},z21;mov.b64 {o4,o5},z22;mov.b64 {o6,o7},z23;)",
       2,
       {{3, Kind::kF64}, {4, Kind::kF64}},
       {0x2d26a80f, 0x7ffa8b69, 0x0753d667, 0x7ffd14fc, 0x2d26a80f, 0x7ffa8b69, 0x0753d667, 0x7ffd14fc,
        0x00000000, 0x7ff00000, 0x00000000, 0xfff00000, 0x00000000, 0xfff00000, 0x639384ff, 0x4061f19e}},
      {R"(mov.b64 z0,{x0,x1};mov.b64 z1,{x2,x3};mov.b64 z2,{x4,x5};mov.b64 z3,{x6,x7};mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {z20,z21},{z0},{z1},{z2,z3};mov.b64 {o0,o1},z20;mov.b64 {o2,o3},z21;)",
       2,
       {{2, Kind::kF64}, {2, Kind::kF64}},
       {0x9c1fdb15, 0xfffa88d5, 0x00000000, 0x7ff00000, 0xfe4ecab3, 0xc0134193, 0x5c2b670a, 0xc032f0d5}},
      {R"(mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {o0,o1},{x0},{x1},{x2,x3};)",
       0,
       {{2, Kind::kInt}, {2, Kind::kInt}},
       {0x43c10f4f, 0x06329760, 0xfb3781b5, 0xdb77365c}},
      {R"(mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.u4.s32 {o0,o1,o2,o3},{x0,x1,x2,x3},{x4,x5},{x6,x7,x8,x9};)",
       2,
       {{6, Kind::kInt}, {4, Kind::kInt}},
       {0x7ffffe96, 0x7ffffe9c, 0x7ffffe70, 0x7ffffe8f, 0x7ffffeee, 0x7fffff35, 0x7ffffea0, 0x7fffff3d}},
      {R"(mma.sync.aligned.m16n8k32.row.col.s32.u4.u4.s32 {o0,o1,o2,o3},{x0,x1},{x2},{x3,x4,x5,x6};)",
       0,
       {{3, Kind::kInt}, {4, Kind::kInt}},
       {0x06328fb3, 0x0dca0fb4, 0x406062d7, 0xfb37b940, 0xc374cf2e, 0x71dba16b, 0x13a0111d, 0x206cf598}},
      {R"(mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {o0,o1,o2,o3},{x0,x1,x2,x3},{x4,x5},{x6,x7,x8,x9};)",
       0,
       {{6, Kind::kInt}, {4, Kind::kInt}},
       {0xfb37b153, 0xdb771c3d, 0x47c3c988, 0x9744cc4b, 0x27955689, 0x98ea3530, 0xcba528bd, 0x8f9426d0}},
      {R"(mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {o0,o1},{x0},{x1},{x2,x3};)",
       0,
       {{2, Kind::kInt}, {2, Kind::kInt}},
       {0x43c119aa, 0x06328a0a, 0xfb37b0e8, 0xdb771bd5}},
      {R"(mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {o0,o1,o2,o3},{x0,x1},{x2,x3},{x4,x5,x6,x7},x8,3;)",
       1,
       {{4, Kind::kF16}, {4, Kind::kF32}, {1, Kind::kMetadata}},
       {0x47638437, 0x4d9c4088, 0x49fc35a0, 0x4c851486, 0xcaf6b886, 0xcba9e8db, 0x4d6edcda, 0x4a696557}},
      {R"(mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {o0,o1},{x0,x1,x2,x3},{x4,x5,x6,x7},{x8,x9},x10,1;)",
       1,
       {{8, Kind::kF16}, {2, Kind::kF16}, {1, Kind::kMetadata}},
       {0xfc007c00, 0x7c00fc00, 0x7c00fc00, 0xfc00fc00}},
      {R"(mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 {o0,o1,o2,o3},{x0,x1,x2,x3},{x4,x5,x6,x7},{x8,x9,x10,x11},x12,0;)",
       1,
       {{8, Kind::kBF16}, {4, Kind::kF32}, {1, Kind::kMetadata}},
       {0x5a3eb39a, 0x57ecf39b, 0x5220001a, 0x4da16e6d, 0xda1b1807, 0xce69b87e, 0x554c45b8, 0xd8c2a70e}},
      {R"(mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {o0,o1,o2,o3},{x0,x1,x2,x3},{x4,x5,x6,x7},{x8,x9,x10,x11},x12,1;)",
       1,
       {{8, Kind::kF32}, {4, Kind::kF32}, {1, Kind::kWideMetadata}},
       {0x500021e8, 0xd0caec43, 0xcf747f6e, 0xcc891be8, 0xcf2974b3, 0x4f20aa33, 0x4ea97943, 0xce9a7010}},
      {R"(mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {o0,o1,o2,o3},{x0,x1},{x2,x3},{x4,x5,x6,x7},x8,1;)",
       0,
       {{4, Kind::kInt}, {4, Kind::kInt}, {1, Kind::kMetadata}},
       {0x0dc9dad0, 0x4060a28a, 0xfb37ec5c, 0xdb777f33, 0x4f2e9e4c, 0xf42bc4de, 0x279c3bf8, 0x252354da}},
      {R"(mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.satfinite.s32.u8.s8.s32 {o0,o1,o2,o3},{x0,x1,x2,x3},{x4,x5,x6,x7},{x8,x9,x10,x11},x12,0;)",
       2,
       {{8, Kind::kInt}, {4, Kind::kInt}, {1, Kind::kMetadata}},
       {0x7fffffff, 0x7fffffff, 0x7fffa781, 0x7fffffff, 0x7fff2713, 0x7fffffff, 0x7fffffff, 0x7fffffff}},
      {R"(mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.u4.u4.s32 {o0,o1,o2,o3},{x0,x1,x2,x3},{x4,x5,x6,x7},{x8,x9,x10,x11},x12,0;)",
       0,
       {{8, Kind::kInt}, {4, Kind::kInt}, {1, Kind::kWideMetadata}},
       {0x47c3d647, 0x9744da2d, 0xc374d544, 0x71dbaaff, 0xb7f76c9a, 0x784b82fd, 0x709b2e83, 0xfcf83175}},
      {R"(mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32 {o0,o1,o2,o3},{x0,x1,x2,x3},{x4,x5,x6,x7},{x8,x9,x10,x11},x12,0;)",
       1,
       {{8, Kind::kE4M3}, {4, Kind::kF32}, {1, Kind::kMetadata}},
       {0x44e1e2fd, 0xc500a895, 0xc4e7299a, 0xc4e6f817, 0xc799948c, 0x4abdaa77, 0xc4211290, 0xcba037bc}},
      {"setp.eq.u32 p,l,l;"
       "setp.ne.u32 q,l,l;"
       "cvt.u64.u32 ds0,sm;"
       "shr.u64 ds0,ds0,4;"
       "and.b64 ds0,ds0,0x3fff;"
       "or.b64 ds0,ds0,0x0000001000080000;"
       "cvt.u64.u32 ds1,sm;"
       "add.u64 ds1,ds1,2048;"
       "shr.u64 ds1,ds1,4;"
       "and.b64 ds1,ds1,0x3fff;"
       "or.b64 ds1,ds1,0x0000001000080000;"
       "mov.b32 o0,x8;"
       "mov.b32 o1,x9;"
       "mov.b32 o2,x10;"
       "mov.b32 o3,x11;"
       "wgmma.fence.sync.aligned;"
       "fence.proxy.async;"
       "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {o0,o1,o2,o3},ds0,ds1,p,1,1;"
       "wgmma.commit_group.sync.aligned;"
       "wgmma.wait_group.sync.aligned 0;",
       1,
       {{8, Kind::kE4M3}, {8, Kind::kF32}},
       {0x442b8000, 0x46f08000, 0xc5a86000, 0xc64bd400, 0xc6837400, 0xca62d000, 0x46aa8400, 0xc625f800},
       128},
      {"setp.eq.u32 p,l,l;"
       "setp.ne.u32 q,l,l;"
       "cvt.u64.u32 ds0,sm;"
       "shr.u64 ds0,ds0,4;"
       "and.b64 ds0,ds0,0x3fff;"
       "or.b64 ds0,ds0,0x0000001000080000;"
       "cvt.u64.u32 ds1,sm;"
       "add.u64 ds1,ds1,2048;"
       "shr.u64 ds1,ds1,4;"
       "and.b64 ds1,ds1,0x3fff;"
       "or.b64 ds1,ds1,0x0000001000080000;"
       "mov.b32 o0,x8;"
       "mov.b32 o1,x9;"
       "mov.b32 o2,x10;"
       "mov.b32 o3,x11;"
       "wgmma.fence.sync.aligned;"
       "fence.proxy.async;"
       "wgmma.mma_async.sync.aligned.m64n8k32.satfinite.s32.s8.s8 {o0,o1,o2,o3},ds0,ds1,p;"
       "wgmma.commit_group.sync.aligned;"
       "wgmma.wait_group.sync.aligned 0;",
       2,
       {{8, Kind::kInt}, {8, Kind::kInt}},
       {0x7fff00d3, 0x7fffffff, 0x7fffffff, 0x7fffff21, 0x7ffffe28, 0x7fff00f5, 0x7fffffff, 0x7fffffff},
       128},
      {"setp.eq.u32 p,l,l;"
       "setp.ne.u32 q,l,l;"
       "cvt.u64.u32 ds0,sm;"
       "shr.u64 ds0,ds0,4;"
       "and.b64 ds0,ds0,0x3fff;"
       "or.b64 ds0,ds0,0x0000001000080000;"
       "cvt.u64.u32 ds1,sm;"
       "add.u64 ds1,ds1,2048;"
       "shr.u64 ds1,ds1,4;"
       "and.b64 ds1,ds1,0x3fff;"
       "or.b64 ds1,ds1,0x0000001000080000;"
       "mov.b32 o0,x8;"
       "mov.b32 o1,x9;"
       "mov.b32 o2,x10;"
       "mov.b32 o3,x11;"
       "wgmma.fence.sync.aligned;"
       "fence.proxy.async;"
       "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {o0,o1,o2,o3},ds0,ds1,p;"
       "wgmma.commit_group.sync.aligned;"
       "wgmma.wait_group.sync.aligned 0;",
       0,
       {{8, Kind::kInt}, {8, Kind::kInt}},
       {0x47c3c95e, 0x9744cc11, 0xc374c846, 0x71db9b3a, 0xf591efdd, 0x18eb71e7, 0x773da3f1, 0x86d9695a},
       128},
      {"wmma.load.a.sync.aligned.row.m16n16k8.shared.tf32 {t0,t1,t2,t3},[sm],8;"
       "wmma.load.b.sync.aligned.col.m16n16k8.shared.tf32 {t10,t11,t12,t13},[sm+512],8;"
       "wmma.load.c.sync.aligned.row.m16n16k8.shared.f32 {t20,t21,t22,t23,t24,t25,t26,t27},[sm+1024],16;"
       "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 "
       "{t30,t31,t32,t33,t34,t35,t36,t37},{t0,t1,t2,t3},{t10,t11,t12,t13},{t20,t21,t22,t23,t24,t25,t26,t27};"
       "wmma.store.d.sync.aligned.row.m16n16k8.shared.f32 [sm+4096],{t30,t31,t32,t33,t34,t35,t36,t37},16;"
       "bar.sync 0;"
       "shl.b32 t50,l,2;"
       "add.u32 t50,t50,sm;"
       "ld.shared.b32 o0,[t50+4096];"
       "ld.shared.b32 o1,[t50+4224];"
       "ld.shared.b32 o2,[t50+4352];"
       "ld.shared.b32 o3,[t50+4480];"
       "ld.shared.b32 o4,[t50+4608];"
       "ld.shared.b32 o5,[t50+4736];"
       "ld.shared.b32 o6,[t50+4864];"
       "ld.shared.b32 o7,[t50+4992];",
       1,
       {{8, Kind::kF32}, {8, Kind::kF32}},
       {0xd59b61fe, 0x57a18a5f, 0x57969cc1, 0x59b06762, 0xd9f5163d, 0xd45622bc, 0x532dedf0, 0xd41bb059,
        0x5844f8a9, 0x593706f5, 0x550717f9, 0xd794fa11, 0xd710d476, 0x579e1526, 0xd2604149, 0x5a9f0860},
       32},
  };
}

std::string measured_kernel(const MeasuredCase& c, size_t results) {
  std::string text = fmt::format(
      ".version 9.0\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .u64 pin, .param .u64 pout) .maxntid {0}, 1, 1 {{\n"
      ".reg .b64 %rd<4>; .reg .b32 %r<4>, x<16>, o<16>, t<64>, sm, l; .reg .b64 z<32>, ds0, ds1; .reg .pred "
      "p, q;\n"
      ".shared .align 1024 .b8 shared[24576];\n"
      "ld.param.u64 %rd0, [pin]; ld.param.u64 %rd1, [pout]; mov.u32 l, %tid.x; mov.u32 sm, shared;\n"
      "mul.wide.u32 %rd2, l, 256; add.u64 %rd0, %rd0, %rd2; add.u64 %rd1, %rd1, %rd2;\n"
      "shl.b32 %r0, l, 2; add.u32 %r0, %r0, sm;\n",
      c.threads);
  for (size_t i = 0; i < 16; ++i) {
    text += fmt::format("ld.global.u32 x{0}, [%rd0+{1}]; st.shared.b32 [%r0+{2}], x{0}; mov.u32 o{0}, 0;\n",
                        i, 4 * i, 4 * i * c.threads);
  }
  text += "bar.sync 0;\n" + c.body + "\n";
  for (size_t i = 0; i < results; ++i) text += fmt::format("st.global.u32 [%rd1+{}], o{};\n", 4 * i, i);
  return text + "ret;\n}\n";
}

TEST(Mma, ValuesMeasuredOnAnH100) {
  for (const MeasuredCase& c : measured_cases()) {
    SCOPED_TRACE(c.body);
    MeasuredInputs inputs(c.set);
    std::vector<uint32_t> words(64ul * c.threads);
    for (size_t lane = 0; lane < c.threads; ++lane) {
      size_t at = 64 * lane;
      for (const auto& [count, kind] : c.inputs)
        for (int i = 0; i < count; ++i) at += inputs.put(&words[at], kind);
    }
    const size_t per_lane = c.results.size() / 2;
    const std::vector<uint32_t> out = run_warp(measured_kernel(c, per_lane), words, c.threads);
    for (size_t i = 0; i < c.results.size(); ++i)
      EXPECT_EQ(out[i / per_lane * 64 + i % per_lane], c.results[i])
          << "lane " << i / per_lane << ", o" << i % per_lane;
  }
}

// --- ldmatrix, stmatrix, movmatrix ---

/// 32 rows of eight halves: element j of row i is 8 i + j.
std::string matrices_in_shared(const std::string& body) {
  return warp_kernel(
      ".reg .b32 %r<20>; .reg .b64 %d<4>; .reg .b16 %h<4>; .shared .align 16 .b8 s[1024];",
      "mov.u32 %r10, s; shl.b32 %r11, %tid0, 4; add.u32 %r12, %r10, %r11;\n"
      "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%in]; st.shared.v4.u32 [%r12], {%r0, %r1, %r2, %r3};\n"
      "bar.sync 0;\n" +
          body + "\nret;");
}
TEST(MatrixMoves, LdmatrixGivesEachLaneItsPair) {
  for (const bool trans : {false, true}) {
    const std::vector<uint32_t> out =
        run_warp(matrices_in_shared(fmt::format(
                     "ldmatrix.sync.aligned.m8n8.x4{}.shared.b16 {{%r4, %r5, %r6, %r7}}, [%r12];\n"
                     "st.global.v4.u32 [%out], {{%r4, %r5, %r6, %r7}};",
                     trans ? ".trans" : "")),
                 numbered_rows());
    for (uint32_t lane = 0; lane < 32; ++lane) {
      for (uint32_t m = 0; m < 4; ++m) {
        const uint32_t i = lane / 4, j = lane % 4 * 2;
        const auto at = [&](uint32_t row, uint32_t column) { return 8 * (8 * m + row) + column; };
        EXPECT_EQ(out[64 * lane + m], trans ? at(j, i) | at(j + 1, i) << 16 : at(i, j) | at(i, j + 1) << 16);
      }
    }
  }
}

TEST(MatrixMoves, StmatrixIsTheInverse) {
  for (const char* trans : {"", ".trans"}) {
    const std::vector<uint32_t> out =
        run_warp(matrices_in_shared(fmt::format(
                     "ldmatrix.sync.aligned.m8n8.x2{0}.shared.b16 {{%r4, %r5}}, [%r12];\nbar.sync 0;\n"
                     "st.shared.v4.u32 [%r12], {{%tid0, %tid0, %tid0, %tid0}}; bar.sync 0;\n"
                     "stmatrix.sync.aligned.m8n8.x2{0}.shared.b16 [%r12], {{%r4, %r5}};\nbar.sync 0;\n"
                     "ld.shared.v4.u32 {{%r4, %r5, %r6, %r7}}, [%r12]; st.global.v4.u32 [%out], {{%r4, %r5, "
                     "%r6, %r7}};",
                     trans)),
                 numbered_rows());
    const std::vector<uint32_t> rows = numbered_rows();
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t w = 0; w < 4; ++w)
        EXPECT_EQ(out[64 * lane + w], lane < 16 ? rows[64 * lane + w] : lane) << lane;
  }
}

TEST(MatrixMoves, MovmatrixTransposes) {
  const std::vector<uint32_t> out = run_warp(
      matrices_in_shared("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r12];\n"
                         "movmatrix.sync.aligned.m8n8.trans.b16 %r5, %r4;\nst.global.u32 [%out], %r5;"),
      numbered_rows());
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t i = lane / 4, j = lane % 4 * 2;
    EXPECT_EQ(out[64 * lane], (8 * j + i) | (8 * (j + 1) + i) << 16);
  }
}

// --- tf32 ---

TEST(Tf32, RoundsToTenBits) {
  const auto converted = [](const std::string& form, float v) {
    std::vector<uint32_t> input(32 * 64, std::bit_cast<uint32_t>(v));
    const std::vector<uint32_t> out = run_warp(
        warp_kernel(".reg .f32 %f<2>; .reg .b32 %r<2>;",
                    "ld.global.f32 %f0, [%in];\n" + form + " %r0, %f0;\nst.global.u32 [%out], %r0;\nret;"),
        input);
    return std::bit_cast<float>(out[0]);
  };
  const float step = 0x1p-10f;
  for (const float sign : {1.0f, -1.0f}) {
    EXPECT_EQ(converted("cvt.rna.tf32.f32", sign * (1 + step / 2)), sign * (1 + step)) << "away from zero";
    EXPECT_EQ(converted("cvt.rn.tf32.f32", sign * (1 + step / 2)), sign) << "to even";
    EXPECT_EQ(converted("cvt.rn.tf32.f32", sign * (1 + step * 3 / 2)), sign * (1 + 2 * step));
    EXPECT_EQ(converted("cvt.rz.tf32.f32", sign * (1 + step * 0.99f)), sign);
  }
  EXPECT_EQ(converted("cvt.rz.relu.tf32.f32", -2), 0);
  EXPECT_EQ(std::bit_cast<uint32_t>(converted("cvt.rna.tf32.f32", std::nanf(""))), 0x7fffe000u);
  EXPECT_EQ(converted("cvt.rna.tf32.f32", 0x1.fffffep127f), INFINITY);
}

/// D = A B + C of 16 x 16 results through wmma, in all layouts.
TEST(Tf32, WmmaMultipliesMatrices) {
  constexpr size_t kSide = 16, kInner = 8;
  for (const bool row_a : {true, false}) {
    for (const bool row_b : {true, false}) {
      std::mt19937 random(3);
      std::vector<uint32_t> input(32 * 64);
      std::vector<int> a(kSide * kInner), b(kInner * kSide), c(kSide * kSide);
      for (auto* m : {&a, &b, &c})
        for (int& v : *m) v = static_cast<int>(random() % 2001) - 1000;
      const auto put = [&](size_t at, int v) { input[at] = std::bit_cast<uint32_t>(static_cast<float>(v)); };
      for (size_t i = 0; i < kSide; ++i) {
        for (size_t k = 0; k < kInner; ++k) {
          put(row_a ? i * kInner + k : k * kSide + i, a[i * kInner + k]);
          put(256 + (row_b ? k * kSide + i : i * kInner + k), b[k * kSide + i]);
        }
        for (size_t j = 0; j < kSide; ++j) put(512 + i * kSide + j, c[i * kSide + j]);
      }
      const char* la = row_a ? "row" : "col";
      const char* lb = row_b ? "row" : "col";
      const std::string text = warp_kernel(
          ".reg .b32 %a<4>; .reg .b32 %b<4>; .reg .f32 %c<8>; .reg .b64 %d<4>;",
          fmt::format(
              "sub.s64 %d0, %in, %off; sub.s64 %d1, %out, %off;\n"
              "wmma.load.a.sync.aligned.{0}.m16n16k8.global.tf32 {{%a0, %a1, %a2, %a3}}, [%d0];\n"
              "wmma.load.b.sync.aligned.{1}.m16n16k8.global.tf32 {{%b0, %b1, %b2, %b3}}, [%d0+1024];\n"
              "wmma.load.c.sync.aligned.row.m16n16k8.global.f32 {{%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7}}, "
              "[%d0+2048];\n"
              "wmma.mma.sync.aligned.{0}.{1}.m16n16k8.f32.tf32.tf32.f32 {{%c0, %c1, %c2, %c3, %c4, %c5, %c6, "
              "%c7}}, "
              "{{%a0, %a1, %a2, %a3}}, {{%b0, %b1, %b2, %b3}}, {{%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7}};\n"
              "wmma.store.d.sync.aligned.row.m16n16k8.global.f32 [%d1], {{%c0, %c1, %c2, %c3, %c4, %c5, %c6, "
              "%c7}};\nret;",
              la, lb));
      const std::vector<uint32_t> out = run_warp(text, input);
      for (size_t i = 0; i < kSide; ++i) {
        for (size_t j = 0; j < kSide; ++j) {
          int sum = c[i * kSide + j];
          for (size_t k = 0; k < kInner; ++k) sum += a[i * kInner + k] * b[k * kSide + j];
          EXPECT_EQ(std::bit_cast<float>(out[i * kSide + j]), static_cast<float>(sum)) << i << " " << j;
        }
      }
    }
  }
}

}  // namespace
}  // namespace gpusim::isa
