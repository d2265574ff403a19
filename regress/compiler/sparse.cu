// Sparse matrices: products in several formats, solvers, assembly.

extern "C" __global__ void csr_scalar(const int* __restrict__ row, const int* __restrict__ column,
                                      const double* __restrict__ value, const double* __restrict__ x,
                                      double* __restrict__ y, int rows) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  double sum = 0;
  for (int k = row[r]; k < row[r + 1]; ++k) sum += value[k] * x[column[k]];
  y[r] = sum;
}

template <int Lanes>
__global__ void csr_vector(const int* row, const int* column, const float* value, const float* __restrict__ x,
                           float* y, int rows) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) / Lanes, lane = threadIdx.x % Lanes;
  float sum = 0.f;
  if (r < rows)
    for (int k = row[r] + lane, end = row[r + 1]; k < end; k += Lanes) sum += value[k] * __ldg(&x[column[k]]);
#pragma unroll
  for (int d = Lanes / 2; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d, Lanes);
  if (r < rows && lane == 0) y[r] = sum;
}
template __global__ void csr_vector<4>(const int*, const int*, const float*, const float*, float*, int);
template __global__ void csr_vector<32>(const int*, const int*, const float*, const float*, float*, int);

extern "C" __global__ void ell(const int* column, const float* value, const float* x, float* y, int rows,
                               int per_row, int pitch) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.f;
  for (int k = 0; k < per_row; ++k) {
    const int c = column[k * pitch + r];
    if (c >= 0) sum += value[k * pitch + r] * x[c];
  }
  y[r] = sum;
}

extern "C" __global__ void coo_atomic(const int* row, const int* column, const float* value, const float* x,
                                      float* y, int entries) {
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < entries; k += gridDim.x * blockDim.x)
    atomicAdd(&y[row[k]], value[k] * x[column[k]]);
}

// Blocks of 3 x 3, a thread a block row.
extern "C" __global__ void bsr_3x3(const int* row, const int* column, const float* blocks, const float3* x,
                                   float3* y, int rows, float alpha) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float3 sum = make_float3(0.f, 0.f, 0.f);
  for (int k = row[r]; k < row[r + 1]; ++k) {
    const float* b = blocks + 9 * k;
    const float3 v = x[column[k]];
    sum.x += b[0] * v.x + b[1] * v.y + b[2] * v.z;
    sum.y += b[3] * v.x + b[4] * v.y + b[5] * v.z;
    sum.z += b[6] * v.x + b[7] * v.y + b[8] * v.z;
  }
  float3 old = y[r];
  old.x += alpha * sum.x;
  old.y += alpha * sum.y;
  old.z += alpha * sum.z;
  y[r] = old;
}

extern "C" __global__ void dia(const float* diagonals, const int* offsets, const float* x, float* y, int n,
                               int count) {
  __shared__ int offset[64];
  if (threadIdx.x < count) offset[threadIdx.x] = offsets[threadIdx.x];
  __syncthreads();
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= n) return;
  float sum = 0.f;
  for (int d = 0; d < count; ++d) {
    const int c = r + offset[d];
    if (c >= 0 && c < n) sum += diagonals[d * n + r] * x[c];
  }
  y[r] = sum;
}

// Lower triangular solve without levels: a row waits until the rows it needs are done.
extern "C" __global__ void triangular_solve(const int* row, const int* column, const double* value,
                                            const double* b, volatile double* x, volatile int* done,
                                            int rows) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  if (r >= rows) return;
  double sum = 0;
  const int end = row[r + 1] - 1;
  for (int k = row[r] + lane; k < end; k += 32) {
    const int c = column[k];
    while (done[c] == 0) {
    }
    __threadfence();
    sum += value[k] * x[c];
  }
  __syncwarp();
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
  if (lane == 0) {
    x[r] = (b[r] - sum) / value[end];
    __threadfence();
    done[r] = 1;
  }
}

extern "C" __global__ void jacobi_sweep(const int* row, const int* column, const float* value, const float* b,
                                        const float* x, float* next, int rows, float omega) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = b[r], diagonal = 1.f;
  for (int k = row[r], end = row[r + 1]; k < end; ++k) {
    const int c = column[k];
    if (c == r)
      diagonal = value[k];
    else
      sum -= value[k] * x[c];
  }
  next[r] = (1.f - omega) * x[r] + omega * sum / diagonal;
}

// Non-zeros of rows of A * B: each warp keeps a small table of columns in shared memory.
extern "C" __global__ void spgemm_count(const int* row_a, const int* column_a, const int* row_b,
                                        const int* column_b, int* counts, int rows) {
  __shared__ int table[4][256];
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, r = blockIdx.x * 4 + warp;
  if (r >= rows) return;
  int* mine = table[warp];
  for (int i = lane; i < 256; i += 32) mine[i] = -1;
  __syncwarp();
  int found = 0;
  for (int k = row_a[r]; k < row_a[r + 1]; ++k) {
    const int middle = column_a[k];
    for (int j = row_b[middle] + lane; j < row_b[middle + 1]; j += 32) {
      const int c = column_b[j];
      unsigned slot = c * 107u & 255u;
      for (int tries = 0; tries < 256; ++tries) {
        const int old = atomicCAS(&mine[slot], -1, c);
        if (old == -1) ++found;
        if (old == -1 || old == c) break;
        slot = (slot + 1) & 255u;
      }
    }
  }
  for (int d = 16; d > 0; d >>= 1) found += __shfl_xor_sync(~0u, found, d);
  if (lane == 0) counts[r] = found;
}
