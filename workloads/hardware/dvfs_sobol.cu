// Sobol's quasirandom numbers: sobolGPU_kernel of the CUDA samples, as timed on a V100 (blackjack2015/NV-DVFS-Benchmark).
// The same: a block of 64 threads for each dimension, which strides over the vectors by 64; its 32 direction numbers in shared
// memory; the first number of a thread from the Gray code of its index, each later one from the one 64 before it by two direction
// numbers. Not the same: the direction numbers, which take part in no decision.
constexpr int kDirections = 32;

extern "C" __global__ void sobol(unsigned vectors, unsigned dimensions, unsigned* directions, float* output) {
  __shared__ unsigned direction[kDirections];
  directions += kDirections * blockIdx.y;
  output += vectors * blockIdx.y;
  if (threadIdx.x < kDirections) direction[threadIdx.x] = directions[threadIdx.x];
  __syncthreads();
  const int first = threadIdx.x + blockIdx.x * blockDim.x;
  const int stride = gridDim.x * blockDim.x;
  const float scale = 2.3283064e-10F;
  unsigned gray = first ^ (first >> 1);
  unsigned value = 0;
  for (unsigned bit = 0; bit < __ffs(stride) - 1; ++bit) {
    value ^= -(gray & 1) & direction[bit];
    gray >>= 1;
  }
  if (first < vectors) output[first] = (float)value * scale;
  const unsigned of_stride = direction[__ffs(stride) - 2];
  const unsigned below = stride - 1;
  for (unsigned at = first + stride; at < vectors; at += stride) {
    value ^= of_stride ^ direction[__ffs(~((at - stride) | below)) - 1];
    output[at] = (float)value * scale;
  }
}
