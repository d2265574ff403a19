// Matrix products with the warp matrix functions of mma.h: f16 through shared memory with f32 sums and an
// elementwise end, and 8-bit integers. One warp a tile. wmma.ptx is what nvcc 13 makes of this:
// nvcc -arch=compute_75 -ptx
#include <mma.h>

using namespace nvcuda;

constexpr int kColumns = 32, kInner = 64, kPitch = 24;

/// out = max(a b + c, 0); a by rows, b by columns.
extern "C" __global__ void half_product(float* out, const half* a, const half* b, const float* c) {
  __shared__ __align__(32) half tile[16 * kPitch];
  const int row = blockIdx.y * 16, column = blockIdx.x * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::load_matrix_sync(sum, c + row * kColumns + column, kColumns, wmma::mem_row_major);
  for (int k = 0; k < kInner; k += 16) {
    for (int i = threadIdx.x; i < 256; i += 32) tile[i / 16 * kPitch + i % 16] = a[(row + i / 16) * kInner + k + i % 16];
    __syncwarp();
    wmma::load_matrix_sync(fa, tile, kPitch);
    wmma::load_matrix_sync(fb, b + column * kInner + k, kInner);
    wmma::mma_sync(sum, fa, fb, sum);
    __syncwarp();
  }
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = fmaxf(sum.x[i], 0.0f);
  wmma::store_matrix_sync(out + row * kColumns + column, sum, kColumns, wmma::mem_row_major);
}

/// out = a b, by columns; a and b by rows.
extern "C" __global__ void byte_product(int* out, const unsigned char* a, const unsigned char* b) {
  const int row = blockIdx.y * 32, column = blockIdx.x * 8;
  wmma::fragment<wmma::matrix_a, 32, 8, 16, unsigned char, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 32, 8, 16, unsigned char, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 32, 8, 16, int> sum;
  wmma::fill_fragment(sum, 0);
  for (int k = 0; k < kInner; k += 16) {
    wmma::load_matrix_sync(fa, a + row * kInner + k, kInner);
    wmma::load_matrix_sync(fb, b + k * kColumns + column, kColumns);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::store_matrix_sync(out + column * 64 + row, sum, 64, wmma::mem_col_major);
}
