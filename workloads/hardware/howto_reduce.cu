// Sums of pieces of a vector, from a naive tree to shuffles: reduce_v0 to v7 of Liu-
// xiandong/How_to_optimize_in_GPU, timed on a V100. The same, step by step: 0: neighbours added with a
// remainder as the test of who works (divergent); 1: the working threads next to each other (bank
// conflicts); 2: halves folded; 3: two elements loaded a thread; 4: the last warp without barriers, through
// volatile shared memory; 5: all steps unrolled; 6: 128 elements a thread in 1024 blocks; 7: the same with
// shuffles. Blocks of 256, pieces of 256, 512 (3 to 5) or 32768 (6, 7) elements.
constexpr unsigned kThreads = 256;
constexpr int kMany = 128;

extern "C" __global__ void sum_0(float* values, float* sums) {
  __shared__ float part[kThreads];
  const unsigned me = threadIdx.x;
  part[me] = values[blockIdx.x * blockDim.x + me];
  __syncthreads();
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    if (me % (2 * step) == 0) part[me] += part[me + step];
    __syncthreads();
  }
  if (me == 0) sums[blockIdx.x] = part[0];
}

extern "C" __global__ void sum_1(float* values, float* sums) {
  __shared__ float part[kThreads];
  const unsigned me = threadIdx.x;
  part[me] = values[blockIdx.x * blockDim.x + me];
  __syncthreads();
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    const int at = 2 * step * me;
    if (at < blockDim.x) part[at] += part[at + step];
    __syncthreads();
  }
  if (me == 0) sums[blockIdx.x] = part[0];
}

__device__ __forceinline__ void fold_halves(float* part, unsigned me, unsigned last) {
  for (unsigned half = blockDim.x / 2; half > last; half >>= 1) {
    if (me < half) part[me] += part[me + half];
    __syncthreads();
  }
}

__device__ __forceinline__ void fold_warp(volatile float* part, unsigned me) {
#pragma unroll
  for (int half = 32; half > 0; half /= 2) part[me] += part[me + half];
}

extern "C" __global__ void sum_2(float* values, float* sums) {
  __shared__ float part[kThreads];
  const unsigned me = threadIdx.x;
  part[me] = values[blockIdx.x * blockDim.x + me];
  __syncthreads();
  fold_halves(part, me, 0);
  if (me == 0) sums[blockIdx.x] = part[0];
}

extern "C" __global__ void sum_3(float* values, float* sums) {
  __shared__ float part[kThreads];
  const unsigned me = threadIdx.x;
  const unsigned at = 2 * blockDim.x * blockIdx.x + me;
  part[me] = values[at] + values[at + blockDim.x];
  __syncthreads();
  fold_halves(part, me, 0);
  if (me == 0) sums[blockIdx.x] = part[0];
}

extern "C" __global__ void sum_4(float* values, float* sums) {
  __shared__ float part[kThreads];
  const unsigned me = threadIdx.x;
  const unsigned at = 2 * blockDim.x * blockIdx.x + me;
  part[me] = values[at] + values[at + blockDim.x];
  __syncthreads();
  fold_halves(part, me, 32);
  if (me < 32) fold_warp(part, me);
  if (me == 0) sums[blockIdx.x] = part[0];
}

__device__ __forceinline__ void fold_unrolled(float* part, unsigned me) {
  if (me < 128) part[me] += part[me + 128];
  __syncthreads();
  if (me < 64) part[me] += part[me + 64];
  __syncthreads();
  if (me < 32) fold_warp(part, me);
}

extern "C" __global__ void sum_5(float* values, float* sums) {
  __shared__ float part[kThreads];
  const unsigned me = threadIdx.x;
  const unsigned at = 2 * blockDim.x * blockIdx.x + me;
  part[me] = values[at] + values[at + blockDim.x];
  __syncthreads();
  fold_unrolled(part, me);
  if (me == 0) sums[blockIdx.x] = part[0];
}

extern "C" __global__ void sum_6(float* values, float* sums) {
  __shared__ float part[kThreads];
  const unsigned me = threadIdx.x;
  const unsigned at = kMany * kThreads * blockIdx.x + me;
  part[me] = 0;
#pragma unroll
  for (int i = 0; i < kMany; ++i) part[me] += values[at + i * kThreads];
  __syncthreads();
  fold_unrolled(part, me);
  if (me == 0) sums[blockIdx.x] = part[0];
}

template <int kLanes>
__device__ __forceinline__ float sum_of_lanes(float sum) {
#pragma unroll
  for (int distance = kLanes / 2; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, distance);
  return sum;
}

extern "C" __global__ void sum_7(float* values, float* sums) {
  __shared__ float part[32];
  const unsigned me = threadIdx.x;
  const unsigned at = kMany * kThreads * blockIdx.x + me;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kMany; ++i) sum += values[at + i * kThreads];
  sum = sum_of_lanes<32>(sum);
  if (me % 32 == 0) part[me / 32] = sum;
  __syncthreads();
  sum = me < blockDim.x / 32 ? part[me % 32] : 0;
  if (me / 32 == 0) sum = sum_of_lanes<kThreads / 32>(sum);
  if (me == 0) sums[blockIdx.x] = sum;
}
