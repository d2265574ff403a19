// Reciprocals of roots, rounded to the nearest, and approximate.
extern "C" __global__ void before(float* out, const float* in, float start, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = in[i];
  float y = start;
  for (int s = 0; s < steps; ++s) y = (1.0f / sqrtf(y)) * 0.5f + 0.5f;
  out[i] = x * y;
}

extern "C" __global__ void after(float* out, const float* in, float start, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = in[i];
  float y = start;
  for (int s = 0; s < steps; ++s) y = rsqrtf(y) * 0.5f + 0.5f;
  out[i] = x * y;
}
