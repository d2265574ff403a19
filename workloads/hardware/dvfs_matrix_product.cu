// Product of matrices through tiles of 32 x 32 in shared memory: matrixMulCUDA of the CUDA samples, as timed
// on a V100 (blackjack2015/NV-DVFS-Benchmark). The same: blocks of 32 x 32 threads, a result each, no
// bounds, the loop over a tile unrolled, offsets of both tiles kept in the loop.
constexpr int kTile = 32;

extern "C" __global__ void multiply_tiles(float* c, float* a, float* b, int a_columns, int b_columns) {
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int a_first = a_columns * kTile * blockIdx.y;
  const int a_last = a_first + a_columns - 1;
  float sum = 0;
  for (int from_a = a_first, from_b = kTile * blockIdx.x; from_a <= a_last;
       from_a += kTile, from_b += kTile * b_columns) {
    __shared__ float tile_a[kTile][kTile];
    __shared__ float tile_b[kTile][kTile];
    tile_a[y][x] = a[from_a + a_columns * y + x];
    tile_b[y][x] = b[from_b + b_columns * y + x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();
  }
  c[b_columns * kTile * blockIdx.y + kTile * blockIdx.x + b_columns * y + x] = sum;
}
