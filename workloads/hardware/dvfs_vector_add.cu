// Sum of two vectors: vectorAdd of the CUDA samples, as timed on a V100 (blackjack2015/NV-DVFS-Benchmark).
// The same: an element a thread, blocks of 256, inputs that may be aliases of the result.
extern "C" __global__ void add(const float* x, const float* y, float* sum, int count) {
  const int at = blockDim.x * blockIdx.x + threadIdx.x;
  if (at < count) sum[at] = x[at] + y[at];
}
