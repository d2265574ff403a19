// Scalar products of many pairs of vectors: scalarProdGPU of the CUDA samples, as timed on a V100
// (blackjack2015/NV-DVFS-Benchmark). The same: 128 blocks of 256 threads take vectors in turn; 1024 partial
// sums in shared memory, four a thread one after the other, each over every 1024th element; then halves are
// folded with a loop and a barrier each step.
constexpr int kSums = 1024;

extern "C" __global__ void scalar_products(float* result, float* x, float* y, int vectors, int length) {
  __shared__ float sums[kSums];
  for (int vector = blockIdx.x; vector < vectors; vector += gridDim.x) {
    const int first = __mul24(length, vector);
    const int last = first + length;
    for (int mine = threadIdx.x; mine < kSums; mine += blockDim.x) {
      float sum = 0;
      for (int at = first + mine; at < last; at += kSums) sum += x[at] * y[at];
      sums[mine] = sum;
    }
    for (int half = kSums / 2; half > 0; half >>= 1) {
      __syncthreads();
      for (int mine = threadIdx.x; mine < half; mine += blockDim.x) sums[mine] += sums[half + mine];
    }
    if (threadIdx.x == 0) result[vector] = sums[0];
  }
}
