// Prices of options on a binomial tree, in double precision: binomialOptionsKernel of the CUDA samples (the
// version with two shared buffers), as timed on a V100 (blackjack2015/NV-DVFS-Benchmark). The same: an
// option a block of 256 threads, its data in constant memory, the tree's present level in global memory;
// pieces of 224 nodes (and 32 more) are brought to shared memory, taken 32 levels down with a barrier a
// level, all threads computing, and put back. Not the same: the number of levels is an argument, not a
// constant, and the level's buffer comes as an argument.
constexpr int kThreads = 256;
constexpr int kLevels = 32;
constexpr int kPiece = kThreads - kLevels;

struct Option {
  double price;
  double strike;
  double step;
  double up;
  double down;
};
__constant__ Option options[1024];

extern "C" __global__ void binomial(double* levels, float* values, int steps) {
  __shared__ double even[kThreads + 1];
  __shared__ double odd[kThreads + 1];
  double* const level = levels + blockIdx.x * (steps + 16);
  const int me = threadIdx.x;
  const double price = options[blockIdx.x].price;
  const double strike = options[blockIdx.x].strike;
  const double step = options[blockIdx.x].step;
  const double up = options[blockIdx.x].up;
  const double down = options[blockIdx.x].down;

  for (int i = me; i <= steps; i += kThreads) {
    const double gain = (float)price * expf((float)step * (2.0f * i - steps)) - (float)strike;
    level[i] = (float)(gain > 0 ? gain : 0);
  }
  for (int left = steps; left > 0; left -= kLevels) {
    for (int first = 0; first < left; first += kPiece) {
      const int last = min(kThreads - 1, left - first);
      const int stop = last - kLevels;
      __syncthreads();
      if (me <= last) even[me] = level[first + me];
      for (int k = last - 1; k >= stop; k -= 2) {
        __syncthreads();
        odd[me] = up * even[me + 1] + down * even[me];
        __syncthreads();
        even[me] = up * odd[me + 1] + down * odd[me];
      }
      __syncthreads();
      if (me <= stop) level[first + me] = even[me];
    }
  }
  if (me == 0) values[blockIdx.x] = (float)even[0];
}
