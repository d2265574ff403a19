// Three products C = A B of row-major square matrices, as timed on an H100 (waynehacking8, blackwell-tensorcore-kernels).
// The same: plain: blocks of 16 x 16 threads, an element each, operands from global memory; tile: tiles of
// 32 x 32 of both in shared memory, an element a thread; wmma: halves with single-precision sums, blocks of 16
// warps for 128 x 128 elements, 32 x 32 a warp, slices of 32 that cp.async brings two ahead into three buffers of
// shared memory, whose rows are not padded, and that are named through arrays of pointers. Not the same: of plain
// and tile, the depth of the product is an argument beside the pitch of A, so that a part of it can be run.
#include <cuda_pipeline.h>
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void gemm_plain(const float* a, const float* b, float* c, int m, int n, int k, int depth) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m && column < n) {
    float sum = 0;
    for (int i = 0; i < depth; ++i) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
  }
}

constexpr int kSide = 32;

extern "C" __global__ void gemm_tile(const float* a, const float* b, float* c, int m, int n, int k, int depth) {
  __shared__ float left[kSide][kSide], right[kSide][kSide];
  const int row = blockIdx.y * kSide + threadIdx.y;
  const int column = blockIdx.x * kSide + threadIdx.x;
  float sum = 0;
  for (int tile = 0; tile < (depth + kSide - 1) / kSide; ++tile) {
    const int of_a = tile * kSide + threadIdx.x;
    const int of_b = tile * kSide + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = row < m && of_a < depth ? a[row * k + of_a] : 0.f;
    right[threadIdx.y][threadIdx.x] = column < n && of_b < depth ? b[of_b * n + column] : 0.f;
    __syncthreads();
    for (int i = 0; i < kSide; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

constexpr int kPiece = 16;    // rows, columns and depth of a product of fragments
constexpr int kBlock = 128;   // rows and columns of a block
constexpr int kSlice = 32;    // depth that a buffer holds
constexpr int kBuffers = 3;
constexpr int kWarps = 4;     // in each direction
constexpr int kThreads = kWarps * kWarps * 32;
constexpr int kPieces = kBlock / kWarps / kPiece;  // of a warp, in each direction
constexpr int kChunk = 8;     // halves that a thread copies at a time

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm_wmma(const half* __restrict__ a, const half* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
  extern __shared__ half shared[];
  half* left[kBuffers];
  half* right[kBuffers];
#pragma unroll
  for (int i = 0; i < kBuffers; ++i) {
    left[i] = shared + i * 2 * kBlock * kSlice;
    right[i] = left[i] + kBlock * kSlice;
  }
  const int warp = threadIdx.x / 32;
  const int warp_row = warp / kWarps, warp_column = warp % kWarps;
  const int first_row = blockIdx.y * kBlock, first_column = blockIdx.x * kBlock;
  wmma::fragment<wmma::accumulator, kPiece, kPiece, kPiece, float> sums[kPieces][kPieces];
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    for (int j = 0; j < kPieces; ++j) wmma::fill_fragment(sums[i][j], 0.f);
  }
  const auto load = [&](int buffer, int depth) {
#pragma unroll
    for (int i = threadIdx.x; i < kBlock * kSlice / kChunk; i += kThreads) {
      const int row = i * kChunk / kSlice, column = i * kChunk % kSlice;
      half* const to = &left[buffer][row * kSlice + column];
      if (first_row + row < m)
        __pipeline_memcpy_async(to, &a[(first_row + row) * k + depth + column], sizeof(float4));
      else
        *reinterpret_cast<float4*>(to) = make_float4(0, 0, 0, 0);
    }
#pragma unroll
    for (int i = threadIdx.x; i < kBlock * kSlice / kChunk; i += kThreads) {
      const int row = i * kChunk / kBlock, column = i * kChunk % kBlock;
      half* const to = &right[buffer][row * kBlock + column];
      if (first_column + column < n)
        __pipeline_memcpy_async(to, &b[(depth + row) * n + first_column + column], sizeof(float4));
      else
        *reinterpret_cast<float4*>(to) = make_float4(0, 0, 0, 0);
    }
  };
  const int slices = (k + kSlice - 1) / kSlice;
#pragma unroll
  for (int i = 0; i < kBuffers - 1; ++i) {
    if (i < slices) load(i, i * kSlice);
    __pipeline_commit();
  }
  wmma::fragment<wmma::matrix_a, kPiece, kPiece, kPiece, half, wmma::row_major> of_a[kPieces];
  wmma::fragment<wmma::matrix_b, kPiece, kPiece, kPiece, half, wmma::row_major> of_b[kPieces];
  for (int slice = 0; slice < slices; ++slice) {
    const int ahead = slice + kBuffers - 1;
    if (ahead < slices) {
      load(ahead % kBuffers, ahead * kSlice);
      __pipeline_commit();
    }
    __pipeline_wait_prior(kBuffers - 1);
    __syncthreads();
    const half* const my_left = left[slice % kBuffers];
    const half* const my_right = right[slice % kBuffers];
#pragma unroll
    for (int depth = 0; depth < kSlice; depth += kPiece) {
#pragma unroll
      for (int i = 0; i < kPieces; ++i)
        wmma::load_matrix_sync(of_a[i], my_left + (warp_row * kPieces + i) * kPiece * kSlice + depth, kSlice);
#pragma unroll
      for (int j = 0; j < kPieces; ++j)
        wmma::load_matrix_sync(of_b[j], my_right + depth * kBlock + (warp_column * kPieces + j) * kPiece, kBlock);
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
#pragma unroll
        for (int j = 0; j < kPieces; ++j) wmma::mma_sync(sums[i][j], of_a[i], of_b[j], sums[i][j]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
#pragma unroll
    for (int j = 0; j < kPieces; ++j) {
      const int row = first_row + (warp_row * kPieces + i) * kPiece;
      const int column = first_column + (warp_column * kPieces + j) * kPiece;
      if (row < m && column < n)
        wmma::store_matrix_sync(c + row * n + column, sums[i][j], n, wmma::mem_row_major);
    }
  }
}
