// Prices of options on a binomial tree of 2048 levels, in single precision: binomialOptionsKernel of the
// CUDA samples 11, as profiled on a V100 (accel-sim, AccelWattch). The same: an option a block of 128
// threads, 16 neighbouring nodes a thread in registers, the border between threads exchanged through shared
// memory with two barriers a level, threads that are past the tree's edge idle, levels unrolled by 16,
// options in constant memory.
constexpr int kLevels = 2048;
constexpr int kThreads = 128;
constexpr int kNodes = kLevels / kThreads;

struct Option {
  float price;
  float strike;
  float step;
  float up;
  float down;
};
__constant__ Option options[1024];
__device__ float values[1024];

__device__ __forceinline__ float gain(const Option& o, int node) {
  const float d = o.price * __expf(o.step * (2.0f * node - kLevels)) - o.strike;
  return d > 0 ? d : 0;
}

extern "C" __global__ void binomial_in_registers() {
  __shared__ float border[kThreads + 1];
  const int me = threadIdx.x;
  const Option o = options[blockIdx.x];
  float node[kNodes + 1];
#pragma unroll
  for (int i = 0; i < kNodes; ++i) node[i] = gain(o, me * kNodes + i);
  if (me == 0) border[kThreads] = gain(o, kLevels);
  const int last = max(0, me * kNodes - 1);
#pragma unroll 16
  for (int level = kLevels; level > 0; --level) {
    border[me] = node[0];
    __syncthreads();
    node[kNodes] = border[me + 1];
    __syncthreads();
    if (level > last) {
#pragma unroll
      for (int i = 0; i < kNodes; ++i) node[i] = o.up * node[i + 1] + o.down * node[i];
    }
  }
  if (me == 0) values[blockIdx.x] = node[0];
}
