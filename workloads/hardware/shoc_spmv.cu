// Sparse matrix times vector: SHOC's Spmv (vetter/shoc). The same: 16384 rows and columns with one per cent
// of the places filled at random, blocks of 128 threads, a thread for each row (csr_thread, ellpack_thread)
// or a warp (csr_warp, which adds its lanes' sums up in shared memory without barriers), the vector read
// through the texture path by number, doubles as two integers. ELLPACK: the first elements of all rows side
// by side, then the second ones, and so on. Different: what is stored of a column is by how much it lies
// behind 100 for each element of the row before it, a random number; so a row's columns rise, as the suite's
// do, without a file of them. That costs an addition and an "and". The length of an ELLPACK row is the
// difference of two starts, not read from an array of lengths.
constexpr int kColumns = 16384;
constexpr int kGap = 100;  // from an element to the next

template <typename T>
__device__ T entry(cudaTextureObject_t x, int i);
template <>
__device__ float entry<float>(cudaTextureObject_t x, int i) {
  return tex1Dfetch<float>(x, i);
}
template <>
__device__ double entry<double>(cudaTextureObject_t x, int i) {
  const int2 words = tex1Dfetch<int2>(x, i);
  return __hiloint2double(words.y, words.x);
}

template <typename T>
__device__ void csr_thread(const T* values, const unsigned* columns, const int* starts, int rows, T* y,
                           cudaTextureObject_t x) {
  const int row = threadIdx.x + blockDim.x * blockIdx.x;
  if (row >= rows) return;
  T sum = 0;
  const int end = starts[row + 1];
  unsigned base = 0;
#pragma unroll 1
  for (int i = starts[row]; i < end; ++i, base += kGap)
    sum += values[i] * entry<T>(x, (columns[i] + base) % kColumns);
  y[row] = sum;
}

template <typename T>
__device__ void csr_warp(const T* values, const unsigned* columns, const int* starts, int rows, T* y,
                         cudaTextureObject_t x, volatile T* shared) {
  const int t = threadIdx.x;
  const int lane = t % 32;
  const int row = blockIdx.x * (blockDim.x / 32) + t / 32;
  if (row >= rows) return;
  T sum = 0;
  const int end = starts[row + 1];
  unsigned base = lane * kGap;
#pragma unroll 1
  for (int i = starts[row] + lane; i < end; i += 32, base += 32 * kGap)
    sum += values[i] * entry<T>(x, (columns[i] + base) % kColumns);
  shared[t] = sum;
#pragma unroll
  for (int half = 16; half >= 1; half /= 2) {
    if (lane < half) shared[t] += shared[t + half];
  }
  if (lane == 0) y[row] = shared[t];
}

template <typename T>
__device__ void ellpack_thread(const T* values, const unsigned* columns, const int* starts, int rows, T* y,
                               cudaTextureObject_t x) {
  const int row = threadIdx.x + blockDim.x * blockIdx.x;
  if (row >= rows) return;
  T sum = 0;
  const int length = starts[row + 1] - starts[row];
  unsigned base = 0;
#pragma unroll 1
  for (int i = 0; i < length; ++i, base += kGap) {
    const int at = i * rows + row;
    sum += values[at] * entry<T>(x, (columns[at] + base) % kColumns);
  }
  y[row] = sum;
}

#define SPMV_KERNELS(NAME, T)                                                                               \
  extern "C" __global__ void csr_thread_##NAME(const T* values, const unsigned* columns, const int* starts, \
                                               int rows, T* y, cudaTextureObject_t x) {                     \
    csr_thread<T>(values, columns, starts, rows, y, x);                                                     \
  }                                                                                                         \
  extern "C" __global__ void csr_warp_##NAME(const T* values, const unsigned* columns, const int* starts,   \
                                             int rows, T* y, cudaTextureObject_t x) {                       \
    __shared__ volatile T shared[128];                                                                      \
    csr_warp<T>(values, columns, starts, rows, y, x, shared);                                               \
  }                                                                                                         \
  extern "C" __global__ void ellpack_thread_##NAME(                                                         \
      const T* values, const unsigned* columns, const int* starts, int rows, T* y, cudaTextureObject_t x) { \
    ellpack_thread<T>(values, columns, starts, rows, y, x);                                                 \
  }
SPMV_KERNELS(f32, float)
SPMV_KERNELS(f64, double)
