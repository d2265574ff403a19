// 5-point stencil on a ROWS x COLS grid through a shared tile with a halo; the border keeps its values. Two launches make two
// steps, from A to B and back. The PTX beside this source is written as nvcc 2.3 for a 32-bit host would have written it for
// sm_13 (PTX 1.4).

#define TILE 16

extern "C" __global__ void stencil(float* out, const float* in, float center, float neighbour, int rows, int cols) {
  __shared__ float tile[TILE + 2][TILE + 2];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
  const bool inside = x < cols && y < rows;
  const float* here = in + y * cols + x;
  if (inside) {
    tile[ty + 1][tx + 1] = here[0];
    if (tx == 0 && x > 0) tile[ty + 1][0] = here[-1];
    if (tx == TILE - 1 && x + 1 < cols) tile[ty + 1][TILE + 1] = here[1];
    if (ty == 0 && y > 0) tile[0][tx + 1] = here[-cols];
    if (ty == TILE - 1 && y + 1 < rows) tile[TILE + 1][tx + 1] = here[cols];
  }
  __syncthreads();
  if (!inside) return;
  float v = tile[ty + 1][tx + 1];
  if (x > 0 && x + 1 < cols && y > 0 && y + 1 < rows)
    v = center * v + neighbour * (tile[ty + 1][tx] + tile[ty + 1][tx + 2] + tile[ty][tx + 1] + tile[ty + 2][tx + 1]);
  out[y * cols + x] = v;
}

// stencil<<<grid, block>>>(B, A, center, neighbour, ROWS, COLS);
// stencil<<<grid, block>>>(A, B, center, neighbour, ROWS, COLS);
