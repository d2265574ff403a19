// Warp matrix functions: all shapes and layouts, both accumulators of half precision and both mixed, 8-bit integers,
// bfloat16 and double precision from sm_80 on, fragments changed element by element. Small integers throughout, so
// that every sum is exact whatever its order.
#include <cuda_bf16.h>
#include <mma.h>

#include "corpus.h"

using namespace nvcuda;
using Rows = wmma::row_major;
using Columns = wmma::col_major;

__device__ int small(unsigned i, int range) { return static_cast<int>(mix(i) % (2 * range + 1)) - range; }

template <class T>
__device__ T number(int v) {
  return static_cast<T>(v);
}
template <>
__device__ half number<half>(int v) {
  return __int2half_rn(v);
}
template <>
__device__ __nv_bfloat16 number<__nv_bfloat16>(int v) {
  return __int2bfloat16_rn(v);
}

template <class Layout>
__device__ unsigned place(int row, int column, int pitch) {
  return std::is_same<Layout, Rows>::value ? row * pitch + column : column * pitch + row;
}
template <class Layout>
__device__ wmma::layout_t memory_layout() {
  return std::is_same<Layout, Rows>::value ? wmma::mem_row_major : wmma::mem_col_major;
}

/// A matrix of small numbers; every element depends on its row and column only.
template <class T, class Layout>
__device__ void fill(T* to, int rows, int columns, int pitch, unsigned seed, int range) {
  for (int i = threadIdx.x; i < rows * columns; i += 32) {
    to[place<Layout>(i / columns, i % columns, pitch)] = number<T>(small(seed + i, range));
  }
}

/// out = 3 (relu(A) B + C) - 1 by rows of N; D by Layout C in between.
template <int M, int N, int K, class T, class C, class D, class LayoutA, class LayoutB, class LayoutC>
__device__ void product(float* out, T* a, T* b, C* c, D* d, unsigned seed) {
  constexpr int kPitch = 48;
  fill<T, LayoutA>(a, M, K, kPitch, seed, 4);
  fill<T, LayoutB>(b, K, N, kPitch, seed + 1000, 4);
  fill<C, LayoutC>(c, M, N, kPitch, seed + 2000, 16);
  __syncthreads();
  wmma::fragment<wmma::matrix_a, M, N, K, T, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, C> fc;
  wmma::fragment<wmma::accumulator, M, N, K, D> fd;
  wmma::load_matrix_sync(fa, a, kPitch);
  wmma::load_matrix_sync(fb, b, kPitch);
  wmma::load_matrix_sync(fc, c, kPitch, memory_layout<LayoutC>());
  for (int i = 0; i < fa.num_elements; ++i) {
    if (fa.x[i] < number<T>(0)) fa.x[i] = number<T>(0);
  }
  wmma::mma_sync(fd, fa, fb, fc);
  for (int i = 0; i < fd.num_elements; ++i) fd.x[i] = fd.x[i] * number<D>(3) - number<D>(1);
  wmma::store_matrix_sync(d, fd, kPitch, memory_layout<LayoutC>());
  __syncthreads();
  for (int i = threadIdx.x; i < M * N; i += 32)
    out[i] = static_cast<float>(d[place<LayoutC>(i / N, i % N, kPitch)]);
}

constexpr int kArea = 48 * 32;

template <int M, int N, class C, class D, class LayoutA, class LayoutB, class LayoutC>
__device__ void half_product(float* out, half* a, half* b, float* space) {
  C* c = reinterpret_cast<C*>(space);
  D* d = reinterpret_cast<D*>(space + kArea);
  product<M, N, 16, half, C, D, LayoutA, LayoutB, LayoutC>(out, a, b, c, d, 10000 * blockIdx.x);
}

/// Each block another combination; A in shared memory, the rest in global memory.
extern "C" __global__ void halves(float* out, half* scratch, float* sums) {
  __shared__ __align__(32) half a[kArea];
  half* b = scratch + blockIdx.x * kArea;
  float* c = sums + blockIdx.x * 2 * kArea;
  out += blockIdx.x * 256;
  switch (blockIdx.x) {
    case 0:
      return half_product<16, 16, float, float, Rows, Columns, Rows>(out, a, b, c);
    case 1:
      return half_product<16, 16, half, half, Columns, Rows, Columns>(out, a, b, c);
    case 2:
      return half_product<16, 16, float, half, Rows, Rows, Rows>(out, a, b, c);
    case 3:
      return half_product<16, 16, half, float, Columns, Columns, Columns>(out, a, b, c);
    case 4:
      return half_product<32, 8, float, float, Rows, Rows, Columns>(out, a, b, c);
    case 5:
      return half_product<32, 8, half, half, Columns, Columns, Rows>(out, a, b, c);
    case 6:
      return half_product<32, 8, float, half, Rows, Columns, Columns>(out, a, b, c);
    case 7:
      return half_product<8, 32, float, float, Columns, Rows, Rows>(out, a, b, c);
    case 8:
      return half_product<8, 32, half, half, Rows, Columns, Columns>(out, a, b, c);
    default:
      return half_product<8, 32, half, float, Columns, Columns, Rows>(out, a, b, c);
  }
}

