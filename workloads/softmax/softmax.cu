// Softmax of the rows of a matrix, one block a row, with maxima and sums by shuffles and shared memory.
// softmax.ptx is what nvcc 13 makes of this: nvcc -ptx -arch=compute_75
#include <cmath>

constexpr int kThreads = 128, kWarps = kThreads / 32;

template <typename Operation>
__device__ float over_block(float x, float* part, Operation operation) {
  for (int d = 16; d > 0; d /= 2) x = operation(x, __shfl_xor_sync(~0u, x, d));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
  __syncthreads();
  x = part[0];
  for (int w = 1; w < kWarps; ++w) x = operation(x, part[w]);
  return x;
}

extern "C" __global__ void softmax(float* out, const float* in, int columns) {
  __shared__ float part[2][kWarps];
  in += blockIdx.x * columns;
  out += blockIdx.x * columns;
  float most = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += kThreads) most = fmaxf(most, in[i]);
  most = over_block(most, part[0], [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += kThreads) sum += __expf(in[i] - most);
  const float scale = 1 / over_block(sum, part[1], [](float a, float b) { return a + b; });
  for (int i = threadIdx.x; i < columns; i += kThreads) out[i] = __expf(in[i] - most) * scale;
}
