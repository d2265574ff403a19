// Products of matrices on the tensor units of compute capability 7.5: half precision and bytes.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// A warp a tile of 16 x 16, straight from global memory.
extern "C" __global__ void wmma_simple(const half* a, const half* b, float* c, int m, int n, int k,
                                       float alpha, float beta) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 16,
            column = (blockIdx.y * blockDim.y + threadIdx.y) * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, old;
  wmma::fill_fragment(sum, 0.f);
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(left, a + row * k + i, k);
    wmma::load_matrix_sync(right, b + column * k + i, k);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::load_matrix_sync(old, c + row * n + column, n, wmma::mem_row_major);
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = alpha * sum.x[i] + beta * old.x[i];
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

// Tiles of 64 x 64 in shared memory, four warps, each 32 x 32.
extern "C" __global__ void __launch_bounds__(128)
    wmma_shared(const half* a, const half* b, half* c, int n, int k) {
  __shared__ __align__(16) half as[64][32 + 8], bs[32][64 + 8];
  const int warp = threadIdx.x / 32, wy = warp / 2 * 32, wx = warp % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, half> sum[2][2];
#pragma unroll
  for (int i = 0; i < 4; ++i) wmma::fill_fragment(sum[i / 2][i % 2], __float2half(0.f));
  for (int start = 0; start < k; start += 32) {
    for (int i = threadIdx.x; i < 64 * 4; i += 128) {
      *reinterpret_cast<uint4*>(&as[i / 4][i % 4 * 8]) =
          *reinterpret_cast<const uint4*>(&a[(blockIdx.y * 64 + i / 4) * k + start + i % 4 * 8]);
      *reinterpret_cast<uint4*>(&bs[i / 8][i % 8 * 8]) =
          *reinterpret_cast<const uint4*>(&b[(start + i / 8) * n + blockIdx.x * 64 + i % 8 * 8]);
    }
    __syncthreads();
#pragma unroll
    for (int s = 0; s < 32; s += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(left[i], &as[wy + 16 * i][s], 40);
        wmma::load_matrix_sync(right[i], &bs[s][wx + 16 * i], 72);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
        wmma::mma_sync(sum[i / 2][i % 2], left[i / 2], right[i % 2], sum[i / 2][i % 2]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    wmma::store_matrix_sync(c + (blockIdx.y * 64 + wy + i / 2 * 16) * n + blockIdx.x * 64 + wx + i % 2 * 16,
                            sum[i / 2][i % 2], n, wmma::mem_row_major);
}

extern "C" __global__ void wmma_bytes(const signed char* a, const signed char* b, signed char* c,
                                      const float* scale, int n, int k) {
  __shared__ int tile[4][256];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.y * 16,
            column = (blockIdx.x * 4 + warp) * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
  wmma::fill_fragment(sum, 0);
#pragma unroll 2
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(left, a + row * k + i, k);
    wmma::load_matrix_sync(right, b + column * k + i, k);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(tile[warp], sum, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = lane; i < 256; i += 32) {
    const int q = __float2int_rn(tile[warp][i] * scale[column + i % 16]);
    c[(row + i / 16) * n + column + i % 16] = min(max(q, -128), 127);
  }
}

// Scores of one head: queries times keys, scaled, with the largest of each row.
extern "C" __global__ void wmma_scores(const half* q, const half* k, float* scores, float* highest, int keys,
                                       float scale) {
  __shared__ float tile[16][20];
  const int lane = threadIdx.x, row = blockIdx.x * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> query[4];
#pragma unroll
  for (int s = 0; s < 4; ++s) wmma::load_matrix_sync(query[s], q + row * 64 + s * 16, 64);
  float best = -1e30f;
  for (int column = 0; column < keys; column += 16) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.f);
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> key;
      wmma::load_matrix_sync(key, k + column * 64 + s * 16, 64);
      wmma::mma_sync(sum, query[s], key, sum);
    }
    wmma::store_matrix_sync(&tile[0][0], sum, 20, wmma::mem_row_major);
    __syncwarp();
    const int r = lane / 2, first = lane % 2 * 8;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float v = tile[r][first + i] * scale;
      best = fmaxf(best, v);
      scores[(row + r) * keys + column + first + i] = v;
    }
    __syncwarp();
  }
  best = fmaxf(best, __shfl_xor_sync(~0u, best, 1));
  if (lane % 2 == 0) highest[row + lane / 2] = best;
}
