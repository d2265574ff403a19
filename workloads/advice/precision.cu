// The same arithmetic in double and in single precision.
template <class Real>
__device__ void iterate(float* out, const float* in, Real a, Real b, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  Real x = in[i], y = x + b;
  for (int s = 0; s < steps; ++s) {
    x = a * x + b;
    y = a * y + b;
  }
  out[i] = static_cast<float>((x + y) * static_cast<Real>(0.5));
}

extern "C" __global__ void before(float* out, const float* in, double a, double b, int steps) {
  iterate<double>(out, in, a, b, steps);
}

extern "C" __global__ void after(float* out, const float* in, float a, float b, int steps) {
  iterate<float>(out, in, a, b, steps);
}
