// Matrix kernels of the PolyBench suite (Pouchet), a thread for each element of the result as PolyBench/GPU
// distributes them (Grauer-Gray et al., "Auto-tuning a high-level language targeted to GPU codes", InPar
// 2012): written from their formulas. Sums stand in memory while they grow, as in the loops of C that they
// come from; blocks have 32 x 8 or 256 threads. linear_algebra.ptx: nvcc -ptx -arch=compute_75.

__device__ int column() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int row() { return blockIdx.y * blockDim.y + threadIdx.y; }

// 2mm and 3mm: C = A B, ROWS x COLUMNS, of depth DEPTH; 2mm adds the second product to beta D, see gemm.
extern "C" __global__ void product(float* C, const float* A, const float* B, int rows, int columns,
                                   int depth) {
  const int i = row(), j = column();
  if (i >= rows || j >= columns) return;
  C[i * columns + j] = 0;
  for (int k = 0; k < depth; ++k) C[i * columns + j] += A[i * depth + k] * B[k * columns + j];
}

// C = alpha A B + beta C.
extern "C" __global__ void gemm(float* C, const float* A, const float* B, float alpha, float beta, int rows,
                                int columns, int depth) {
  const int i = row(), j = column();
  if (i >= rows || j >= columns) return;
  C[i * columns + j] *= beta;
  for (int k = 0; k < depth; ++k) C[i * columns + j] += alpha * A[i * depth + k] * B[k * columns + j];
}

// C = alpha A A^T + beta C.
extern "C" __global__ void syrk(float* C, const float* A, float alpha, float beta, int n, int depth) {
  const int i = row(), j = column();
  if (i >= n || j >= n) return;
  C[i * n + j] *= beta;
  for (int k = 0; k < depth; ++k) C[i * n + j] += alpha * A[i * depth + k] * A[j * depth + k];
}

// C = alpha (A B^T + B A^T) + beta C.
extern "C" __global__ void syr2k(float* C, const float* A, const float* B, float alpha, float beta, int n,
                                 int depth) {
  const int i = row(), j = column();
  if (i >= n || j >= n) return;
  C[i * n + j] *= beta;
  for (int k = 0; k < depth; ++k)
    C[i * n + j] += alpha * A[i * depth + k] * B[j * depth + k] + alpha * B[i * depth + k] * A[j * depth + k];
}

// y = A x, by rows.
extern "C" __global__ void by_rows(float* y, const float* A, const float* x, int rows, int columns) {
  const int i = column();
  if (i >= rows) return;
  y[i] = 0;
  for (int j = 0; j < columns; ++j) y[i] += A[i * columns + j] * x[j];
}

// y = A^T x, a thread for each column.
extern "C" __global__ void by_columns(float* y, const float* A, const float* x, int rows, int columns) {
  const int j = column();
  if (j >= columns) return;
  y[j] = 0;
  for (int i = 0; i < rows; ++i) y[j] += A[i * columns + j] * x[i];
}

// mvt: x1 += A y1.
extern "C" __global__ void mvt_rows(float* x1, const float* A, const float* y1, int n) {
  const int i = column();
  if (i >= n) return;
  for (int j = 0; j < n; ++j) x1[i] += A[i * n + j] * y1[j];
}

// mvt: x2 += A^T y2.
extern "C" __global__ void mvt_columns(float* x2, const float* A, const float* y2, int n) {
  const int i = column();
  if (i >= n) return;
  for (int j = 0; j < n; ++j) x2[i] += A[j * n + i] * y2[j];
}

// y = alpha A x + beta B x.
extern "C" __global__ void gesummv(float* y, float* partial, const float* A, const float* B, const float* x,
                                   float alpha, float beta, int n) {
  const int i = column();
  if (i >= n) return;
  y[i] = partial[i] = 0;
  for (int j = 0; j < n; ++j) {
    partial[i] += A[i * n + j] * x[j];
    y[i] += B[i * n + j] * x[j];
  }
  y[i] = alpha * partial[i] + beta * y[i];
}

// Modified Gram-Schmidt, the three steps of column k: its norm (one thread) ...
extern "C" __global__ void gramschmidt_norm(const float* A, float* R, int k, int rows, int columns) {
  if (column() != 0) return;
  float sum = 0;
  for (int i = 0; i < rows; ++i) sum += A[i * columns + k] * A[i * columns + k];
  R[k * columns + k] = sqrtf(sum);
}
// ... the column of Q ...
extern "C" __global__ void gramschmidt_scale(const float* A, const float* R, float* Q, int k, int rows,
                                             int columns) {
  const int i = column();
  if (i < rows) Q[i * columns + k] = A[i * columns + k] / R[k * columns + k];
}
// ... and what the columns behind it lose.
extern "C" __global__ void gramschmidt_subtract(float* A, float* R, const float* Q, int k, int rows,
                                                int columns) {
  const int j = column();
  if (j <= k || j >= columns) return;
  R[k * columns + j] = 0;
  for (int i = 0; i < rows; ++i) R[k * columns + j] += Q[i * columns + k] * A[i * columns + j];
  for (int i = 0; i < rows; ++i) A[i * columns + j] -= Q[i * columns + k] * R[k * columns + j];
}