/// D = A B + C, then the same again on D, clamped if `clamp`; C near the largest and the smallest value.
template <int M, int N, class T, class LayoutA, class LayoutB>
__device__ void byte_product(int* out, T* a, T* b, bool clamp, unsigned seed) {
  const int range = 127;
  fill<T, LayoutA>(a, M, 16, 48, seed, range);
  fill<T, LayoutB>(b, 16, N, 48, seed + 1000, range);
  for (int i = threadIdx.x; i < M * N; i += 32) out[i] = i % 3 == 0 ? 0x7fff0000 : i % 3 == 1 ? -0x7fff0000 : i;
  __syncthreads();
  wmma::fragment<wmma::matrix_a, M, N, 16, T, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, M, N, 16, T, LayoutB> fb;
  wmma::fragment<wmma::accumulator, M, N, 16, int> sum;
  wmma::load_matrix_sync(fa, a, 48);
  wmma::load_matrix_sync(fb, b, 48);
  wmma::load_matrix_sync(sum, out, N, wmma::mem_row_major);
  if (clamp) {
    wmma::mma_sync(sum, fa, fb, sum, true);
    wmma::mma_sync(sum, fa, fb, sum, true);
  } else {
    wmma::mma_sync(sum, fa, fb, sum);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::store_matrix_sync(out, sum, N, wmma::mem_row_major);
}

extern "C" __global__ void bytes(int* out, signed char* scratch) {
  __shared__ __align__(32) signed char a[kArea];
  signed char* b = scratch + blockIdx.x * kArea;
  unsigned char* ua = reinterpret_cast<unsigned char*>(a);
  unsigned char* ub = reinterpret_cast<unsigned char*>(b);
  const unsigned seed = 10000 * blockIdx.x + 5;
  out += blockIdx.x * 256;
  switch (blockIdx.x) {
    case 0:
      return byte_product<16, 16, signed char, Rows, Columns>(out, a, b, false, seed);
    case 1:
      return byte_product<16, 16, unsigned char, Columns, Rows>(out, ua, ub, false, seed);
    case 2:
      return byte_product<32, 8, signed char, Columns, Columns>(out, a, b, true, seed);
    case 3:
      return byte_product<32, 8, unsigned char, Rows, Rows>(out, ua, ub, true, seed);
    case 4:
      return byte_product<8, 32, signed char, Rows, Rows>(out, a, b, true, seed);
    default:
      return byte_product<8, 32, unsigned char, Columns, Columns>(out, ua, ub, false, seed);
  }
}

#if __CUDA_ARCH__ >= 800
template <int M, int N, int K, class T, class C>
__device__ void newer_product(float* out, void* scratch, unsigned seed) {
  T* a = static_cast<T*>(scratch);
  C* c = reinterpret_cast<C*>(a + 2 * kArea);
  product<M, N, K, T, C, C, Rows, Columns, Columns>(out, a, a + kArea, c, c, seed);
}
#else
template <int M, int N, int K, class T, class C>
__device__ void newer_product(float* out, void*, unsigned seed) {
  for (int i = threadIdx.x; i < M * N; i += 32) {
    int sum = small(seed + 2000 + i, 16);
    for (int k = 0; k < K; ++k) sum += max(small(seed + i / N * K + k, 4), 0) * small(seed + 1000 + k * N + i % N, 4);
    out[i] = 3 * sum - 1;
  }
}
#endif

extern "C" __global__ void newer(float* out, double* scratch) {
  scratch += blockIdx.x * 4 * kArea;
  out += blockIdx.x * 256;
  const unsigned seed = 10000 * blockIdx.x + 7;
  if (blockIdx.x == 0) newer_product<16, 16, 16, __nv_bfloat16, float>(out, scratch, seed);
  if (blockIdx.x == 1) newer_product<32, 8, 16, __nv_bfloat16, float>(out, scratch, seed);
  if (blockIdx.x == 2) newer_product<8, 32, 16, __nv_bfloat16, float>(out, scratch, seed);
  if (blockIdx.x == 3) newer_product<8, 8, 4, double, double>(out, scratch, seed);
}
