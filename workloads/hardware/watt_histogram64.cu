// Counts of the upper six bits of bytes: histogram64Kernel of the CUDA samples, as profiled on a V100
// (accel-sim, AccelWattch). The same: blocks of 64 threads, a counter of a byte for each thread and bin in 4
// KB of shared memory, laid out so that the threads of a half-warp meet different words, 16 bytes a load, at
// most 15 loads a thread so that no byte overflows; then a thread adds the 64 counters of a bin.
constexpr unsigned kThreads = 64;
constexpr unsigned kBins = 64;

__device__ __forceinline__ void count_word(unsigned char* mine, unsigned word) {
  ++mine[((word >> 2) & 63) * kThreads];
  ++mine[((word >> 10) & 63) * kThreads];
  ++mine[((word >> 18) & 63) * kThreads];
  ++mine[(word >> 26) * kThreads];
}

extern "C" __global__ void count_six_bits(unsigned* partial, uint4* data, unsigned count) {
  __shared__ unsigned char counts[kThreads * kBins];
  const unsigned place = (threadIdx.x & ~63u) | ((threadIdx.x & 15) << 2) | ((threadIdx.x & 48) >> 4);
  unsigned char* const mine = counts + place;
#pragma unroll
  for (unsigned i = 0; i < kBins / 4; ++i)
    reinterpret_cast<unsigned*>(counts)[threadIdx.x + i * kThreads] = 0;
  __syncthreads();
  for (unsigned at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += blockDim.x * gridDim.x) {
    const uint4 words = data[at];
    count_word(mine, words.x);
    count_word(mine, words.y);
    count_word(mine, words.z);
    count_word(mine, words.w);
  }
  __syncthreads();
  if (threadIdx.x < kBins) {
    const unsigned char* const bin = counts + threadIdx.x * kThreads;
    unsigned sum = 0;
    unsigned at = 4 * (threadIdx.x & 15);
#pragma unroll
    for (unsigned i = 0; i < kThreads / 4; ++i) {
      sum += bin[at] + bin[at + 1] + bin[at + 2] + bin[at + 3];
      at = (at + 4) & (kThreads - 1);
    }
    partial[blockIdx.x * kBins + threadIdx.x] = sum;
  }
}
