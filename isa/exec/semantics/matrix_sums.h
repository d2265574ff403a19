// Sums of products as tensor cores make them, for the semantic functions of wmma, mma and wgmma.
//
// The manual leaves order and precision of a floating-point sum open; this is the arithmetic of the hardware
// as published and compared bit by bit with it in "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and
// Matrix Cores" (arXiv 2511.10909; earlier Fasi et al., "Numerical behavior of NVIDIA tensor cores", PeerJ CS
// 7:e330), and as measured on an H100 (driver 580.159): products are exact; a block of them and the
// accumulator are aligned to the largest exponent among them, cut off a fixed number of bits behind its point
// (WmmaSum::fraction_bits) and added exactly; the sum is cut off to f32 or rounded to nearest for f16, and is
// the accumulator of the next block. A term's exponent is the sum of its factors' exponents, so it may be one
// too small.
#pragma once
#include "isa/exec/semantics/half_lanes.h"
#include "isa/ptx/wmma.h"

namespace gpusim::isa::GPUSIM_SIMD {

constexpr int kRows = 16, kColumns = 8, kInner = 16;  // of one micro-op of wmma.mma

/// Multiplicands as integers and exponents: value = significand * 2^(exponent - kMantissa).
template <int kLines, int kDepth = kInner>
struct Factors {
  static constexpr int kLength = kDepth;
  alignas(64) s32 significand[kLines][kDepth];
  alignas(64) s32 exponent[kLines][kDepth];
  u16 bits[kLines][kDepth];
  u32 special[kLines];  ///< an infinity or NaN is in the line
};

/// A product with a zero is below all others.
constexpr s32 kZeroExponent = -1000;
constexpr s32 kLowestExponent = -126;

template <class H, int kLines, int kDepth>
GPUSIM_INLINE void set_factor(Factors<kLines, kDepth>& f, int line, int k, u16 h) {
  const s32 field = (h & H::kInf) >> H::kMantissa, fraction = h & ((1 << H::kMantissa) - 1);
  const s32 magnitude = field == 0 ? fraction : fraction | 1 << H::kMantissa;
  f.significand[line][k] = (h & kSign16) != 0 ? -magnitude : magnitude;
  f.exponent[line][k] = magnitude == 0 ? kZeroExponent : (field == 0 ? 1 : field) - H::kBias;
  f.bits[line][k] = h;
  f.special[line] |= u32{(h & H::kInf) == H::kInf};
}

/// From registers of which each has two neighbours of k; `blocks` lines of eight follow each other first.
template <class H, int kLines>
GPUSIM_INLINE void set_factors(Factors<kLines>& f, const MicroOp& op, const WarpContext& ctx, int source) {
  constexpr int kBlocks = kLines / 8;
  for (u32& s : f.special) s = 0;
  for (int r = 0; r < 2 * kBlocks; ++r) {
    const u32* words = row<u32>(op.src[source + r], ctx);
    for (int l = 0; l < kWarpSize; ++l) {
      const int line = l / 4 + r % kBlocks * 8, k = l % 4 * 2 + r / kBlocks * 8;
      set_factor<H>(f, line, k, u16(words[l]));
      set_factor<H>(f, line, k + 1, u16(words[l] >> 16));
    }
  }
}

/// The same values with the other sign.
template <int kLines>
GPUSIM_INLINE void negate(Factors<kLines>& f) {
  for (int i = 0; i < kLines; ++i) {
    for (int k = 0; k < kInner; ++k) {
      f.significand[i][k] = -f.significand[i][k];
      f.bits[i][k] ^= kSign16;
    }
  }
}

/// wgmma: whether the products are added to what D holds.
GPUSIM_INLINE bool adds_to_sums(const MicroOp& op, const WarpContext& ctx) {
  return op.pred_src[0] == kNoPredicate || (predicate(op, ctx, 0) & 1) != 0;
}

/// Cuts the bits off that f32 does not have. `v` is no NaN.
GPUSIM_INLINE float cut_to_single(double v) {
  const u64 b = to_bits(v);
  const u32 sign = u32(b >> 32) & 0x80000000u;
  const double magnitude = f64_from(b & ~(u64{1} << 63));
  if (magnitude >= 0x1p128) return f32_from(sign | kInf32);
  if (magnitude < 0x1p-126) return f32_from(sign | u32(magnitude * 0x1p149));
  return float(f64_from(b & ~u64{0x1fffffff}));
}

/// The accumulator, as a float, in the format it has between blocks.
template <bool kHalf>
GPUSIM_INLINE float rounded_sum(double v) {
  if constexpr (kHalf)
    return to_float<F16>(narrow<F16>(v, kModRn));
  else
    return cut_to_single(v);
}

/// Sum of kBlock products and c where an infinity or NaN is among them.
template <class H, int kBlock>
GPUSIM_INLINE double special_sum(const u16* a, const u16* b, float c) {
  double sum = double(c);
  for (int k = 0; k < kBlock; ++k) sum += double(to_float<H>(a[k])) * double(to_float<H>(b[k]));
  return sum;
}

/// c + sum of kBlock products; `sa` to `eb`: the factors' significands and exponents.
template <class H, int kBlock, bool kHalf>
GPUSIM_INLINE float add_block(const s32* sa, const s32* ea, const s32* sb, const s32* eb, float c, int bits) {
  constexpr int kPoint = 2 * H::kMantissa;  // bits behind the point of a product
  constexpr s32 kLowest = kHalf ? -14 : kLowestExponent;
  const u32 cb = to_bits(c);
  const s32 field = s32(cb >> 23 & 0xff);
  u32 sc = (cb & 0x7fffff) | (field == 0 ? 0u : 0x800000u);
  s32 ec = (field == 0 ? 1 : field) - 127;
  if (ec < kLowest) {  // a half-precision denormal has leading zeros
    sc >>= kLowest - ec < 31 ? kLowest - ec : 31;
    ec = kLowest;
  }
  if (sc == 0) ec = kLowestExponent;
  alignas(64) s32 product[kBlock], exponent[kBlock];
  s32 largest = ec;
  for (int k = 0; k < kBlock; ++k) {
    product[k] = sa[k] * sb[k];
    exponent[k] = ea[k] + eb[k];
    largest = exponent[k] > largest ? exponent[k] : largest;
  }
  s32 sum = 0;
  for (int k = 0; k < kBlock; ++k) {
    const s32 below = largest - exponent[k];
    const u32 magnitude = u32(product[k] < 0 ? -product[k] : product[k]) << (bits - kPoint);
    const s32 term = s32(magnitude >> (below < 31 ? below : 31));
    sum += product[k] < 0 ? -term : term;
  }
  const s32 below = largest - ec;
  const s64 term = s64{sc} << bits >> (23 + (below < 31 ? below : 31));
  const s64 total = s64{sum} + (cb >> 31 != 0 ? -term : term);
  // 2^(largest - bits) is a normal double in both steps.
  const double unit = f64_from(u64(1023 + largest - bits) << 52);
  return rounded_sum<kHalf>(double(total) * unit);
}

/// tf32: single precision of which the multiplier takes ten bits of the fraction.
struct TF32 {
  static constexpr int kMantissa = 10;
};

template <int kLines, int kDepth>
GPUSIM_INLINE void set_factor_tf32(Factors<kLines, kDepth>& f, float (*values)[kDepth], int line, int k,
                                   u32 bits) {
  constexpr int kCut = 23 - TF32::kMantissa;
  bits &= ~((1u << kCut) - 1);
  const s32 field = s32(bits >> 23 & 0xff), fraction = s32((bits & 0x7fffff) >> kCut);
  const s32 magnitude = field == 0 ? fraction : fraction | 1 << TF32::kMantissa;
  f.significand[line][k] = bits >> 31 != 0 ? -magnitude : magnitude;
  f.exponent[line][k] = magnitude == 0 ? kZeroExponent : (field == 0 ? 1 : field) - 127;
  f.special[line] |= u32{field == 0xff};
  values[line][k] = f32_from(bits);
}

/// Sums of eight products in blocks of kBlock: the lanes hold A as four registers, B as two, one element
/// each.
template <int kBlock, class A, class B>
GPUSIM_INLINE float dot_tf32(const A& a, const float* av, int i, const B& b, const float* bv, int j, float c,
                             int bits) {
  constexpr int kTerms = 8;
  const bool special = (a.special[i] | b.special[j]) != 0;
  for (int k = 0; k < kTerms; k += kBlock) {
    if (special || (to_bits(c) & kInf32) == kInf32) {
      double sum = double(c);
      for (int t = k; t < k + kBlock; ++t) sum += double(av[t]) * double(bv[t]);
      if (sum != sum || sum - sum != 0) {
        c = canonical(float(sum));
        continue;
      }
    }
    c = add_block<TF32, kBlock, false>(&a.significand[i][k], &a.exponent[i][k], &b.significand[j][k],
                                       &b.exponent[j][k], c, bits);
  }
  return c;
}

/// Sum of the products of line i of A and line j of B, and c.
template <class H, int kBlock, bool kHalf, class A, class B>
GPUSIM_INLINE float dot(const A& a, int i, const B& b, int j, float c, int bits) {
  const bool special = (a.special[i] | b.special[j]) != 0;
  for (int k = 0; k < A::kLength; k += kBlock) {
    if (special || (to_bits(c) & kInf32) == kInf32) {
      const double sum = special_sum<H, kBlock>(&a.bits[i][k], &b.bits[j][k], c);
      if (sum != sum || sum - sum != 0) {
        c = canonical(float(sum));
        continue;
      }
    }
    c = add_block<H, kBlock, kHalf>(&a.significand[i][k], &a.exponent[i][k], &b.significand[j][k],
                                    &b.exponent[j][k], c, bits);
  }
  return c;
}

/// All sums; `c` holds the accumulators.
template <class H, int kBlock, bool kHalf>
GPUSIM_INLINE void all_sums(const Factors<kRows>& a, const Factors<kColumns>& b, int bits,
                            float (*c)[kColumns]) {
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) c[i][j] = dot<H, kBlock, kHalf>(a, i, b, j, c[i][j], bits);
  }
}
/// Accumulators of 32 bits: lane (g, t) of register r has row g + 8 (r / 2) and column 2 t + r % 2.
template <class Fn>
GPUSIM_INLINE void each_accumulator(Fn fn) {
  for (int r = 0; r < 4; ++r) {
    for (int l = 0; l < kWarpSize; ++l) fn(r, l, l / 4 + r / 2 * 8, l % 4 * 2 + r % 2);
  }
}

}  // namespace gpusim::isa::GPUSIM_SIMD
