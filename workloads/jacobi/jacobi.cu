// Jacobi steps for Laplace's equation on a ROWS x COLS grid with a fixed border. A launch makes three steps:
// a block loads its tile with a halo of three cells, and after each step the ring in which neighbours are
// missing is one cell wider. jacobi.ptx is what nvcc 13 makes of this: nvcc -ptx -arch=compute_75;
// jacobi_sm13.ptx is written as nvcc 2.3 for a 32-bit host would have written it for sm_13 (PTX 1.4), and
// runs with the same launch file.

constexpr int kWidth = 32, kHeight = 16, kSteps = 3;

extern "C" __global__ void jacobi(float* out, const float* in, int rows, int cols) {
  __shared__ float tile[2][kHeight][kWidth];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int x = blockIdx.x * (kWidth - 2 * kSteps) + tx - kSteps;
  const int y = blockIdx.y * (kHeight - 2 * kSteps) + ty - kSteps;
  const bool inside = x >= 0 && x < cols && y >= 0 && y < rows;
  const bool moves = x > 0 && x + 1 < cols && y > 0 && y + 1 < rows;
  float v = inside ? in[y * cols + x] : 0;
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    float(*now)[kWidth] = tile[step % 2];
    now[ty][tx] = v;
    __syncthreads();
    if (moves && tx > step && tx < kWidth - 1 - step && ty > step && ty < kHeight - 1 - step)
      v = 0.25f * (now[ty][tx - 1] + now[ty][tx + 1] + now[ty - 1][tx] + now[ty + 1][tx]);
  }
  if (inside && tx >= kSteps && tx < kWidth - kSteps && ty >= kSteps && ty < kHeight - kSteps)
    out[y * cols + x] = v;
}
