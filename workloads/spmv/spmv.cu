// Sparse matrix times vector, matrix in compressed sparse rows: one thread per row, or one warp per row with a warp-synchronous
// sum (Bell and Garland 2008). The PTX files beside this source are written as nvcc 2.3 for a 32-bit host would have written
// them for sm_13 (PTX 1.4).

extern "C" __global__ void spmv_csr_scalar(float* y, const int* row_start, const int* column, const float* value, const float* x, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = row_start[row]; i < row_start[row + 1]; ++i) sum += value[i] * x[column[i]];
  y[row] = sum;
}

// Blocks of 128 threads, 4 rows a block.
extern "C" __global__ void spmv_csr_vector(float* y, const int* row_start, const int* column, const float* value, const float* x, int rows) {
  __shared__ volatile float part[128];
  const int tid = threadIdx.x, lane = tid & 31, row = blockIdx.x * 4 + (tid >> 5);
  if (row >= rows) return;
  float sum = 0;
  for (int i = row_start[row] + lane; i < row_start[row + 1]; i += 32) sum += value[i] * x[column[i]];
  part[tid] = sum;
  if (lane >= 16) return;  // the words behind are another warp's
  part[tid] = sum = sum + part[tid + 16];
  part[tid] = sum = sum + part[tid + 8];
  part[tid] = sum = sum + part[tid + 4];
  part[tid] = sum = sum + part[tid + 2];
  sum = sum + part[tid + 1];
  if (lane == 0) y[row] = sum;
}

// The same in a grid of two dimensions, for more rows than a grid of one has warps.
extern "C" __global__ void spmv_csr_vector_plane(float* y, const int* row_start, const int* column, const float* value, const float* x, int rows) {
  __shared__ volatile float part[128];
  const int tid = threadIdx.x, lane = tid & 31, row = (blockIdx.y * gridDim.x + blockIdx.x) * 4 + (tid >> 5);
  if (row >= rows) return;
  float sum = 0;
  for (int i = row_start[row] + lane; i < row_start[row + 1]; i += 32) sum += value[i] * x[column[i]];
  part[tid] = sum;
  if (lane >= 16) return;  // the words behind are another warp's
  part[tid] = sum = sum + part[tid + 16];
  part[tid] = sum = sum + part[tid + 8];
  part[tid] = sum = sum + part[tid + 4];
  part[tid] = sum = sum + part[tid + 2];
  sum = sum + part[tid + 1];
  if (lane == 0) y[row] = sum;
}

// Any number of blocks: each takes every gridDim.x-th piece of as many rows as it has threads.
extern "C" __global__ void spmv_csr_blocks(float* y, const int* row_start, const int* column, const float* value, const float* x, int rows) {
  for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x) {
    float sum = 0;
    for (int i = row_start[row]; i < row_start[row + 1]; ++i) sum += value[i] * x[column[i]];
    y[row] = sum;
  }
}

// By segmented scan (Blelloch, Heroux and Zagha 1993): a thread per value, whatever the rows are like. First the row of each value.
extern "C" __global__ void spmv_expand_rows(int* row_of, float* y, const int* row_start, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  y[row] = 0;
  for (int i = row_start[row]; i < row_start[row + 1]; ++i) row_of[i] = row;
}

// Tiles of 256 values: products, and their running sums within rows. Rows that end inside of the tile are done; what the last row of the
// tile has here is carried.
extern "C" __global__ void spmv_segmented_tiles(float* y, float* carry, int* carry_row, const int* row_of, const int* column,
                                                const float* value, const float* x, int values) {
  __shared__ volatile float sum[256];
  __shared__ volatile int row_at[256];
  const int tid = threadIdx.x, i = blockIdx.x * 256 + tid;
  float own = 0;
  int row = -1;
  if (i < values) {
    row = row_of[i];
    own = value[i] * x[column[i]];
  }
  sum[tid] = own;
  row_at[tid] = row;
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    float left = 0;
    if (tid >= d && row_at[tid - d] == row) left = sum[tid - d];
    __syncthreads();
    own += left;
    sum[tid] = own;
    __syncthreads();
  }
  if (i >= values) return;
  if (tid == 255 || i == values - 1) {
    carry[blockIdx.x] = own;
    carry_row[blockIdx.x] = row;
  } else if (row_at[tid + 1] != row) {
    y[row] = own;
  }
}

// Adds to a row what the tiles before its end carry: the first of them does it.
extern "C" __global__ void spmv_segmented_carries(float* y, const float* carry, const int* carry_row, int tiles) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  if (first >= tiles) return;
  const int row = carry_row[first];
  if (first > 0 && carry_row[first - 1] == row) return;
  float sum = carry[first];
  for (int tile = first + 1; tile < tiles && carry_row[tile] == row; ++tile) sum += carry[tile];
  y[row] += sum;
}
