// Half precision for the semantic functions: f16 and bf16 as doubles and back with a single rounding, and
// what works on their bits. Doubles hold every value of both formats and every product of two exactly. NaN
// results are 0x7fff, as the hardware gives them. PTX ISA 9.7.4.
#pragma once
#include "isa/exec/semantics/float_lanes.h"

namespace gpusim::isa::GPUSIM_SIMD {

struct F16 {
  static constexpr int kMantissa = 10, kBias = 15;
  static constexpr u16 kInf = 0x7c00, kOne = 0x3c00;
};
struct BF16 {
  static constexpr int kMantissa = 7, kBias = 127;
  static constexpr u16 kInf = 0x7f80, kOne = 0x3f80;
};
inline constexpr u16 kSign16 = 0x8000, kMagnitude16 = 0x7fff, kNan16 = 0x7fff;

template <class H>
GPUSIM_INLINE float to_float(u16 h);
template <>
GPUSIM_INLINE float to_float<F16>(u16 h) {
  const u32 sign = u32(h & kSign16) << 16, rest = h & kMagnitude16;
  const u32 special = rest > F16::kInf ? kNan32 : sign | kInf32;
  const u32 normal = sign | ((rest << 13) + (112u << 23));
  const u32 subnormal = sign | to_bits(float(s32(rest)) * 0x1p-24f);
  return f32_from(rest >= F16::kInf ? special : rest >= 0x0400 ? normal : subnormal);
}
template <>
GPUSIM_INLINE float to_float<BF16>(u16 h) {
  return canonical(f32_from(u32(h) << 16));
}

template <class H>
GPUSIM_INLINE bool is_nan(u16 h) {
  return (h & kMagnitude16) > H::kInf;
}
/// Denormals become zero of the same sign.
template <class H>
GPUSIM_INLINE u16 flush_half(u16 h) {
  return (h & H::kInf) == 0 ? u16(h & kSign16) : h;
}

/// Rounds to the nearest value of the format in the given direction (kModRn ...), once.
template <class H>
GPUSIM_INLINE u16 narrow(double v, unsigned mode) {
  constexpr int kDropped = 52 - H::kMantissa;
  constexpr s64 kLowest = 1023 + 1 - H::kBias;  // double's exponent field of the smallest normal value
  const u64 b = to_bits(v);
  const u16 sign = u16((b >> 48) & kSign16);
  const s64 field = s64((b >> 52) & 0x7ff);
  const u64 significand = (b & 0x000fffffffffffff) | (field == 0 ? 0 : u64{1} << 52);
  const s64 below = field < kLowest ? kLowest - field : 0;
  const int shift = kDropped + int(below > 60 - kDropped ? 60 - kDropped : below);
  const u64 kept = significand >> shift, lost = significand & ((u64{1} << shift) - 1);
  const u64 half = u64{1} << (shift - 1);
  const bool outward = mode == kModRm ? sign != 0 : mode == kModRp && sign == 0;
  const bool nearest_up = lost > half || (lost == half && (kept & 1) != 0);
  const bool up = mode == kModRn ? nearest_up : outward && lost != 0;
  // The hidden bit of a normal value adds the last one to its exponent field.
  const u64 r = kept + u64{up} + (below > 0 ? 0 : u64(field - kLowest) << H::kMantissa);
  const u16 overflow = mode == kModRn || outward ? H::kInf : u16(H::kInf - 1);
  const u16 large = field == 0x7ff ? H::kInf : overflow;
  return v != v ? kNan16 : u16(sign | (r < H::kInf ? u16(r) : large));
}

/// .ftz, .sat, .relu and .satfinite of a rounded result.
template <class H>
GPUSIM_INLINE u16 clamp_half(u16 r, unsigned m) {
  const bool negative = (r & kSign16) != 0, nan = is_nan<H>(r);
  if (m & kModFtz) r = flush_half<H>(r);
  if (m & kModSatfinite) r = (r & kMagnitude16) == H::kInf ? u16(r - 1) : r;
  if (m & kModRelu) r = negative ? u16{0} : r;
  if (m & kModSat) r = negative || nan ? u16{0} : r > H::kOne ? H::kOne : r;
  return r;
}

/// Smaller or larger of two: a NaN operand loses unless .NaN, -0 is below +0; .xorsign.abs compares
/// magnitudes and gives the result the product's sign.
template <class H, bool kMax>
GPUSIM_INLINE u16 half_extreme(u16 a, u16 b, unsigned m) {
  if (m & kModFtz) {
    a = flush_half<H>(a);
    b = flush_half<H>(b);
  }
  const u16 sign = u16((a ^ b) & kSign16), keep = m & kModXorsign ? kMagnitude16 : u16{0xffff};
  a = u16(a & keep);
  b = u16(b & keep);
  const auto ordered = [](u16 v) { return v & kSign16 ? ~s32(v & kMagnitude16) : s32(v); };
  const bool a_nan = is_nan<H>(a), b_nan = is_nan<H>(b);
  const bool first = kMax ? ordered(a) > ordered(b) : ordered(a) < ordered(b);
  u16 r = b_nan || (first && !a_nan) ? a : b;
  r = m & kModXorsign ? u16(r | sign) : r;
  const bool nan = m & kModNan ? a_nan || b_nan : a_nan && b_nan;
  return nan ? kNan16 : r;
}

/// A word of one half-precision value or of two.
template <bool kPair>
using HalfWord = std::conditional_t<kPair, u32, u16>;
/// fn on the value of each operand, or on both of each and packed again.
template <bool kPair, class Fn, class... W>
GPUSIM_INLINE HalfWord<kPair> each_half(Fn fn, W... words) {
  if constexpr (kPair)
    return u32(fn(u16(words)...)) | u32(fn(u16(words >> 16)...)) << 16;
  else
    return fn(words...);
}

}  // namespace gpusim::isa::GPUSIM_SIMD
