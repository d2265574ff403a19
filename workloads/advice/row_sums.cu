// Sums of rows of 64 elements: a thread walks along its row, and a warp takes a row together.
constexpr int kRow = 64;

extern "C" __global__ void before(float* sums, const float* in) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < kRow; ++i) sum += in[row * kRow + i];
  sums[row] = sum;
}

extern "C" __global__ void after(float* sums, const float* in) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  float sum = in[row * kRow + lane] + in[row * kRow + 32 + lane];
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
  if (lane == 0) sums[row] = sum;
}
