// Single-precision math functions; compiled as it is, and as fast_math.cu with -use_fast_math.
#include <math.h>

extern "C" __global__ void unary(float* out, const float* x, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i], p = fabsf(v) + 0.125f;
  float* o = out + 20 * i;
  o[0] = sinf(v);
  o[1] = cosf(v);
  o[2] = expf(v / 8);
  o[3] = exp2f(v / 4);
  o[4] = logf(p);
  o[5] = log2f(p);
  o[6] = log10f(p);
  o[7] = sqrtf(p);
  o[8] = rsqrtf(p);
  o[9] = powf(p, 0.75f);
  o[10] = tanf(v / 32);
  o[11] = floorf(v) + truncf(v / 2);
  o[12] = 1.0f / p;
  o[13] = cbrtf(p);
  o[14] = atanf(v);
  o[15] = asinf(v / 64);
  o[16] = erff(v / 8);
  o[17] = expm1f(p / 16);
  o[18] = log1pf(p);
  o[19] = erfcf(v / 16);
}

// Apart, because -use_fast_math makes it a coarse approximation.
extern "C" __global__ void hyperbolic(float* out, const float* x, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tanhf(x[i] / 8);
}
