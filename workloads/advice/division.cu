// Divisions and square roots, rounded to the nearest, and approximate ones of a few ulp.
extern "C" __global__ void before(float* out, const float* in, float a, float b, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  for (int s = 0; s < steps; ++s) x = x / a + sqrtf(b * x);
  out[i] = x;
}

__device__ float quick_root(float x) {
  float root;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}

extern "C" __global__ void after(float* out, const float* in, float a, float b, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  for (int s = 0; s < steps; ++s) x = __fdividef(x, a) + quick_root(b * x);
  out[i] = x;
}
