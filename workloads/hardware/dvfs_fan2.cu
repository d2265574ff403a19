// The first step of Gaussian elimination on all rows below the first: Fan2 of Rodinia's gaussian, as timed
// on a V100 (blackjack2015/NV-DVFS-Benchmark). The same: blocks of 4 x 4 threads (half a warp), threads that
// follow each other take rows, not columns, so each access of a warp touches four rows; bounds as two early
// returns; the right-hand side with the first column. The grid's second dimension may be cut: blocks go
// along the rows first.
extern "C" __global__ void eliminate(float* factors, float* matrix, float* right_side, int size, int step) {
  if (threadIdx.x + blockIdx.x * blockDim.x >= size - 1 - step) return;
  if (threadIdx.y + blockIdx.y * blockDim.y >= size - step) return;
  const int row = blockIdx.x * blockDim.x + threadIdx.x + 1 + step;
  const int column = blockIdx.y * blockDim.y + threadIdx.y + step;
  matrix[size * row + column] -= factors[size * row + step] * matrix[size * step + column];
  if (column == step) right_side[row] -= factors[size * row + column] * right_side[step];
}
