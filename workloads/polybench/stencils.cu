// Stencils of the PolyBench suite (Pouchet), a thread for each cell (of 3dconv: for each column of cells):
// written from their formulas. stencils.ptx: nvcc -ptx -arch=compute_75.

__device__ int column() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int row() { return blockIdx.y * blockDim.y + threadIdx.y; }

// 2dconv: nine fixed weights.
extern "C" __global__ void convolution2d(float* B, const float* A, int rows, int columns) {
  const int i = row(), j = column();
  if (i < 1 || j < 1 || i >= rows - 1 || j >= columns - 1) return;
  B[i * columns + j] = 0.2f * A[(i - 1) * columns + j - 1] - 0.3f * A[i * columns + j - 1] +
                       0.4f * A[(i + 1) * columns + j - 1] + 0.5f * A[(i - 1) * columns + j] +
                       0.6f * A[i * columns + j] + 0.7f * A[(i + 1) * columns + j] -
                       0.8f * A[(i - 1) * columns + j + 1] - 0.9f * A[i * columns + j + 1] +
                       0.1f * A[(i + 1) * columns + j + 1];
}

// 3dconv: corners of the cube, the middles of its layers, one plane i of cells for each turn of the loop.
extern "C" __global__ void convolution3d(float* B, const float* A, int planes, int rows, int columns) {
  const int j = row(), k = column();
  if (j < 1 || k < 1 || j >= rows - 1 || k >= columns - 1) return;
  const int plane = rows * columns, at = j * columns + k;
  for (int i = 1; i < planes - 1; ++i) {
    const float* below = A + (i - 1) * plane + at;
    const float* here = below + plane;
    const float* above = here + plane;
    B[i * plane + at] = 2 * below[-columns - 1] + 4 * above[-columns - 1] + 5 * below[-columns + 1] +
                        7 * above[-columns + 1] - 8 * below[columns - 1] + 10 * above[columns - 1] -
                        3 * here[-1] + 6 * here[0] - 9 * here[1] + 2 * below[columns + 1] +
                        4 * above[columns + 1];
  }
}

// fdtd-2d: one step of the electric field's two components and of the magnetic field.
extern "C" __global__ void fdtd_ey(float* ey, const float* hz, const float* source, int step, int rows,
                                   int columns) {
  const int i = row(), j = column();
  if (i >= rows || j >= columns) return;
  if (i == 0)
    ey[j] = source[step];
  else
    ey[i * columns + j] -= 0.5f * (hz[i * columns + j] - hz[(i - 1) * columns + j]);
}
extern "C" __global__ void fdtd_ex(float* ex, const float* hz, int rows, int columns) {
  const int i = row(), j = column();
  if (i < rows && j > 0 && j < columns)
    ex[i * (columns + 1) + j] -= 0.5f * (hz[i * columns + j] - hz[i * columns + j - 1]);
}
extern "C" __global__ void fdtd_hz(float* hz, const float* ex, const float* ey, int rows, int columns) {
  const int i = row(), j = column();
  if (i < rows && j < columns)
    hz[i * columns + j] -= 0.7f * (ex[i * (columns + 1) + j + 1] - ex[i * (columns + 1) + j] +
                                   ey[(i + 1) * columns + j] - ey[i * columns + j]);
}
