// Floating point in 8 bits (PTX ISA 5.2.3) for the semantic functions. Halves hold every value of both
// formats exactly.
#pragma once
#include "isa/exec/semantics/half_lanes.h"

namespace gpusim::isa::GPUSIM_SIMD {

/// NaN is 0x7f, there is no infinity; results beyond the largest value are that.
struct E4M3 {
  static constexpr u32 kMantissa = 3, kBias = 7, kLargest = 0x7e;
};
struct E5M2 {
  static constexpr u32 kMantissa = 2, kBias = 15, kLargest = 0x7b;
};
constexpr u32 kNan8 = 0x7f;

/// As a half; `m` may have kModRelu.
template <class B>
GPUSIM_INLINE u32 widen_byte(u32 v, unsigned m) {
  const u32 magnitude = v & 0x7f, sign = v >> 7 << 15;
  const bool nan = B::kMantissa == 2 ? magnitude > 0x7c : magnitude == kNan8;
  if (nan) return kNan16;
  if ((m & kModRelu) != 0 && sign != 0) return 0;
  if constexpr (B::kMantissa == 2) return sign | magnitude << 8;  // f16 with a shorter fraction
  constexpr float kUnit = 0x1p-9f;                                // of denormals
  if (magnitude < 8) return sign | narrow<F16>(double(float(magnitude) * kUnit), kModRn);
  return sign | ((magnitude << 7) + ((15 - B::kBias) << F16::kMantissa));
}

}  // namespace gpusim::isa::GPUSIM_SIMD
