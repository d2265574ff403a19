// Reads and writes of global and shared memory: SHOC's DeviceMemory (vetter/shoc). The same: 32768 threads,
// sixteen accesses of a word unrolled in a loop, indices that wrap around at the size (a power of two) by a
// mask. Coalesced: a thread's accesses are 32768 words apart, so the threads sweep the buffer together.
// Strided: a thread starts 512 words behind its neighbour and walks from word to word. Shared: 2048 words,
// which the block fills first, and a thread starts at its own number. The suite tries blocks of 32 to 512
// threads and reports the best. Different: fewer rounds.
constexpr int kThreads = 32768;
constexpr int kShared = 2048;

template <int kStart, int kStep, int kNext>
__device__ float read_words(const float* data, int first, int mask, int rounds) {
  int s = first * kStart;
  float total = 0;
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const float word = data[(s + k * kStep) & mask];
      sum = k == 0 ? word : sum + word;
    }
    total += sum;
    s = (s + kNext) & mask;
  }
  return total;
}

template <int kStart, int kStep, int kNext>
__device__ void write_words(float* data, int first, int mask, int rounds, float value) {
  int s = first * kStart;
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 16; ++k) data[(s + k * kStep) & mask] = value;
    s = (s + kNext) & mask;
  }
}

extern "C" __global__ void read_coalesced(const float* data, float* out, int size, int rounds) {
  const int i = threadIdx.x + blockDim.x * blockIdx.x;
  out[i] = read_words<1, kThreads, 16 * kThreads>(data, i, size - 1, rounds);
}

extern "C" __global__ void read_strided(const float* data, float* out, int size, int rounds) {
  const int i = threadIdx.x + blockDim.x * blockIdx.x;
  out[i] = read_words<512, 1, 16>(data, i, size - 1, rounds);
}

extern "C" __global__ void write_coalesced(float* out, int size, int rounds) {
  const int i = threadIdx.x + blockDim.x * blockIdx.x;
  write_words<1, kThreads, 16 * kThreads>(out, i, size - 1, rounds, static_cast<float>(i));
}

extern "C" __global__ void write_strided(float* out, int size, int rounds) {
  const int i = threadIdx.x + blockDim.x * blockIdx.x;
  write_words<512, 1, 16>(out, i, size - 1, rounds, static_cast<float>(i));
}

extern "C" __global__ void read_shared(const float* data, float* out, int rounds) {
  __shared__ float words[kShared];
  const int share = kShared / blockDim.x;
  for (int j = 0; j < share; ++j)
    words[threadIdx.x * share + j] = data[blockDim.x * blockIdx.x + threadIdx.x * share + j];
  __syncthreads();
  out[threadIdx.x + blockDim.x * blockIdx.x] = read_words<1, 1, 16>(words, threadIdx.x, kShared - 1, rounds);
}

extern "C" __global__ void write_shared(float* out, int rounds) {
  __shared__ float words[kShared];
  const int i = threadIdx.x + blockDim.x * blockIdx.x;
  write_words<1, 1, 16>(words, threadIdx.x, kShared - 1, rounds, static_cast<float>(i));
  __syncthreads();
  out[i] = words[threadIdx.x];
}
