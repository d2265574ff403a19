// Kernels that one thing holds far below their roof, and for each the same without it: what the roofline model's
// diagnosis has to find at the ends of a trajectory, and nothing else (regress/suites/). limits.toml runs them all.
// limits.ptx is what nvcc 13 makes of this: nvcc -ptx -arch=compute_75
#include <cuda_fp16.h>

constexpr int kChains = 4;

/// `rounds` times sixteen multiply-adds in four chains.
static __device__ float chains(float x, int rounds) {
  float chain[kChains] = {x, x + 1, x + 2, x + 3};
#pragma unroll 1
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int s = 0; s < 16; ++s) chain[s % kChains] = __fmaf_rn(chain[s % kChains], 0.5f, 0.5f);
  return chain[0] + chain[1] + chain[2] + chain[3];
}
static __device__ void keep(float* out, float x) {
  if (x == 123456795.0f) out[threadIdx.x] = x;
}

/// Every sixteenth block has sixteen times the work; `even_work`: all have as much.
extern "C" __global__ void uneven_work(float* out, int rounds) {
  keep(out, chains(threadIdx.x, blockIdx.x % 16 == 0 ? 16 * rounds : rounds));
}
extern "C" __global__ void even_work(float* out, int rounds) { keep(out, chains(threadIdx.x, rounds)); }

/// Reads of which each depends on the one before, by groups of `group` lanes, each of which reads neighbouring
/// elements somewhere in n (a power of two).
static __device__ void chase(float* out, const int* in, int n, int steps, int group) {
  unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) / group * 2654435761u;
  const int lane = threadIdx.x % group;
  float sum = 0;
#pragma unroll 1
  for (int s = 0; s < steps; ++s) {
    const int value = in[(at / 64 * group & n - 1) + lane];
    sum = __fadd_rn(sum, 1.0f);
    at = at * 1664525u + 1013904223u + value;
  }
  keep(out, sum + at);
}
/// A warp's lanes go to four places at once, all in use: nothing is wasted, but the warp waits for the slowest.
extern "C" __global__ void scattered_chase(float* out, const int* in, int n, int steps) { chase(out, in, n, steps, 8); }
extern "C" __global__ void chase_lines(float* out, const int* in, int n, int steps) { chase(out, in, n, steps, 32); }
/// As many reads of which none depends on another.
extern "C" __global__ void read_lines(float* out, const int* in, int n, int steps) {
  float sum = 0;
  int all = 0;
  const int stride = gridDim.x * blockDim.x;
#pragma unroll 8
  for (int s = 0; s < steps; ++s) {
    all += in[(blockIdx.x * blockDim.x + threadIdx.x + s * stride) & n - 1];
    sum = __fadd_rn(sum, 1.0f);
  }
  keep(out, sum + all);
}

/// A chain of exchanges between lanes, and one of multiply-adds for which few warps are enough.
extern "C" __global__ void long_chain(float* out, int steps) {
  float x = threadIdx.x;
#pragma unroll 4
  for (int s = 0; s < steps; ++s) x = __fadd_rn(__shfl_xor_sync(~0u, x, 1), 1.0f);
  keep(out, x);
}
extern "C" __global__ void short_chains(float* out, int rounds) { keep(out, chains(threadIdx.x, rounds)); }

/// Reads of a part that stays in L1, or in L2, and `kWork` multiply-adds for each.
template <int kWork>
static __device__ float used(float sum, float4 v) {
  sum = __fadd_rn(sum, v.x);
  float a = v.y, b = v.z, c = v.w, d = v.x;
#pragma unroll
  for (int s = 0; s < kWork; ++s) {
    a = __fmaf_rn(a, 0.5f, v.x), b = __fmaf_rn(b, 0.5f, v.x);
    c = __fmaf_rn(c, 0.5f, v.x), d = __fmaf_rn(d, 0.5f, v.x);
  }
  return kWork == 0 ? sum : sum + a + b + c + d;
}
template <int kWork>
static __device__ void read_l1(float* out, const float4* in, int steps) {
  float sum = 0;
#pragma unroll 1
  for (int s = 0; s < steps; s += 8) {
    const float4* here = in + threadIdx.x + s % 16;
#pragma unroll
    for (int k = 0; k < 8; ++k) sum = used<kWork>(sum, __ldca(here + 32 * k));
  }
  keep(out, sum);
}
template <int kWork>
static __device__ void read_l2(float* out, const float4* in, int steps) {
  float sum = 0;
  const int first = blockIdx.x * blockDim.x * 5 + threadIdx.x;
#pragma unroll 4
  for (int s = 0; s < steps; ++s) sum = used<kWork>(sum, __ldcg(in + (first + s * blockDim.x & 32767)));
  keep(out, sum);
}
extern "C" __global__ void l1_reads(float* out, const float4* in, int steps) { read_l1<0>(out, in, steps); }
extern "C" __global__ void l1_reads_used(float* out, const float4* in, int steps) { read_l1<8>(out, in, steps); }
extern "C" __global__ void l2_reads(float* out, const float4* in, int steps) { read_l2<0>(out, in, steps); }
extern "C" __global__ void l2_reads_used(float* out, const float4* in, int steps) { read_l2<32>(out, in, steps); }

