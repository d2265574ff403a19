// What compute capability 8.0 added: other types of tensor operations, asynchronous copies, reductions of a
// warp.
#include <cuda_bf16.h>
#include <cuda_pipeline.h>
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void wmma_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n, int k) {
  const int row = blockIdx.y * 16, column = (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.f);
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(left, a + row * k + i, k);
    wmma::load_matrix_sync(right, b + i * n + column, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

extern "C" __global__ void wmma_tf32(const float* a, const float* b, float* c, int n, int k) {
  const int row = blockIdx.y * 16, column = (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
  wmma::fill_fragment(sum, 0.f);
  for (int i = 0; i < k; i += 8) {
    wmma::load_matrix_sync(left, a + row * k + i, k);
    wmma::load_matrix_sync(right, b + i * n + column, n);
#pragma unroll
    for (int e = 0; e < left.num_elements; ++e) left.x[e] = wmma::__float_to_tf32(left.x[e]);
#pragma unroll
    for (int e = 0; e < right.num_elements; ++e) right.x[e] = wmma::__float_to_tf32(right.x[e]);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

extern "C" __global__ void wmma_double(const double* a, const double* b, double* c, int n, int k) {
  const int row = blockIdx.y * 8, column = (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 8;
  wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
  wmma::load_matrix_sync(sum, c + row * n + column, n, wmma::mem_row_major);
#pragma unroll 4
  for (int i = 0; i < k; i += 4) {
    wmma::load_matrix_sync(left, a + row * k + i, k);
    wmma::load_matrix_sync(right, b + i * n + column, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

extern "C" __global__ void staged_stencil(const float4* in, float* out, int tiles, float a, float b) {
  __shared__ float4 stage[2][64];
  int which = 0;
  __pipeline_memcpy_async(&stage[0][threadIdx.x], &in[blockIdx.x * 64 + threadIdx.x], 16);
  __pipeline_commit();
  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
    const int next = t + gridDim.x;
    if (next < tiles)
      __pipeline_memcpy_async(&stage[which ^ 1][threadIdx.x], &in[next * 64 + threadIdx.x], 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    const float* line = reinterpret_cast<const float*>(stage[which]);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int at = k * 64 + threadIdx.x;
      out[t * 256 + at] = a * line[at] + b * (line[max(at - 1, 0)] + line[min(at + 1, 255)]);
    }
    __syncthreads();
    which ^= 1;
  }
}

extern "C" __global__ void warp_reductions(const unsigned* in, unsigned* sums, unsigned* lowest,
                                           unsigned* bits, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned v = i < n ? in[i] : 0;
  const unsigned sum = __reduce_add_sync(~0u, v), low = __reduce_min_sync(~0u, i < n ? v : ~0u),
                 any = __reduce_or_sync(~0u, v);
  if ((threadIdx.x & 31) == 0) {
    atomicAdd(sums, sum);
    atomicMin(lowest, low);
    atomicOr(bits, any);
  }
}

extern "C" __global__ void bf16_native(__nv_bfloat162* y, const __nv_bfloat162* x, const __nv_bfloat162* gate,
                                       int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __nv_bfloat162 zero = __float2bfloat162_rn(0.f);
  const __nv_bfloat162 v = __hfma2(x[i], gate[i], y[i]);
  y[i] = __hmax2(__hmul2(v, gate[i]), zero);
}
