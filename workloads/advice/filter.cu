// A filter of 5 x 5: every thread reads its neighbourhood from global memory, and from a tile in shared memory.
constexpr int kTile = 16, kRadius = 2, kWidth = 2 * kRadius + 1, kSide = kTile + 2 * kRadius;

__device__ float element(const float* in, int rows, int columns, int y, int x) {
  return y < 0 || x < 0 || y >= rows || x >= columns ? 0.0f : in[y * columns + x];
}

__device__ void load_filter(float* own, const float* weights) {
  const int t = threadIdx.y * kTile + threadIdx.x;
  if (t < kWidth * kWidth) own[t] = weights[t];
}

extern "C" __global__ void before(float* out, const float* in, const float* weights, int rows, int columns) {
  __shared__ float own[kWidth * kWidth];
  load_filter(own, weights);
  __syncthreads();
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  float sum = 0;
  for (int i = 0; i < kWidth; ++i)
    for (int j = 0; j < kWidth; ++j)
      sum += own[i * kWidth + j] * element(in, rows, columns, y + i - kRadius, x + j - kRadius);
  out[y * columns + x] = sum;
}

extern "C" __global__ void after(float* out, const float* in, const float* weights, int rows, int columns) {
  __shared__ float own[kWidth * kWidth], tile[kSide][kSide];
  load_filter(own, weights);
  const int left = blockIdx.x * kTile - kRadius, top = blockIdx.y * kTile - kRadius;
  for (int i = threadIdx.y; i < kSide; i += kTile)
    for (int j = threadIdx.x; j < kSide; j += kTile) tile[i][j] = element(in, rows, columns, top + i, left + j);
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < kWidth; ++i)
    for (int j = 0; j < kWidth; ++j) sum += own[i * kWidth + j] * tile[threadIdx.y + i][threadIdx.x + j];
  out[(blockIdx.y * kTile + threadIdx.y) * columns + blockIdx.x * kTile + threadIdx.x] = sum;
}
