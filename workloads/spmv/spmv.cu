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
