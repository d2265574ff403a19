// Dense linear algebra besides plain products: matrix times vector, factorisations, solvers, rank updates.

extern "C" __global__ void gemv_warp(const float* a, const float* x, float* y, int rows, int columns,
                                     float alpha, float beta) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0.f;
  for (int c = lane; c < columns; c += 32) sum += a[(size_t)row * columns + c] * x[c];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (lane == 0) y[row] = alpha * sum + (beta != 0.f ? beta * y[row] : 0.f);
}

extern "C" __global__ void gemv_transposed(const double* a, const double* x, double* y, int rows,
                                           int columns) {
  __shared__ double part[128];
  const int column = blockIdx.x * 128 + threadIdx.x;
  double sum = 0;
  for (int start = 0; start < rows; start += 128) {
    __syncthreads();
    if (start + threadIdx.x < rows) part[threadIdx.x] = x[start + threadIdx.x];
    __syncthreads();
    const int count = min(128, rows - start);
    if (column < columns)
      for (int i = 0; i < count; ++i) sum += a[(start + i) * columns + column] * part[i];
  }
  if (column < columns) y[column] = sum;
}

// The lower triangle of C = A A^T, a tile a block; tiles above the diagonal have nothing to do.
extern "C" __global__ void syrk_lower(const float* a, float* c, int n, int k) {
  if (blockIdx.x > blockIdx.y) return;
  __shared__ float p[16][17], q[16][17];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.f;
  for (int s = 0; s < k; s += 16) {
    const bool in = s + threadIdx.x < k;
    p[threadIdx.y][threadIdx.x] = in && row < n ? a[row * k + s + threadIdx.x] : 0.f;
    const int other = blockIdx.x * 16 + threadIdx.y;
    q[threadIdx.y][threadIdx.x] = in && other < n ? a[other * k + s + threadIdx.x] : 0.f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) sum += p[threadIdx.y][i] * q[threadIdx.x][i];
    __syncthreads();
  }
  if (row < n && column <= row) c[row * n + column] = sum;
}

template <int N>
__global__ void cholesky_block(float* a, int* info, int matrices) {
  __shared__ float m[N][N + 1];
  const int which = blockIdx.x;
  if (which >= matrices) return;
  float* mine = a + which * N * N;
  const int t = threadIdx.x;
  for (int r = 0; r < N; ++r) m[r][t] = mine[r * N + t];
  __syncthreads();
  for (int j = 0; j < N; ++j) {
    const float pivot = m[j][j];
    if (pivot <= 0.f) {
      if (t == 0) info[which] = j + 1;
      return;
    }
    const float inverse = rsqrtf(pivot);
    __syncthreads();
    if (t >= j) m[t][j] *= inverse;
    __syncthreads();
    if (t > j)
      for (int c = j + 1; c <= t; ++c) m[t][c] -= m[t][j] * m[c][j];
    __syncthreads();
  }
  for (int r = 0; r < N; ++r) mine[r * N + t] = t <= r ? m[r][t] : 0.f;
  if (t == 0) info[which] = 0;
}
template __global__ void cholesky_block<16>(float*, int*, int);
template __global__ void cholesky_block<32>(float*, int*, int);

// One thread solves one tridiagonal system; systems are interleaved so that neighbours read neighbours.
extern "C" __global__ void thomas(const float* lower, const float* diagonal, const float* upper, float* x,
                                  float* scratch, int n, int systems) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= systems) return;
  float c = upper[s] / diagonal[s];
  float d = x[s] / diagonal[s];
  scratch[s] = c;
  x[s] = d;
  for (int i = 1; i < n; ++i) {
    const int at = i * systems + s;
    const float l = lower[at];
    const float w = 1.f / (diagonal[at] - l * c);
    c = upper[at] * w;
    d = (x[at] - l * d) * w;
    scratch[at] = c;
    x[at] = d;
  }
  for (int i = n - 2; i >= 0; --i) {
    const int at = i * systems + s;
    d = x[at] - scratch[at] * d;
    x[at] = d;
  }
}

extern "C" __global__ void solve_3x3(const float* __restrict__ matrices, const float3* __restrict__ right,
                                     float3* __restrict__ solution, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float* m = matrices + 9 * i;
  const float a = m[0], b = m[1], c = m[2], d = m[3], e = m[4], f = m[5], g = m[6], h = m[7], k = m[8];
  const float A = e * k - f * h, B = f * g - d * k, C = d * h - e * g;
  const float det = a * A + b * B + c * C;
  const float inv = fabsf(det) < 1e-20f ? 0.f : 1.f / det;
  const float3 r = right[i];
  solution[i] = make_float3((A * r.x + (c * h - b * k) * r.y + (b * f - c * e) * r.z) * inv,
                            (B * r.x + (a * k - c * g) * r.y + (c * d - a * f) * r.z) * inv,
                            (C * r.x + (b * g - a * h) * r.y + (a * e - b * d) * r.z) * inv);
}

// Gauss-Jordan with partial pivoting on an augmented matrix in shared memory; a warp a system of up to 32.
extern "C" __global__ void gauss_jordan(float* matrices, float* vectors, int n) {
  __shared__ float m[32][34];
  const int lane = threadIdx.x;
  float* mine = matrices + blockIdx.x * n * n;
  for (int r = 0; r < n; ++r)
    if (lane < n) m[r][lane] = mine[r * n + lane];
  if (lane < n) m[lane][n] = vectors[blockIdx.x * n + lane];
  __syncwarp();
  for (int j = 0; j < n; ++j) {
    float best = lane >= j && lane < n ? fabsf(m[lane][j]) : -1.f;
    int row = lane;
    for (int d = 16; d > 0; d >>= 1) {
      const float other = __shfl_xor_sync(~0u, best, d);
      const int other_row = __shfl_xor_sync(~0u, row, d);
      if (other > best || (other == best && other_row < row)) {
        best = other;
        row = other_row;
      }
    }
    for (int c = lane; c <= n; c += 32) {
      const float swap = m[j][c];
      m[j][c] = m[row][c];
      m[row][c] = swap;
    }
    __syncwarp();
    const float pivot = m[j][j];
    __syncwarp();
    for (int c = lane; c <= n; c += 32) m[j][c] /= pivot;
    __syncwarp();
    if (lane < n && lane != j) {
      const float factor = m[lane][j];
      for (int c = j; c <= n; ++c) m[lane][c] -= factor * m[j][c];
    }
    __syncwarp();
  }
  if (lane < n) vectors[blockIdx.x * n + lane] = m[lane][n];
}

extern "C" __global__ void givens_rotate(float* a, int n, int p, int q) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float app = a[p * n + p], aqq = a[q * n + q], apq = a[p * n + q];
  float cosine = 1.f, sine = 0.f;
  if (apq != 0.f) {
    const float tau = (aqq - app) / (2.f * apq);
    const float t = copysignf(1.f, tau) / (fabsf(tau) + sqrtf(1.f + tau * tau));
    cosine = rsqrtf(1.f + t * t);
    sine = t * cosine;
  }
  if (i < n) {
    const float x = a[i * n + p], y = a[i * n + q];
    a[i * n + p] = cosine * x - sine * y;
    a[i * n + q] = sine * x + cosine * y;
  }
}
