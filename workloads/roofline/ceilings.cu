// What a machine can do at most, measured: floating-point rates with and without fused multiply-add from registers, and
// the bandwidth of a stream that is read once. `gpusim analyze --model roofline` takes its roofs from runs of these.

/// Independent chains of each thread: more than an operation's latency needs.
constexpr int kChains = 8;
constexpr int kSteps = 64;

template <bool kFused>
static __device__ void rate(float* out, int rounds, float factor) {
  float chain[kChains];
  for (int c = 0; c < kChains; ++c) chain[c] = threadIdx.x + c;
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int s = 0; s < kSteps; ++s)
      chain[s % kChains] = kFused ? __fmaf_rn(chain[s % kChains], factor, factor) : __fadd_rn(chain[s % kChains], factor);
  float sum = 0;
  for (int c = 0; c < kChains; ++c) sum += chain[c];
  if (sum == 123456795.0f) out[threadIdx.x] = sum;
}

extern "C" __global__ void ceiling_fma(float* out, int rounds, float factor) { rate<true>(out, rounds, factor); }

extern "C" __global__ void ceiling_add(float* out, int rounds, float factor) { rate<false>(out, rounds, factor); }

extern "C" __global__ void ceiling_stream(float* out, const float4* in, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float4 v = in[i];
    sum += v.x + v.y + v.z + v.w;
  }
  if (sum == 123456795.0f) out[threadIdx.x] = sum;
}