/// Over before it has begun on many SMs; `even_work` is not.
extern "C" __global__ void short_kernel(float* out, int rounds) { keep(out, chains(threadIdx.x, rounds)); }

/// Eight operations on whole numbers for each multiply-add.
extern "C" __global__ void whole_numbers(float* out, int steps) {
  unsigned a = threadIdx.x, b = blockIdx.x;
  float sum = 0;
#pragma unroll 4
  for (int s = 0; s < steps; ++s) {
    a = (a ^ b << 3) + 0x9e3779b9u, b = (b ^ a >> 5) - 0x85ebca6bu;
    sum = __fmaf_rn(sum, 0.5f, 1.0f);
  }
  keep(out, sum + (a ^ b));
}

/// All lanes add to a word of their warp's number; `one_atomic`: once for each block.
extern "C" __global__ void many_atomics(float* out, float* sums, int steps) {
#pragma unroll 1
  for (int s = 0; s < steps; ++s) atomicAdd(&sums[threadIdx.x / 32], 1.0f);
}
extern "C" __global__ void one_atomic(float* out, float* sums, int rounds) {
  const float x = chains(threadIdx.x, rounds);
  if (threadIdx.x == 0) atomicAdd(&sums[blockIdx.x % 8], x);
}

/// One warp works while the others of its block wait; `shared_work`: all do a part of it.
extern "C" __global__ void waiting_warps(float* out, int steps, int rounds) {
  float x = threadIdx.x;
#pragma unroll 1
  for (int s = 0; s < steps; ++s) {
    if (threadIdx.x / 32 == s % 32) x = chains(x, rounds);
    __syncthreads();
  }
  keep(out, x);
}
extern "C" __global__ void shared_work(float* out, int steps, int rounds) {
  float x = threadIdx.x;
#pragma unroll 1
  for (int s = 0; s < steps; ++s) {
    x = chains(x, rounds);
    __syncthreads();
  }
  keep(out, x);
}

/// Chains in double and in half precision, and without multiply-add: all at roofs of their own.
extern "C" __global__ void double_chains(float* out, int rounds) {
  double chain[kChains] = {double(threadIdx.x), 1, 2, 3};
#pragma unroll 1
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int s = 0; s < 16; ++s) chain[s % kChains] = __fma_rn(chain[s % kChains], 0.5, 0.5);
  keep(out, chain[0] + chain[1] + chain[2] + chain[3]);
}
extern "C" __global__ void half_chains(float* out, int rounds) {
  const __half2 half = __float2half2_rn(0.5f);
  __half2 chain[kChains];
  for (int c = 0; c < kChains; ++c) chain[c] = __float2half2_rn(threadIdx.x + c);
#pragma unroll 1
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int s = 0; s < 32; ++s) chain[s % kChains] = __hfma2(chain[s % kChains], half, half);
  keep(out, __low2float(chain[0]) + __low2float(chain[1]) + __high2float(chain[2]) + __high2float(chain[3]));
}
extern "C" __global__ void sum_chains(float* out, int rounds) {
  float chain[kChains] = {float(threadIdx.x), 1, 2, 3};
#pragma unroll 1
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int s = 0; s < 16; ++s) chain[s % kChains] = __fadd_rn(chain[s % kChains], 0.5f);
  keep(out, chain[0] + chain[1] + chain[2] + chain[3]);
}
