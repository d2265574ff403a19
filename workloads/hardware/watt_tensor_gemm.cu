// D = alpha A B + beta C on tensor cores, half precision with single-precision sums: compute_gemm of the
// sample cudaTensorCoreGemm, as profiled on a V100 (accel-sim, AccelWattch). The same: 4096 columns and sums
// over 4096; blocks of eight warps, as many as the GPU has SMs, take tiles of 128 x 128 in turn, 32 x 64 a
// warp; C and D pass through 64 KB of shared memory, as do slices of 64 of A and B with rows of 80 halves,
// copied by 16 bytes a lane and not double buffered. Not the same: the number of tiles is an argument, so
// that a part can be done, and the loop over slices stays a loop.
#include <mma.h>
using namespace nvcuda;

constexpr int kDepth = 4096;
constexpr int kColumns = 4096;
constexpr int kTile = 128;
constexpr int kSlice = 64;
constexpr int kRow = kSlice + 16;

extern "C" __global__ void tensor_gemm(const half* a, const half* b, const float* c, float* d, float alpha,
                                       float beta, int tiles) {
  extern __shared__ half shared[][kRow];
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  float* const sums = reinterpret_cast<float*>(&shared[0][0]);
  float* const my_tile = sums + warp / 2 * kTile * 32 + warp % 2 * 64;
  float* const my_rows = sums + warp * kTile * 16;
  beta /= alpha;
  for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const unsigned row = tile * kTile / kColumns * kTile;
    const unsigned column = tile * kTile % kColumns;
    const size_t result = (size_t)(row + warp * 16) * kColumns + column;
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      reinterpret_cast<int4*>(my_rows + kTile * i)[lane] =
          reinterpret_cast<const int4*>(c + result + kColumns * i)[lane];
    }
    __syncthreads();
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> part[2][4];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j)
        wmma::load_matrix_sync(part[i][j], my_tile + i * kTile * 16 + j * 16, kTile, wmma::mem_row_major);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
#pragma unroll
        for (int t = 0; t < part[i][j].num_elements; ++t) part[i][j].x[t] *= beta;
      }
    }
    const half* const from =
        warp < 4 ? a + (size_t)(row + 32 * warp) * kDepth : b + (size_t)(column + 32 * (warp - 4)) * kDepth;
#pragma unroll 1
    for (int k = 0; k < kDepth; k += kSlice) {
      unsigned to = 32 * warp + lane / 8;
      const int4* source = reinterpret_cast<const int4*>(from + k + lane / 8 * kDepth) + lane % 8;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        reinterpret_cast<int4*>(&shared[to][0])[lane % 8] = *source;
        source = reinterpret_cast<const int4*>(reinterpret_cast<const half*>(source) + kDepth * 4);
        to += 4;
      }
      __syncthreads();
#pragma unroll
      for (int step = 0; step < kSlice; step += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left[2];
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right[4];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          wmma::load_matrix_sync(left[i], &shared[warp / 2 * 32 + i * 16][step], kRow);
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            if (i == 0) wmma::load_matrix_sync(right[j], &shared[kTile + warp % 2 * 64 + j * 16][step], kRow);
            wmma::mma_sync(part[i][j], left[i], right[j], part[i][j]);
          }
        }
      }
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
#pragma unroll
        for (int t = 0; t < part[i][j].num_elements; ++t) part[i][j].x[t] *= alpha;
        wmma::store_matrix_sync(my_tile + i * kTile * 16 + j * 16, part[i][j], kTile, wmma::mem_row_major);
      }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      reinterpret_cast<int4*>(d + result + kColumns * i)[lane] =
          reinterpret_cast<int4*>(my_rows + kTile * i)[lane];
    }
    __syncthreads();
  }
}
