// Steps of a single-precision matrix product C = alpha A B + beta C of row-major matrices, as timed on an
// H200 (yencal/gpu-gemm). The same: blocks, tiles and loops: plain: 32 x 32 threads, an element each,
// operands from global memory; tile: tiles of 32 x 32 x 32 of both in shared memory; threads: tiles of 64 x
// 64 x 8, an 8 x 8 piece of C a thread (64 threads); vector: tiles of 128 x 128 x 16, an 8 x 8 piece a thread
// (256 threads), 16 bytes loaded from global memory at a time, A's tile transposed; vector_both: 16 bytes
// from shared memory, too. Not the same: the depth of the product is an argument beside the pitch k of A, so
// that a part of the depth can be run.
constexpr int kPiece = 8;  // of C, a thread, in both directions

extern "C" __global__ void sgemm_plain(int m, int n, int k, unsigned depth, float alpha, const float* a,
                                       const float* b, float beta, float* c) {
  constexpr unsigned kSide = 32;
  const unsigned column = blockIdx.x * kSide + threadIdx.x % kSide;
  const unsigned row = blockIdx.y * kSide + threadIdx.x / kSide;
  if (row < m && column < n) {
    float sum = 0;
    for (unsigned i = 0; i < depth; ++i) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = alpha * sum + beta * c[row * n + column];
  }
}

