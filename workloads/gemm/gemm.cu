// C = op(A) op(B), row-major, for any sizes: blocks of 16 x 16 threads make 64 x 64 of C through shared
// tiles, each thread 4 x 4 in registers. The four kernels differ in which operands are stored transposed.
// gemm.ptx is what nvcc 13 makes of this: nvcc -ptx -arch=compute_75; gemm_sm13.ptx is written as nvcc 2.3
// for a 32-bit host would have written it for sm_13 (PTX 1.4), and runs with the same launch file.

constexpr int kTile = 64, kDepth = 16, kSide = 16, kOwn = kTile / kSide;

// Tile[k][i] = element (first_i + i, first_k + k) of a matrix with `count` rows that is stored row by row, or
// by columns if transposed. Threads walk along what is contiguous.
template <bool kTransposed>
__device__ void load(float (*tile)[kTile + 1], const float* matrix, int first_i, int first_k, int count,
                     int depth) {
#pragma unroll 1
  for (int n = threadIdx.y * kSide + threadIdx.x; n < kTile * kDepth; n += kSide * kSide) {
    const int i = kTransposed ? n % kTile : n / kDepth, k = kTransposed ? n / kTile : n % kDepth;
    const int row = first_i + i, column = first_k + k;
    const bool inside = row < count && column < depth;
    tile[k][i] = inside ? matrix[kTransposed ? column * count + row : row * depth + column] : 0;
  }
}

template <bool kTransposedA, bool kTransposedB>
__device__ void multiply(float* C, const float* A, const float* B, int M, int N, int K) {
  __shared__ float a[kDepth][kTile + 1], b[kDepth][kTile + 1];
  const int tx = threadIdx.x, ty = threadIdx.y, first_row = blockIdx.y * kTile,
            first_column = blockIdx.x * kTile;
  float sum[kOwn][kOwn] = {};
  for (int k = 0; k < K; k += kDepth) {
    load<kTransposedA>(a, A, first_row, k, M, K);
    load<!kTransposedB>(b, B, first_column, k, N, K);
    __syncthreads();
#pragma unroll 1
    for (int d = 0; d < kDepth; ++d) {
      float own_a[kOwn], own_b[kOwn];
      for (int i = 0; i < kOwn; ++i) {
        own_a[i] = a[d][ty + i * kSide];
        own_b[i] = b[d][tx + i * kSide];
      }
      for (int i = 0; i < kOwn; ++i)
        for (int j = 0; j < kOwn; ++j) sum[i][j] += own_a[i] * own_b[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < kOwn; ++i) {
    for (int j = 0; j < kOwn; ++j) {
      const int row = first_row + ty + i * kSide, column = first_column + tx + j * kSide;
      if (row < M && column < N) C[row * N + column] = sum[i][j];
    }
  }
}

extern "C" __global__ void gemm_nn(float* C, const float* A, const float* B, int M, int N, int K) {
  multiply<false, false>(C, A, B, M, N, K);
}
extern "C" __global__ void gemm_nt(float* C, const float* A, const float* B, int M, int N, int K) {
  multiply<false, true>(C, A, B, M, N, K);
}
extern "C" __global__ void gemm_tn(float* C, const float* A, const float* B, int M, int N, int K) {
  multiply<true, false>(C, A, B, M, N, K);
}
extern "C" __global__ void gemm_tt(float* C, const float* A, const float* B, int M, int N, int K) {
  multiply<true, true>(C, A, B, M, N, K);
}
