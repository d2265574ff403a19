// Arithmetic on four pieces that are copied to the device and back: one after the other, and in four streams
// (the launch files differ).
extern "C" __global__ void iterate(float* y, const float* x, float a, float b, int steps, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float v = x[i];
    for (int s = 0; s < steps; ++s) v = a * v + b;
    y[i] = v;
  }
}
