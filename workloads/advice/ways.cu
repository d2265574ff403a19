// Four kinds of work, chosen by the lane, and by the warp.
__device__ float work(float x, float a, float b, int steps, int kind) {
  switch (kind) {
    case 0:
      for (int s = 0; s < steps; ++s) x = a * x + b;
      break;
    case 1:
      for (int s = 0; s < steps; ++s) x = (x - b) * a;
      break;
    case 2:
      for (int s = 0; s < steps; ++s) x = fmaxf(x, b) * a;
      break;
    default:
      for (int s = 0; s < steps; ++s) x = a * (a * x + b) - b;
  }
  return x;
}

extern "C" __global__ void before(float* out, const float* in, float a, float b, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = work(in[i], a, b, steps, i % 4);
}

extern "C" __global__ void after(float* out, const float* in, float a, float b, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = work(in[i], a, b, steps, i / 32 % 4);
}
