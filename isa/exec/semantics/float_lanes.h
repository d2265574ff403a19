// Floating-point helpers of the semantic functions: bit casts, flushing of denormals (.ftz), saturation, the
// canonical NaN and a scope that sets the CPU's rounding mode for the directed roundings. PTX ISA 9.7.3.
#pragma once
#include <xmmintrin.h>

#include "isa/exec/semantics/lanes.h"

namespace gpusim::isa::GPUSIM_SIMD {

template <class F>
using BitsOf = std::conditional_t<sizeof(F) == 8, u64, u32>;
template <class F>
GPUSIM_INLINE BitsOf<F> to_bits(F v) {
  return __builtin_bit_cast(BitsOf<F>, v);
}
GPUSIM_INLINE float f32_from(u32 v) { return __builtin_bit_cast(float, v); }
GPUSIM_INLINE double f64_from(u64 v) { return __builtin_bit_cast(double, v); }

inline constexpr u32 kNan32 = 0x7fffffffu;
inline constexpr u64 kNan64 = 0xfff8000000000000u, kQuiet64 = 0x0008000000000000u;
inline constexpr u32 kInf32 = 0x7f800000u;

/// NaN results are one fixed pattern: x86 would hand through a payload that depends on operand order.
template <class F>
GPUSIM_INLINE F canonical(F v) {
  if constexpr (sizeof(F) == 4)
    return v != v ? f32_from(kNan32) : v;
  else
    return v != v ? f64_from(kNan64) : v;
}
/// Denormals become zero of the same sign.
GPUSIM_INLINE float flush(float v) {
  const u32 b = to_bits(v);
  return f32_from((b & kInf32) == 0 ? b & 0x80000000u : b);
}
template <bool kFtz, class F>
GPUSIM_INLINE F flush_if(F v) {
  if constexpr (kFtz && sizeof(F) == 4)
    return flush(v);
  else
    return v;
}
/// .sat: clamp to [0, 1], NaN gives +0.
template <class F>
GPUSIM_INLINE F saturate(F v) {
  return v > F(0) ? (v < F(1) ? v : F(1)) : F(0);
}

/// Sets the rounding of SSE/AVX arithmetic. The lane loads and stores between the two barriers cannot leave
/// them, so neither can the arithmetic between them.
class RoundingScope {
 public:
  explicit GPUSIM_INLINE RoundingScope(unsigned mode) : saved_(_mm_getcsr()) {
    static constexpr unsigned kBits[4] = {0x0000, 0x6000, 0x2000, 0x4000};  // rn rz rm rp
    _mm_setcsr((saved_ & ~0x6000u) | kBits[mode & kModRoundMask]);
    asm volatile("" ::: "memory");
  }
  GPUSIM_INLINE ~RoundingScope() {
    asm volatile("" ::: "memory");
    _mm_setcsr(saved_);
  }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  unsigned saved_;
};

}  // namespace gpusim::isa::GPUSIM_SIMD