extern "C" __global__ void sgemm_tile(int m, int n, int k, unsigned depth, float alpha, const float* a,
                                      const float* b, float beta, float* c) {
  constexpr unsigned kSide = 32;
  __shared__ float left[kSide * kSide];
  __shared__ float right[kSide * kSide];
  const unsigned x = threadIdx.x % kSide;
  const unsigned y = threadIdx.x / kSide;
  const unsigned column = blockIdx.x * kSide + x;
  const unsigned row = blockIdx.y * kSide + y;
  a += blockIdx.y * kSide * k;
  b += blockIdx.x * kSide;
  float sum = 0;
  for (unsigned first = 0; first < depth; first += kSide) {
    left[y * kSide + x] = a[y * k + x];
    right[y * kSide + x] = b[y * n + x];
    __syncthreads();
    a += kSide;
    b += kSide * n;
    for (unsigned i = 0; i < kSide; ++i) sum += left[y * kSide + i] * right[i * kSide + x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = alpha * sum + beta * c[row * n + column];
}

__device__ __forceinline__ void add_products(float (&sums)[kPiece][kPiece], const float (&rows)[kPiece],
                                             const float (&columns)[kPiece]) {
  for (int i = 0; i < kPiece; ++i)
    for (int j = 0; j < kPiece; ++j) sums[i][j] += rows[i] * columns[j];
}

extern "C" __global__ void sgemm_threads(int m, int n, int k, unsigned depth, float alpha, const float* a,
                                         const float* b, float beta, float* c) {
  constexpr unsigned kSide = 64;
  constexpr unsigned kDepth = 8;
  constexpr unsigned kThreads = (kSide / kPiece) * (kSide / kPiece);
  __shared__ float left[kSide * kDepth];
  __shared__ float right[kDepth * kSide];
  const unsigned me = threadIdx.x;
  const unsigned x = me % (kSide / kPiece);
  const unsigned y = me / (kSide / kPiece);
  a += blockIdx.y * kSide * k;
  b += blockIdx.x * kSide;
  float sums[kPiece][kPiece] = {};
  for (unsigned first = 0; first < depth; first += kDepth) {
    for (unsigned j = 0; j < kSide * kDepth / kThreads; ++j) {
      const unsigned i = me + j * kThreads;
      left[i] = a[i / kDepth * k + i % kDepth];
    }
    for (unsigned j = 0; j < kDepth * kSide / kThreads; ++j) {
      const unsigned i = me + j * kThreads;
      right[i] = b[i / kSide * n + i % kSide];
    }
    __syncthreads();
    a += kDepth;
    b += kDepth * n;
    for (unsigned i = 0; i < kDepth; ++i) {
      float rows[kPiece];
      float columns[kPiece];
      for (int j = 0; j < kPiece; ++j) rows[j] = left[(y * kPiece + j) * kDepth + i];
      for (int j = 0; j < kPiece; ++j) columns[j] = right[i * kSide + x * kPiece + j];
      add_products(sums, rows, columns);
    }
    __syncthreads();
  }
  for (int i = 0; i < kPiece; ++i) {
    const unsigned row = blockIdx.y * kSide + y * kPiece + i;
    for (int j = 0; j < kPiece; ++j) {
      const unsigned column = blockIdx.x * kSide + x * kPiece + j;
      if (row < m && column < n) c[row * n + column] = alpha * sums[i][j] + beta * c[row * n + column];
    }
  }
}

constexpr unsigned kWide = 128;  // side of a block's tile of the vector kernels
constexpr unsigned kWideDepth = 16;

/// Eight values in a row, one by one or four at a time.
template <bool kVector>
__device__ __forceinline__ void read_piece(float (&to)[kPiece], const float* from) {
  if constexpr (kVector) {
    for (int i = 0; i < kPiece; i += 4) {
      const float4 four = *reinterpret_cast<const float4*>(from + i);
      to[i] = four.x;
      to[i + 1] = four.y;
      to[i + 2] = four.z;
      to[i + 3] = four.w;
    }
  } else {
    for (int i = 0; i < kPiece; ++i) to[i] = from[i];
  }
}

__device__ __forceinline__ void load_tiles(float* left, float* right, const float* a, const float* b, int n,
                                           int k) {
  constexpr unsigned kThreads = (kWide / kPiece) * (kWide / kPiece);
  for (unsigned j = 0; j < kWide * kWideDepth / 4 / kThreads; ++j) {
    const unsigned i = threadIdx.x + j * kThreads;
    const unsigned row = i / (kWideDepth / 4);
    const unsigned column = i % (kWideDepth / 4) * 4;
    const float4 four = *reinterpret_cast<const float4*>(&a[row * k + column]);
    left[column * kWide + row] = four.x;
    left[(column + 1) * kWide + row] = four.y;
    left[(column + 2) * kWide + row] = four.z;
    left[(column + 3) * kWide + row] = four.w;
  }
  for (unsigned j = 0; j < kWideDepth * kWide / 4 / kThreads; ++j) {
    const unsigned i = threadIdx.x + j * kThreads;
    const unsigned row = i / (kWide / 4);
    const unsigned column = i % (kWide / 4) * 4;
    *reinterpret_cast<float4*>(&right[row * kWide + column]) =
        *reinterpret_cast<const float4*>(&b[row * n + column]);
  }
}

__device__ __forceinline__ void write_piece(float* c, const float (&sums)[kPiece], float alpha, float beta) {
  for (int i = 0; i < kPiece; i += 4) {
    float4 four = {alpha * sums[i], alpha * sums[i + 1], alpha * sums[i + 2], alpha * sums[i + 3]};
    if (beta != 0) {
      const float4 old = *reinterpret_cast<const float4*>(c + i);
      four.x += beta * old.x;
      four.y += beta * old.y;
      four.z += beta * old.z;
      four.w += beta * old.w;
    }
    *reinterpret_cast<float4*>(c + i) = four;
  }
}

template <bool kVector>
__device__ __forceinline__ void product_in_wide_tiles(int n, int k, unsigned depth, float alpha,
                                                      const float* a, const float* b, float beta, float* c) {
  __shared__ float left[kWideDepth * kWide];
  __shared__ float right[kWideDepth * kWide];
  const unsigned x = threadIdx.x % (kWide / kPiece);
  const unsigned y = threadIdx.x / (kWide / kPiece);
  a += blockIdx.y * kWide * k;
  b += blockIdx.x * kWide;
  float sums[kPiece][kPiece] = {};
  for (unsigned first = 0; first < depth; first += kWideDepth) {
    load_tiles(left, right, a, b, n, k);
    __syncthreads();
    a += kWideDepth;
    b += kWideDepth * n;
    for (unsigned i = 0; i < kWideDepth; ++i) {
      float rows[kPiece];
      float columns[kPiece];
      read_piece<kVector>(rows, &left[i * kWide + y * kPiece]);
      read_piece<kVector>(columns, &right[i * kWide + x * kPiece]);
      add_products(sums, rows, columns);
    }
    __syncthreads();
  }
  c += (blockIdx.y * kWide + y * kPiece) * n + blockIdx.x * kWide + x * kPiece;
  for (int i = 0; i < kPiece; ++i) write_piece(c + i * n, sums[i], alpha, beta);
}

extern "C" __global__ void sgemm_vector(int m, int n, int k, unsigned depth, float alpha, const float* a,
                                        const float* b, float beta, float* c) {
  product_in_wide_tiles<false>(n, k, depth, alpha, a, b, beta, c);
}

extern "C" __global__ void sgemm_vector_both(int m, int n, int k, unsigned depth, float alpha, const float* a,
                                             const float* b, float beta, float* c) {
  product_in_wide_tiles<true>(n, k, depth, alpha, a, b, beta, c);
}
