// Values in single precision, with constants of double precision, which no suffix makes single, and with such as have it.
extern "C" __global__ void before(float* out, const float* in, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  for (int s = 0; s < steps; ++s) x = x * 0.5 + 0.25 * (x + x);
  out[i] = x;
}

extern "C" __global__ void after(float* out, const float* in, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  for (int s = 0; s < steps; ++s) x = x * 0.5f + 0.25f * (x + x);
  out[i] = x;
}
