// Values by the sum of eight of a thread: read again for it, and kept in registers.
constexpr unsigned kValues = 8;

extern "C" __global__ void before(float* out, const volatile float* in, unsigned threads) {
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (unsigned k = 0; k < kValues; ++k) sum += in[first + k * threads];
  const float scale = 1 / sum;
  for (unsigned k = 0; k < kValues; ++k) out[first + k * threads] = in[first + k * threads] * scale;
}

extern "C" __global__ void after(float* out, const float* in, unsigned threads) {
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  float values[kValues], sum = 0;
  for (unsigned k = 0; k < kValues; ++k) sum += values[k] = in[first + k * threads];
  const float scale = 1 / sum;
  for (unsigned k = 0; k < kValues; ++k) out[first + k * threads] = values[k] * scale;
}
