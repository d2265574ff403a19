// Counts of bytes without atomics: histogram256Kernel and mergeHistogram256Kernel of the CUDA samples, as
// timed on a V100 (blackjack2015/NV-DVFS-Benchmark, where USE_SMEM_ATOMICS is 0). The same: 240 blocks of
// six warps, a histogram of 256 words for each warp in shared memory, a lane writes count plus one with its
// tag in the upper five bits and tries again until it reads back what it wrote; words of four bytes read
// with a stride of the grid; then a block adds the 240 partial counts of a bin. Data: random bytes.
constexpr unsigned kWarps = 6;
constexpr unsigned kThreads = 32 * kWarps;
constexpr unsigned kCount = (1u << 27) - 1;

__device__ __forceinline__ void count_byte(volatile unsigned* counts, unsigned byte, unsigned tag) {
  unsigned mine;
  do {
    mine = tag | ((counts[byte] & kCount) + 1);
    counts[byte] = mine;
  } while (counts[byte] != mine);
}

extern "C" __global__ void count_bytes(unsigned* partial, unsigned* words, unsigned count) {
  __shared__ unsigned all_counts[256 * kWarps];
  unsigned* const counts = all_counts + (threadIdx.x / 32) * 256;
#pragma unroll
  for (unsigned i = 0; i < 256 * kWarps / kThreads; ++i) all_counts[threadIdx.x + i * kThreads] = 0;
  const unsigned tag = threadIdx.x << 27;
  __syncthreads();
  for (unsigned at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += blockDim.x * gridDim.x) {
    const unsigned word = words[at];
    count_byte(counts, word & 0xff, tag);
    count_byte(counts, (word >> 8) & 0xff, tag);
    count_byte(counts, (word >> 16) & 0xff, tag);
    count_byte(counts, word >> 24, tag);
  }
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < 256; bin += kThreads) {
    unsigned sum = 0;
    for (unsigned warp = 0; warp < kWarps; ++warp) sum += all_counts[bin + warp * 256] & kCount;
    partial[blockIdx.x * 256 + bin] = sum;
  }
}

extern "C" __global__ void add_counts(unsigned* total, unsigned* partial, unsigned parts) {
  __shared__ unsigned sums[256];
  unsigned sum = 0;
  for (unsigned i = threadIdx.x; i < parts; i += 256) sum += partial[blockIdx.x + i * 256];
  sums[threadIdx.x] = sum;
  for (unsigned half = 128; half > 0; half >>= 1) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) total[blockIdx.x] = sums[0];
}
