// A tile of shared memory transposed again and again: columns of 32 words lie in one bank, and of 33 in all.
constexpr int kTile = 32, kRows = 8;

template <int kPitch>
__device__ void transpose(float* out, const float* in, int rows, int columns, int rounds) {
  __shared__ float tile[kTile * kPitch];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  float kept[kTile / kRows];
  for (int j = 0; j < kTile / kRows; ++j) kept[j] = in[(y + kRows * j) * columns + x];
  for (int round = 0; round < rounds; ++round) {
    for (int j = 0; j < kTile / kRows; ++j) tile[(threadIdx.y + kRows * j) * kPitch + threadIdx.x] = kept[j];
    __syncthreads();
    for (int j = 0; j < kTile / kRows; ++j) kept[j] = tile[threadIdx.x * kPitch + threadIdx.y + kRows * j];
    __syncthreads();
  }
  const int u = blockIdx.y * kTile + threadIdx.x, v = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile / kRows; ++j) out[(v + kRows * j) * rows + u] = kept[j];
}

extern "C" __global__ void before(float* out, const float* in, int rows, int columns, int rounds) {
  transpose<kTile>(out, in, rows, columns, rounds);
}

extern "C" __global__ void after(float* out, const float* in, int rows, int columns, int rounds) {
  transpose<kTile + 1>(out, in, rows, columns, rounds);
}
