// Sparse matrix times vector with padded rows stored by columns (ELL; Bell and Garland 2008), and the
// conversion from compressed sparse rows: element k of a row lies at k * rows + row, rows are padded to
// `width` with zeros in column 0. One thread per row. ell.ptx is written as nvcc 2.3 for a 32-bit host would
// have written it for sm_13 (PTX 1.4).

extern "C" __global__ void csr_to_ell(int* ell_column, float* ell_value, const int* row_start,
                                      const int* column, const float* value, int rows, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int i = row_start[row];
  const int end = row_start[row + 1];
  for (int k = 0, to = row; k < width; ++k, ++i, to += rows) {
    ell_column[to] = i < end ? column[i] : 0;
    ell_value[to] = i < end ? value[i] : 0;
  }
}

extern "C" __global__ void spmv_ell(float* y, const int* column, const float* value, const float* x, int rows,
                                    int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = 0, i = row; k < width; ++k, i += rows) sum += value[i] * x[column[i]];
  y[row] = sum;
}
