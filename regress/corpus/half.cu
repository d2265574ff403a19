// Half precision: arithmetic, pairs, comparisons, conversions in all roundings, math functions.
#include <cuda_fp16.h>

extern "C" __global__ void arithmetic(unsigned short* out, const unsigned short* x, const unsigned short* y,
                                      unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __half a = __ushort_as_half(x[i]), b = __ushort_as_half(y[i]);
  unsigned short* o = out + 12 * i;
  o[0] = __half_as_ushort(a + b);
  o[1] = __half_as_ushort(a - b);
  o[2] = __half_as_ushort(a * b);
  o[3] = __half_as_ushort(a / b);
  o[4] = __half_as_ushort(__hfma(a, b, a));
  o[5] = __half_as_ushort(__hneg(__habs(a)));
  o[6] = __half_as_ushort(__hmax(a, b));
  o[7] = __half_as_ushort(__hmin(a, b));
  o[8] = __half_as_ushort(__hadd_sat(a, b));
  o[9] = static_cast<unsigned short>((a < b) | (a >= b) << 1 | (a == b) << 2 | __hisnan(a) << 3 |
                                     __hgtu(a, b) << 4);
  o[10] = __half_as_ushort(hsqrt(__habs(a)));
  o[11] = __half_as_ushort(hrint(b) + hfloor(a));
}

extern "C" __global__ void pairs(unsigned* out, const unsigned* x, const unsigned* y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __half2 a = reinterpret_cast<const __half2*>(x)[i], b = reinterpret_cast<const __half2*>(y)[i];
  __half2 results[6] = {__hadd2(a, b), __hmul2(a, b),        __hfma2(a, b, a),
                        __hsub2(a, b), __lowhigh2highlow(a), __hgt2(a, b)};
  for (unsigned k = 0; k < 6; ++k) out[6 * i + k] = *reinterpret_cast<unsigned*>(&results[k]);
}

extern "C" __global__ void conversions(unsigned short* out, float* singles, int* integers, const float* x,
                                       unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  unsigned short* o = out + 6 * i;
  o[0] = __half_as_ushort(__float2half_rn(v));
  o[1] = __half_as_ushort(__float2half_rz(v));
  o[2] = __half_as_ushort(__float2half_ru(v));
  o[3] = __half_as_ushort(__float2half_rd(v));
  o[4] = __half_as_ushort(__int2half_rn(static_cast<int>(v)));
  o[5] = __half_as_ushort(__double2half(static_cast<double>(v) * 1.0009765625));
  singles[i] = __half2float(__float2half(v)) * 2.0f;
  integers[3 * i] = __half2int_rn(__float2half(v));
  integers[3 * i + 1] = __half2short_rz(__float2half(v));
  integers[3 * i + 2] = static_cast<int>(__half2uint_ru(__float2half(v)));
}
