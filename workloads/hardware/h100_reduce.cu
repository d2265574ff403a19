// Sums of integers: kernel_0 to kernel_3 of simveit/effective_reduction, as timed on an H100. The same:
// blocks of 512; tree: an element a thread (a loop over the grid that runs once), halves folded in shared
// memory with a barrier a level, a sum a block, and a second launch of one block that adds those up;
// short_tree: the last six levels by one warp without barriers, through volatile shared memory, again two
// launches; atomic: one element a thread, the same tree, an atomic addition a block; batch: the same with
// twelve neighbouring elements a thread.
constexpr unsigned kThreads = 512;
constexpr unsigned kBatch = 12;

__device__ __forceinline__ int strided_sum(const int* values, size_t n) {
  int sum = 0;
  const int stride = kThreads * gridDim.x;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += stride) sum += values[i];
  return sum;
}

/// Sum of the block's values; valid in thread 0.
__device__ __forceinline__ int block_sum(int* sums, int mine) {
  const int me = threadIdx.x;
  sums[me] = mine;
  __syncthreads();
#pragma unroll
  for (int half = kThreads / 2; half > 32; half /= 2) {
    if (me < half) sums[me] += sums[me + half];
    __syncthreads();
  }
  volatile int* const last = sums;
#pragma unroll
  for (int half = 32; half > 0; half /= 2) {
    if (me < half) last[me] += last[me + half];
    __syncwarp();
  }
  return last[me];
}

extern "C" __global__ void reduce_tree(const int* values, int* to, size_t n) {
  __shared__ int sums[kThreads];
  const int me = threadIdx.x;
  sums[me] = strided_sum(values, n);
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (me < half) sums[me] += sums[me + half];
    __syncthreads();
  }
  if (me == 0) to[blockIdx.x] = sums[0];
}

extern "C" __global__ void reduce_short_tree(const int* values, int* to, size_t n) {
  __shared__ int sums[kThreads];
  const int sum = block_sum(sums, strided_sum(values, n));
  if (threadIdx.x == 0) to[blockIdx.x] = sum;
}

extern "C" __global__ void reduce_atomic(const int* values, int* to, size_t n) {
  __shared__ int sums[kThreads];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const int sum = block_sum(sums, i < n ? values[i] : 0);
  if (threadIdx.x == 0) atomicAdd(to, sum);
}

extern "C" __global__ void reduce_batch(const int* values, int* to, size_t n) {
  __shared__ int sums[kThreads];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  int mine = 0;
  if (i < n) {
#pragma unroll
    for (unsigned j = 0; j < kBatch; ++j)
      if (i * kBatch + j < n) mine += values[i * kBatch + j];
  }
  const int sum = block_sum(sums, mine);
  if (threadIdx.x == 0) atomicAdd(to, sum);
}
