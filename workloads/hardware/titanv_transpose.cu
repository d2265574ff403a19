// Transpose without a tile: naive_transpose of the kernels timed on a TITAN V (Debdeep23/test1). The same:
// an element a thread in blocks of 16 x 16, reads along the rows, writes down the columns.
extern "C" __global__ void transpose_plain(const float* __restrict__ from, float* __restrict__ to, int rows,
                                           int columns) {
  const int row = threadIdx.y + blockDim.y * blockIdx.y;
  const int column = threadIdx.x + blockDim.x * blockIdx.x;
  if (row < rows && column < columns) to[column * rows + row] = from[row * columns + column];
}
