// Transpose of a ROWS x COLS matrix: naive (the writes of a half-warp go to 16 rows), and through a padded shared tile (reads and
// writes in rows; 17 words a row, so that the tile's columns have no bank conflicts). The PTX files beside this source are
// written as nvcc 2.3 for a 32-bit host would have written them for sm_13 (PTX 1.4).

#define TILE 16

extern "C" __global__ void transpose_naive(float* out, const float* in, int rows, int cols) {
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x < cols && y < rows) out[x * rows + y] = in[y * cols + x];
}

extern "C" __global__ void transpose_padded(float* out, const float* in, int rows, int cols) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x < cols && y < rows) tile[threadIdx.y][threadIdx.x] = in[y * cols + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
  if (x < rows && y < cols) out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}
