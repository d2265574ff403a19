// bfloat16: arithmetic, pairs, comparisons, conversions.
#include <cuda_bf16.h>

#if __CUDA_ARCH__ >= 800
__device__ __nv_bfloat16 fused(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) { return __hfma(a, b, c); }
__device__ __nv_bfloat162 fused(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  return __hfma2(a, b, c);
}
#else
__device__ __nv_bfloat16 fused(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  return __float2bfloat16(fmaf(__bfloat162float(a), __bfloat162float(b), __bfloat162float(c)));
}
__device__ __nv_bfloat162 fused(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  return __halves2bfloat162(fused(__low2bfloat16(a), __low2bfloat16(b), __low2bfloat16(c)),
                            fused(__high2bfloat16(a), __high2bfloat16(b), __high2bfloat16(c)));
}
#endif

extern "C" __global__ void arithmetic(unsigned short* out, const unsigned short* x, const unsigned short* y,
                                      unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __nv_bfloat16 a = __ushort_as_bfloat16(x[i]), b = __ushort_as_bfloat16(y[i]);
  unsigned short* o = out + 8 * i;
  o[0] = __bfloat16_as_ushort(a + b);
  o[1] = __bfloat16_as_ushort(a - b);
  o[2] = __bfloat16_as_ushort(a * b);
  o[3] = __bfloat16_as_ushort(fused(a, b, a));
  o[4] = __bfloat16_as_ushort(__hneg(__habs(a)));
  o[5] = __bfloat16_as_ushort(__hmax(a, b));
  o[6] = __bfloat16_as_ushort(__hmin(a, b));
  o[7] = static_cast<unsigned short>((a < b) | (a >= b) << 1 | (a == b) << 2);
}

extern "C" __global__ void pairs(unsigned* out, const unsigned* x, const unsigned* y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __nv_bfloat162 a = reinterpret_cast<const __nv_bfloat162*>(x)[i],
                 b = reinterpret_cast<const __nv_bfloat162*>(y)[i];
  __nv_bfloat162 results[4] = {__hadd2(a, b), __hmul2(a, b), fused(a, b, a), __hmax2(a, b)};
  for (unsigned k = 0; k < 4; ++k) out[4 * i + k] = *reinterpret_cast<unsigned*>(&results[k]);
}

extern "C" __global__ void conversions(unsigned short* out, float* singles, int* integers, const float* x,
                                       unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  unsigned short* o = out + 4 * i;
  o[0] = __bfloat16_as_ushort(__float2bfloat16_rn(v));
  o[1] = __bfloat16_as_ushort(__float2bfloat16_rz(v));
  o[2] = __bfloat16_as_ushort(__float2bfloat16_ru(v));
  o[3] = __bfloat16_as_ushort(__float2bfloat16_rd(v));
  singles[i] = __bfloat162float(__float2bfloat16(v)) * 2.0f;
  integers[i] = __bfloat162int_rz(__float2bfloat16(v));
}
