// Twenty values of each thread, all in use at the same time. The launch files differ in the registers.
constexpr int kValues = 20;

extern "C" __global__ void mix(float* out, const float* in, float a, float b, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v[kValues];
  for (int k = 0; k < kValues; ++k) v[k] = in[i] + static_cast<float>(k) * b;
#pragma unroll 1
  for (int s = 0; s < steps; ++s)
#pragma unroll
    for (int k = 0; k < kValues; ++k) v[k] = a * v[k] + b * v[(k + 1) % kValues];
  float sum = 0;
  for (int k = 0; k < kValues; ++k) sum += v[k];
  out[i] = sum * (1.0f / kValues);
}
