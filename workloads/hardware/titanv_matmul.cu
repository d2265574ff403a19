// Products of square matrices: matmul_naive and matmul_tiled of the kernels timed on a TITAN V
// (Debdeep23/test1). The same: naive: a result a thread in blocks of 16 x 16, the dot product as a plain
// loop over global memory, unrolled by four and no further (the measured program has 32 registers, where
// nvcc 13 would unroll to 49); tiled: blocks of 32 x 32 threads, two tiles of 32 x 32 in shared memory,
// every load and store guarded by the size, the inner loop unrolled.
extern "C" __global__ void multiply_naive(const float* __restrict__ a, const float* __restrict__ b,
                                          float* __restrict__ c, int size) {
  const int row = threadIdx.y + blockDim.y * blockIdx.y;
  const int column = threadIdx.x + blockDim.x * blockIdx.x;
  if (row >= size || column >= size) return;
  float sum = 0;
#pragma unroll 4
  for (int i = 0; i < size; ++i) sum += a[size * row + i] * b[size * i + column];
  c[size * row + column] = sum;
}

constexpr int kTile = 32;

extern "C" __global__ void multiply_tiled(const float* __restrict__ a, const float* __restrict__ b,
                                          float* __restrict__ c, int size) {
  __shared__ float tile_a[kTile][kTile];
  __shared__ float tile_b[kTile][kTile];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int row = kTile * blockIdx.y + y;
  const int column = kTile * blockIdx.x + x;
  float sum = 0;
  for (int start = 0; start < size; start += kTile) {
    tile_a[y][x] = row < size && start + x < size ? a[size * row + start + x] : 0;
    tile_b[y][x] = start + y < size && column < size ? b[size * (start + y) + column] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();
  }
  if (row < size && column < size) c[size * row + column] = sum;
}
