// Loops of different lengths: every lane of a warp has another one, and all lanes the same.
__device__ float iterate(float x, float a, float b, int steps) {
  for (int s = 0; s < steps; ++s) x = a * x + b;
  return x;
}

extern "C" __global__ void before(float* out, const float* in, float a, float b, int unit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = iterate(in[i], a, b, unit * (i % 32));
}

extern "C" __global__ void after(float* out, const float* in, float a, float b, int unit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = iterate(in[i], a, b, unit * (i / 32 % 32));
}
