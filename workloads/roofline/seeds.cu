// One small computation without a defect and with one each: what the roofline model's diagnosis has to find, and
// nothing else (regress/suites/).

/// Operations on one element: a few, or so many that the ports to L2 have time to spare at any number of SMs.
constexpr int kFew = 8, kMany = 32;
template <int kSteps>
static __device__ float work(float x) {
  float y = x;
#pragma unroll
  for (int s = 0; s < kSteps; ++s) y = __fmaf_rn(y, x, 0.5f);
  return y;
}

/// Coalesced, converged, blocks enough for any machine.
extern "C" __global__ void clean(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = work<kMany>(x[i]);
}

/// The lanes of a warp go round their loops 1 to 32 times.
extern "C" __global__ void divergent(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  const int rounds = (i * 7 & 31) + 1;
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) v = __fmaf_rn(v, 0.5f, 1.0f);
  y[i] = v;
}

/// Neighbouring lanes read `stride` elements apart: `rows` threads along x, `stride` blocks along y.
extern "C" __global__ void uncoalesced(float* y, const float* x, int rows, int stride) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) y[blockIdx.y * rows + row] = work<kMany>(x[row * stride + blockIdx.y]);
}

/// The work of `clean` by so few blocks that SMs have none.
extern "C" __global__ void few_blocks(float* y, const float* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = work<kMany>(x[i]);
}

/// Each block goes over a part of its own several times, past the L1: few blocks' parts fit L2,
/// those of a whole machine do not.
extern "C" __global__ void past_l2(float* y, const float* x, int part, int passes) {
  const float* const mine = x + (size_t)blockIdx.x * part;
  float sum = 0;
  for (int p = 0; p < passes; ++p)
    for (int i = threadIdx.x; i < part; i += blockDim.x) sum += work<kFew>(__ldcg(mine + i));
  y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
