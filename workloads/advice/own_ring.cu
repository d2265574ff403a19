// The mean of the last eight values, which a thread keeps in a ring of its own: at an index that the loop counts, so
// that the ring is in local memory, and in a loop unrolled by the ring's length, so that it is in registers.
constexpr int kRing = 8;

extern "C" __global__ void before(float* out, const float* in, float a, float b, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float ring[kRing] = {}, sum = 0, x = in[i];
#pragma unroll 1
  for (int s = 0; s < steps; ++s) {
    x = a * x + b;
    sum += x - ring[s % kRing];
    ring[s % kRing] = x;
  }
  out[i] = sum / kRing;
}

extern "C" __global__ void after(float* out, const float* in, float a, float b, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float ring[kRing] = {}, sum = 0, x = in[i];
#pragma unroll 1
  for (int s = 0; s < steps; s += kRing)
#pragma unroll
    for (int r = 0; r < kRing; ++r) {
      x = a * x + b;
      sum += x - ring[r];
      ring[r] = x;
    }
  out[i] = sum / kRing;
}
