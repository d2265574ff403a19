// Sparse matrix times vector for machines with shuffles: compressed sparse rows with a thread or a warp per
// row, and padded rows stored by columns (ELL), converted on the device. formats.ptx is what nvcc 13 makes of
// this: nvcc -ptx -arch=compute_75

extern "C" __global__ void csr_scalar(float* y, const int* row_start, const int* column, const float* value,
                                      const float* x, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = row_start[row]; i < row_start[row + 1]; ++i) sum += value[i] * x[column[i]];
  y[row] = sum;
}

extern "C" __global__ void csr_vector(float* y, const int* row_start, const int* column, const float* value,
                                      const float* x, int rows) {
  const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  float sum = 0;
  for (int i = row_start[row] + lane; i < row_start[row + 1]; i += 32) sum += value[i] * x[column[i]];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (lane == 0) y[row] = sum;
}

// Element k of a row goes to k * rows + row; rows are padded to `width` with zeros in column 0.
extern "C" __global__ void csr_to_ell(int* ell_column, float* ell_value, const int* row_start,
                                      const int* column, const float* value, int rows, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const int first = row_start[row], length = row_start[row + 1] - first;
  for (int k = 0; k < width; ++k) {
    ell_column[k * rows + row] = k < length ? column[first + k] : 0;
    ell_value[k * rows + row] = k < length ? value[first + k] : 0;
  }
}

extern "C" __global__ void ell(float* y, const int* column, const float* value, const float* x, int rows,
                               int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = 0; k < width; ++k) sum += value[k * rows + row] * x[column[k * rows + row]];
  y[row] = sum;
}
