// Arithmetic of f32 and f64, and that of f64 for the lanes of a warp with the NaNs that the hardware gives.
// PTX ISA 9.7.3.
#pragma once
#if defined(__FMA__)
#include <immintrin.h>
#endif

#include "isa/exec/semantics/float_lanes.h"

namespace gpusim::isa::GPUSIM_SIMD {
namespace float_forms {
namespace {

struct Add {
  template <class F>
  GPUSIM_INLINE F operator()(F a, F b) const {
    return a + b;
  }
};
struct Sub {
  template <class F>
  GPUSIM_INLINE F operator()(F a, F b) const {
    return a - b;
  }
};
struct Mul {
  template <class F>
  GPUSIM_INLINE F operator()(F a, F b) const {
    return a * b;
  }
};
struct Div {
  template <class F>
  GPUSIM_INLINE F operator()(F a, F b) const {
    return a / b;
  }
};
struct Fma {
  GPUSIM_INLINE float operator()(float a, float b, float c) const { return __builtin_fmaf(a, b, c); }
  GPUSIM_INLINE double operator()(double a, double b, double c) const { return __builtin_fma(a, b, c); }
};
struct Rcp {
  template <class F>
  GPUSIM_INLINE F operator()(F a) const {
    return F(1) / a;
  }
};
struct Sqrt {
  GPUSIM_INLINE float operator()(float a) const { return __builtin_sqrtf(a); }
  GPUSIM_INLINE double operator()(double a) const { return __builtin_sqrt(a); }
};

/// The NaN that f64 arithmetic makes of its operands: the first of them that is one, made quiet; that of all
/// results if none is (an invalid operation). The order is that of the hardware.
template <class... Rest>
GPUSIM_INLINE double first_nan(double v, Rest... rest) {
  if constexpr (sizeof...(rest) == 0)
    return f64_from(v != v ? to_bits(v) | kQuiet64 : kNan64);
  else
    return v != v ? f64_from(to_bits(v) | kQuiet64) : first_nan(rest...);
}
template <class Fn>
GPUSIM_INLINE double nan_of(Fn, double a) {
  return first_nan(a);
}
template <class Fn>
GPUSIM_INLINE double nan_of(Fn, double a, double b) {
  return first_nan(b, a);
}
GPUSIM_INLINE double nan_of(Div, double a, double b) { return first_nan(a, b); }
GPUSIM_INLINE double nan_of(Fma, double a, double b, double c) { return first_nan(b, c, a); }

/// f64 with NaNs among the results.
template <class Fn, class... Rows>
[[gnu::noinline]] void doubles_with_nans(const MicroOp& op, WarpContext& ctx, LaneMask mask,
                                         const Rows*... src) {
  write_lanes<double>(row<double>(op.dst[0], ctx), mask, [=](int l) {
    const double r = Fn{}(src[l]...);
    return r != r ? nan_of(Fn{}, src[l]...) : r;
  });
}
#if defined(__FMA__)
#if defined(__AVX512F__)
using Doubles = __m512d;
/// Not 0 if a NaN is in one of them.
GPUSIM_INLINE u32 nans_in(Doubles a, Doubles b) { return _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q); }
GPUSIM_INLINE bool any(u32 nans) { return nans != 0; }
GPUSIM_INLINE Doubles apply(Fma, Doubles a, Doubles b, Doubles c) { return _mm512_fmadd_pd(a, b, c); }
GPUSIM_INLINE Doubles apply(Sqrt, Doubles a) { return _mm512_sqrt_pd(a); }
#else
using Doubles = __m256d;
GPUSIM_INLINE __m256d nans_in(Doubles a, Doubles b) { return _mm256_cmp_pd(a, b, _CMP_UNORD_Q); }
GPUSIM_INLINE bool any(__m256d nans) { return _mm256_movemask_pd(nans) != 0; }
GPUSIM_INLINE Doubles apply(Fma, Doubles a, Doubles b, Doubles c) { return _mm256_fmadd_pd(a, b, c); }
GPUSIM_INLINE Doubles apply(Sqrt, Doubles a) { return _mm256_sqrt_pd(a); }
#endif
GPUSIM_INLINE Doubles apply(Rcp, Doubles a) { return 1.0 / a; }
template <class Fn>
GPUSIM_INLINE Doubles apply(Fn, Doubles a, Doubles b) {
  return Fn{}(a, b);
}

/// f64. All results are in registers until it is known that none of them is a NaN, for the operands of one
/// that is are looked at again.
template <class Fn, class... Rows>
GPUSIM_INLINE void doubles(const MicroOp& op, WarpContext& ctx, LaneMask mask, const Rows*... src) {
  constexpr int kLanes = sizeof(Doubles) / sizeof(double), kParts = kWarpSize / kLanes;
  const auto part = [](const double* r, int p) { return reinterpret_cast<const Doubles*>(r)[p]; };
  Doubles result[kParts];
#pragma GCC unroll 8
  for (int p = 0; p < kParts; ++p) result[p] = apply(Fn{}, part(src, p)...);
  auto nans = nans_in(result[0], result[1]);
#if defined(__AVX512F__)
  nans |= nans_in(result[2], result[3]);
#else
#pragma GCC unroll 4
  for (int p = 2; p < kParts; p += 2) nans = _mm256_or_pd(nans, nans_in(result[p], result[p + 1]));
#endif
  if (__builtin_expect(any(nans), 0)) return doubles_with_nans<Fn>(op, ctx, mask, src...);
  double* const d = row<double>(op.dst[0], ctx);
  if (mask.full()) {
#pragma GCC unroll 8
    for (int p = 0; p < kParts; ++p) reinterpret_cast<Doubles*>(d)[p] = result[p];
    return;
  }
  alignas(64) double copy[kWarpSize];
#pragma GCC unroll 8
  for (int p = 0; p < kParts; ++p) reinterpret_cast<Doubles*>(copy)[p] = result[p];
  const u32 m = mask.bits();
  GPUSIM_LANE_LOOP d[l] = (m & kLaneBit[l]) != 0 ? copy[l] : d[l];
}
#else
template <class Fn, class... Rows>
GPUSIM_INLINE void doubles(const MicroOp& op, WarpContext& ctx, LaneMask mask, const Rows*... src) {
  doubles_with_nans<Fn>(op, ctx, mask, src...);
}
#endif
template <class Fn>
void double1(const MicroOp& op, WarpContext& ctx, LaneMask mask) {
  doubles<Fn>(op, ctx, mask, row<double>(op.src[0], ctx));
}
template <class Fn>
void double2(const MicroOp& op, WarpContext& ctx, LaneMask mask) {
  doubles<Fn>(op, ctx, mask, row<double>(op.src[0], ctx), row<double>(op.src[1], ctx));
}
template <class Fn>
void double3(const MicroOp& op, WarpContext& ctx, LaneMask mask) {
  doubles<Fn>(op, ctx, mask, row<double>(op.src[0], ctx), row<double>(op.src[1], ctx),
              row<double>(op.src[2], ctx));
}

}  // namespace
}  // namespace float_forms
}  // namespace gpusim::isa::GPUSIM_SIMD
