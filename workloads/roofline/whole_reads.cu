// Reads that the L1 or the L2 holds below their roof, and the same with more to do for each: seeded defects of the
// roofline model's diagnosis, like those of limits.cu, whose reads of the same names use one word of the four that
// they load, so that from 7.0 on only a quarter of each line is brought. whole_reads.toml runs them all.
// whole_reads.ptx is what nvcc 13 makes of this: nvcc -ptx -arch=compute_75
static __device__ void keep(float* out, float x) {
  if (x == 123456795.0f) out[threadIdx.x] = x;
}

/// Reads of a part that stays in L1, or in L2, and `kWork` multiply-adds for each.
template <int kWork>
static __device__ float used(float sum, float4 v) {
  float a = v.y, b = v.z, c = v.w, d = v.x;
#pragma unroll
  for (int s = 0; s < kWork; ++s) {
    a = __fmaf_rn(a, 0.5f, v.x), b = __fmaf_rn(b, 0.5f, v.x);
    c = __fmaf_rn(c, 0.5f, v.x), d = __fmaf_rn(d, 0.5f, v.x);
  }
  return __fadd_rn(sum, __fadd_rn(__fadd_rn(a, b), __fadd_rn(c, d)));
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
