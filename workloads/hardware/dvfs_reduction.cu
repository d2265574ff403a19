// Sums of the pieces of 256 numbers by a tree in shared memory: reduce2 of the CUDA samples, as timed on a V100
// (blackjack2015/NV-DVFS-Benchmark). The same: a number a thread, half of the threads of the step before add in each of eight steps,
// with a barrier behind each, in a loop that does not know the block's size.
extern "C" __global__ void sum_pieces(float* values, float* sums, unsigned count) {
  extern __shared__ float piece[];
  const unsigned thread = threadIdx.x;
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  piece[thread] = at < count ? values[at] : 0;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
    if (thread < half) piece[thread] += piece[thread + half];
    __syncthreads();
  }
  if (thread == 0) sums[blockIdx.x] = piece[0];
}
