// The functions of single_math.cu under -use_fast_math: approximations, flushed denormals.
#include "single_math.cu"

extern "C" __global__ void flushed(float* out, const float* x, const float* y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] * y[i] + 0.0f * y[i];
}
