// Arithmetic on every element, in blocks of 1024 threads of which a few are left over for a second wave, and
// in blocks of 128 (the launch files differ).
extern "C" __global__ void iterate(float* out, const float* in, float a, float b, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  for (int s = 0; s < steps; ++s) x = a * x + b;
  out[i] = x;
}
