// Products of matrices: tiles in shared memory and in registers, double buffers, vector loads, odd shapes.

template <int T>
__global__ void gemm_tiled(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[T][T], bs[T][T];
  const int row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
  float sum = 0.f;
  for (int start = 0; start < k; start += T) {
    as[threadIdx.y][threadIdx.x] =
        row < m && start + threadIdx.x < k ? a[row * k + start + threadIdx.x] : 0.f;
    bs[threadIdx.y][threadIdx.x] =
        column < n && start + threadIdx.y < k ? b[(start + threadIdx.y) * n + column] : 0.f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < T; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}
template __global__ void gemm_tiled<8>(const float*, const float*, float*, int, int, int);
template __global__ void gemm_tiled<32>(const float*, const float*, float*, int, int, int);

// A thread makes 4 x 4 results of a tile of 64 x 64; 256 threads.
extern "C" __global__ void __launch_bounds__(256)
    gemm_4x4(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n,
             int k, float alpha, float beta) {
  __shared__ float as[16][64 + 4], bs[16][64];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int row0 = blockIdx.y * 64, column0 = blockIdx.x * 64;
  const int load_row = threadIdx.x / 4, load_k = threadIdx.x % 4 * 4;
  const int b_k = threadIdx.x / 16, b_column = threadIdx.x % 16 * 4;
  float sum[4][4] = {};
  for (int start = 0; start < k; start += 16) {
    const float4 left = *reinterpret_cast<const float4*>(&a[(row0 + load_row) * k + start + load_k]);
    const float4 right = *reinterpret_cast<const float4*>(&b[(start + b_k) * n + column0 + b_column]);
    as[load_k][load_row] = left.x;
    as[load_k + 1][load_row] = left.y;
    as[load_k + 2][load_row] = left.z;
    as[load_k + 3][load_row] = left.w;
    *reinterpret_cast<float4*>(&bs[b_k][b_column]) = right;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const float4 x = *reinterpret_cast<const float4*>(&as[i][ty * 4]);
      const float4 y = *reinterpret_cast<const float4*>(&bs[i][tx * 4]);
      const float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int q = 0; q < 4; ++q) sum[r][q] += xs[r] * ys[q];
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    float* at = &c[(row0 + ty * 4 + r) * n + column0 + tx * 4];
#pragma unroll
    for (int q = 0; q < 4; ++q) at[q] = alpha * sum[r][q] + beta * at[q];
  }
}

// 8 x 8 results a thread, 128 x 128 a block, the next tiles travel while this one is multiplied.
extern "C" __global__ void __launch_bounds__(256, 2)
    gemm_8x8_double_buffer(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ __align__(16) float as[2][8][128], bs[2][8][128];
  const int t = threadIdx.x;
  const int a_row = t / 2, a_k = t % 2 * 4, b_k = t / 32, b_column = t % 32 * 4;
  const float* from_a = a + (blockIdx.y * 128 + a_row) * k + a_k;
  const float* from_b = b + b_k * n + blockIdx.x * 128 + b_column;
  const int tx = t % 16 * 8, ty = t / 16 * 8;
  float sum[8][8] = {};
  float4 next_a = *reinterpret_cast<const float4*>(from_a), next_b = *reinterpret_cast<const float4*>(from_b);
  int buffer = 0;
  for (int start = 0; start < k; start += 8) {
    as[buffer][a_k][a_row] = next_a.x;
    as[buffer][a_k + 1][a_row] = next_a.y;
    as[buffer][a_k + 2][a_row] = next_a.z;
    as[buffer][a_k + 3][a_row] = next_a.w;
    *reinterpret_cast<float4*>(&bs[buffer][b_k][b_column]) = next_b;
    __syncthreads();
    if (start + 8 < k) {
      next_a = *reinterpret_cast<const float4*>(from_a + start + 8);
      next_b = *reinterpret_cast<const float4*>(from_b + (start + 8) * n);
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      float x[8], y[8];
#pragma unroll
      for (int q = 0; q < 8; q += 4) {
        *reinterpret_cast<float4*>(&x[q]) = *reinterpret_cast<const float4*>(&as[buffer][i][ty + q]);
        *reinterpret_cast<float4*>(&y[q]) = *reinterpret_cast<const float4*>(&bs[buffer][i][tx + q]);
      }
#pragma unroll
      for (int r = 0; r < 8; ++r)
#pragma unroll
        for (int q = 0; q < 8; ++q) sum[r][q] = fmaf(x[r], y[q], sum[r][q]);
    }
    buffer ^= 1;
  }
#pragma unroll
  for (int r = 0; r < 8; ++r)
#pragma unroll
    for (int q = 0; q < 8; q += 4)
      *reinterpret_cast<float4*>(&c[(blockIdx.y * 128 + ty + r) * n + blockIdx.x * 128 + tx + q]) =
          make_float4(sum[r][q], sum[r][q + 1], sum[r][q + 2], sum[r][q + 3]);
}

