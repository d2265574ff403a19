// Bitonic sort of N words, N a power of two from 1024: blocks of 512 threads sort 1024 words in shared
// memory; steps that go further apart are launches of their own. bitonic.ptx is what nvcc 13 makes of this:
// nvcc -ptx -arch=compute_75

constexpr int kThreads = 512, kWords = 2 * kThreads;

// Sorts the pair that thread t has at distance j, upwards where bit `size` of its place is 0.
__device__ void compare(unsigned* word, int t, int j, int size, int first) {
  const int low = 2 * t - (t & (j - 1)), high = low + j;
  const unsigned a = word[low], b = word[high];
  const bool up = ((first + low) & size) == 0;
  if ((a > b) == up) {
    word[low] = b;
    word[high] = a;
  }
}

// All steps with distances below kWords of the sorted sizes `from` to `to`.
extern "C" __global__ void bitonic_shared(unsigned* words, int N, int from, int to) {
  __shared__ unsigned word[kWords];
  if (to > N) return;
  const int t = threadIdx.x, first = blockIdx.x * kWords;
  word[t] = words[first + t];
  word[t + kThreads] = words[first + t + kThreads];
  for (int size = from; size <= to; size *= 2) {
    for (int j = min(size / 2, kThreads); j > 0; j /= 2) {
      __syncthreads();
      compare(word, t, j, size, first);
    }
  }
  __syncthreads();
  words[first + t] = word[t];
  words[first + t + kThreads] = word[t + kThreads];
}

extern "C" __global__ void bitonic_step(unsigned* words, int N, int size, int j) {
  if (size <= N) compare(words, blockIdx.x * kThreads + threadIdx.x, j, size, 0);
}
