// Two kinds of work: even and odd lanes, and even and odd warps.
__device__ float work(float x, float a, float b, int steps, bool first) {
  if (first)
    for (int s = 0; s < steps; ++s) x = a * x + b;
  else
    for (int s = 0; s < steps; ++s) x = (x + b) * a;
  return x;
}

extern "C" __global__ void before(float* out, const float* in, float a, float b, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = work(in[i], a, b, steps, i % 2 == 0);
}

extern "C" __global__ void after(float* out, const float* in, float a, float b, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = work(in[i], a, b, steps, i / 32 % 2 == 0);
}
