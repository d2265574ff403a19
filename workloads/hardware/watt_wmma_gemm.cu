// C = A B on tensor cores, matrices by columns, half precision with single-precision sums: wmma_gemm_nn of
// CUTLASS 1's performance test, as profiled on a V100 (accel-sim, AccelWattch). The same: 128 x 128 results
// a block of eight warps, 64 x 32 a warp, slices of 64 in k in shared memory with rows of 136 (A) and 72 (B)
// halves, 16 bytes a lane and access; the next slice is in registers while the present one is multiplied;
// columns past the last are not loaded. Not the same: results go to memory straight from fragments.
#include <mma.h>
using namespace nvcuda;

constexpr int kTile = 128;
constexpr int kSlice = 64;
constexpr int kRowA = 136;
constexpr int kRowB = 72;

struct Slice {
  uint4 a[4];
  uint4 b[4];
};

__device__ __forceinline__ void load(Slice& s, const half* a, const half* b, int rows, int columns, int depth,
                                     int k) {
  const int me = threadIdx.x;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    s.a[i] = *reinterpret_cast<const uint4*>(a + (size_t)(k + me / 16 + 16 * i) * rows + blockIdx.x * kTile +
                                             me % 16 * 8);
    const int column = blockIdx.y * kTile + me / 8 + 32 * i;
    s.b[i] = make_uint4(0, 0, 0, 0);
    if (column < columns)
      s.b[i] = *reinterpret_cast<const uint4*>(b + (size_t)column * depth + k + me % 8 * 8);
  }
}

__device__ __forceinline__ void store(const Slice& s, half (*tile_a)[kRowA], half (*tile_b)[kRowB]) {
  const int me = threadIdx.x;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    *reinterpret_cast<uint4*>(&tile_a[me / 16 + 16 * i][me % 16 * 8]) = s.a[i];
    *reinterpret_cast<uint4*>(&tile_b[me / 8 + 32 * i][me % 8 * 8]) = s.b[i];
  }
}

extern "C" __global__ void wmma_gemm(const half* a, const half* b, float* c, int rows, int columns,
                                     int depth) {
  __shared__ __align__(16) half tile_a[kSlice][kRowA];
  __shared__ __align__(16) half tile_b[kTile][kRowB];
  const int warp = threadIdx.x / 32;
  const int row = warp % 2 * 64;
  const int column = warp / 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4][2];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 2; ++j) wmma::fill_fragment(sums[i][j], 0.0f);
  }
  Slice next;
  load(next, a, b, rows, columns, depth, 0);
  store(next, tile_a, tile_b);
  __syncthreads();
  for (int k = kSlice; k <= depth; k += kSlice) {
    if (k < depth) load(next, a, b, rows, columns, depth, k);
#pragma unroll
    for (int step = 0; step < kSlice; step += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::col_major> left[4];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right[2];
#pragma unroll
      for (int i = 0; i < 4; ++i) wmma::load_matrix_sync(left[i], &tile_a[step][row + 16 * i], kRowA);
#pragma unroll
      for (int j = 0; j < 2; ++j) wmma::load_matrix_sync(right[j], &tile_b[column + 16 * j][step], kRowB);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sums[i][j], left[i], right[j], sums[i][j]);
      }
    }
    __syncthreads();
    if (k < depth) {
      store(next, tile_a, tile_b);
      __syncthreads();
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const int at = blockIdx.y * kTile + column + 16 * j;
      if (at < columns) {
        wmma::store_matrix_sync(c + (size_t)at * rows + blockIdx.x * kTile + row + 16 * i, sums[i][j], rows,
                                wmma::mem_col_major);
      }
    }
  }
}
