// What a machine can do at most, measured: rates of arithmetic from registers, by type of number and with and without
// fused multiply-add, and the bandwidths of DRAM (a stream that is read once), L2 and L1 (a part of it that stays there).
// `gpusim analyze --model roofline` takes its roofs from runs of these.
// ceilings.ptx is what nvcc 13 makes of this: nvcc -ptx -arch=compute_75
#include <cuda_fp16.h>

/// Independent chains of each thread: more than an operation's latency needs.
constexpr int kChains = 8;
constexpr int kSteps = 64;

template <bool kFused>
static __device__ float step(float x, float factor) {
  return kFused ? __fmaf_rn(x, factor, factor) : __fadd_rn(x, factor);
}
template <bool kFused>
static __device__ double step(double x, double factor) {
  return kFused ? __fma_rn(x, factor, factor) : __dadd_rn(x, factor);
}
template <bool kFused>
static __device__ __half2 step(__half2 x, __half2 factor) {
  return kFused ? __hfma2(x, factor, factor) : __hadd2_rn(x, factor);
}
static __device__ bool is(float x, float what) { return x == what; }
static __device__ bool is(double x, float what) { return x == what; }
static __device__ bool is(__half2 x, float what) { return __low2float(x) == what; }

template <bool kFused, class Number>
static __device__ void rate(float* out, int rounds, Number first, Number factor) {
  Number chain[kChains];
  for (int c = 0; c < kChains; ++c) chain[c] = first;
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int s = 0; s < kSteps; ++s) chain[s % kChains] = step<kFused>(chain[s % kChains], factor);
  for (int c = 0; c < kChains; ++c)
    if (is(chain[c], 123456795.0f)) out[threadIdx.x] = c;
}

extern "C" __global__ void ceiling_fma(float* out, int rounds, float factor) {
  rate<true>(out, rounds, float(threadIdx.x), factor);
}
extern "C" __global__ void ceiling_add(float* out, int rounds, float factor) {
  rate<false>(out, rounds, float(threadIdx.x), factor);
}
extern "C" __global__ void ceiling_fma_fp64(float* out, int rounds, float factor) {
  rate<true>(out, rounds, double(threadIdx.x), double(factor));
}
extern "C" __global__ void ceiling_add_fp64(float* out, int rounds, float factor) {
  rate<false>(out, rounds, double(threadIdx.x), double(factor));
}
extern "C" __global__ void ceiling_fma_fp16(float* out, int rounds, float factor) {
  rate<true>(out, rounds, __float2half2_rn(threadIdx.x), __float2half2_rn(factor));
}
extern "C" __global__ void ceiling_add_fp16(float* out, int rounds, float factor) {
  rate<false>(out, rounds, __float2half2_rn(threadIdx.x), __float2half2_rn(factor));
}

extern "C" __global__ void ceiling_stream(float* out, const float4* in, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float4 v = in[i];
    sum += v.x + v.y + v.z + v.w;
  }
  if (sum == 123456795.0f) out[threadIdx.x] = sum;
}

/// All blocks go over the same `n` elements, a power of two, each from another place on.
extern "C" __global__ void ceiling_l2(float* out, const float4* in, int n, int rounds) {
  float sum = 0;
  const int first = blockIdx.x * blockDim.x * 5 + threadIdx.x;
#pragma unroll 4
  for (int r = 0; r < rounds; ++r) {
    const float4 v = __ldcg(in + (first + r * blockDim.x & n - 1));
    sum += v.x + v.y + v.z + v.w;
  }
  if (sum == 123456795.0f) out[threadIdx.x] = sum;
}
extern "C" __global__ void ceiling_l1(float* out, const float4* in, int n, int rounds) {
  float sum = 0;
#pragma unroll 4
  for (int r = 0; r < rounds; ++r) {
    const float4 v = __ldca(in + (threadIdx.x + r * blockDim.x & n - 1));
    sum += v.x + v.y + v.z + v.w;
  }
  if (sum == 123456795.0f) out[threadIdx.x] = sum;
}