extern "C" __global__ void gemm_double_2x2(const double* a, const double* b, double* c, int n) {
  __shared__ double as[16][17], bs[16][17];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16, column = blockIdx.x * 16;
  double s00 = 0, s01 = 0, s10 = 0, s11 = 0;
  for (int start = 0; start < n; start += 16) {
    for (int dy = 0; dy < 16; dy += 8)
      for (int dx = 0; dx < 16; dx += 8) {
        as[ty + dy][tx + dx] = a[(row + ty + dy) * n + start + tx + dx];
        bs[ty + dy][tx + dx] = b[(start + ty + dy) * n + column + tx + dx];
      }
    __syncthreads();
    for (int i = 0; i < 16; ++i) {
      s00 += as[ty][i] * bs[i][tx];
      s01 += as[ty][i] * bs[i][tx + 8];
      s10 += as[ty + 8][i] * bs[i][tx];
      s11 += as[ty + 8][i] * bs[i][tx + 8];
    }
    __syncthreads();
  }
  c[(row + ty) * n + column + tx] = s00;
  c[(row + ty) * n + column + tx + 8] = s01;
  c[(row + ty + 8) * n + column + tx] = s10;
  c[(row + ty + 8) * n + column + tx + 8] = s11;
}

struct Complex {
  float re, im;
};

extern "C" __global__ void gemm_complex(const Complex* a, const Complex* b, Complex* c, int n,
                                        int conjugate) {
  __shared__ Complex as[16][16], bs[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  Complex sum{0.f, 0.f};
  for (int start = 0; start < n; start += 16) {
    Complex left = a[row * n + start + threadIdx.x];
    if (conjugate) left.im = -left.im;
    as[threadIdx.y][threadIdx.x] = left;
    bs[threadIdx.y][threadIdx.x] = b[(start + threadIdx.y) * n + column];
    __syncthreads();
#pragma unroll 4
    for (int i = 0; i < 16; ++i) {
      const Complex x = as[threadIdx.y][i], y = bs[i][threadIdx.x];
      sum.re += x.re * y.re - x.im * y.im;
      sum.im += x.re * y.im + x.im * y.re;
    }
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// Many small products: a block makes one of up to 16 x 16.
extern "C" __global__ void gemm_batched(const float* const* a, const float* const* b, float* const* c,
                                        const int3* shapes, int batch) {
  __shared__ float as[16 * 16], bs[16 * 16];
  for (int which = blockIdx.x; which < batch; which += gridDim.x) {
    const int3 shape = shapes[which];
    const float *left = a[which], *right = b[which];
    const int t = threadIdx.x;
    for (int i = t; i < shape.x * shape.z; i += blockDim.x) as[i] = left[i];
    for (int i = t; i < shape.z * shape.y; i += blockDim.x) bs[i] = right[i];
    __syncthreads();
    for (int i = t; i < shape.x * shape.y; i += blockDim.x) {
      const int row = i / shape.y, column = i % shape.y;
      float sum = 0.f;
      for (int k = 0; k < shape.z; ++k) sum += as[row * shape.z + k] * bs[k * shape.y + column];
      c[which][i] = sum;
    }
    __syncthreads();
  }
}
