// A chain of arithmetic a thread, in 40 large blocks for 80 SMs, and in 640 small ones (the launch files differ).
extern "C" __global__ void iterate(float* out, const float* in, float a, float b, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  for (int s = 0; s < steps; ++s) x = a * x + b;
  out[i] = x;
}
