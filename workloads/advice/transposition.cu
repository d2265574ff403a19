// A matrix transposed: each warp writes down a column, and through a tile in shared memory.
constexpr int kTile = 32, kRows = 8;

extern "C" __global__ void before(float* out, const float* in, int rows, int columns) {
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) out[x * rows + y + j] = in[(y + j) * columns + x];
}

extern "C" __global__ void after(float* out, const float* in, int rows, int columns) {
  __shared__ float tile[kTile][kTile + 1];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * columns + x];
  __syncthreads();
  const int u = blockIdx.y * kTile + threadIdx.x, v = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) out[(v + j) * rows + u] = tile[threadIdx.x][threadIdx.y + j];
}
