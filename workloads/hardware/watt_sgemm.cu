// C = alpha A B^T + beta C with 128 x 16 results a block: mysgemmNT of Parboil's sgemm, as profiled on a
// V100 (accel-sim, AccelWattch). The same: matrices by columns, blocks of 16 x 8 threads, a row of 16
// results a thread, slices of eight in k of B in shared memory and of A straight from global memory, inner
// loops of known length that the compiler unrolls.
constexpr int kColumns = 16;
constexpr int kSlice = 8;

extern "C" __global__ void sgemm_nt(const float* a, int a_stride, const float* b, int b_stride, float* c,
                                    int c_stride, int depth, float alpha, float beta) {
  __shared__ float slice[kSlice][kColumns];
  float sums[kColumns];
  for (int i = 0; i < kColumns; ++i) sums[i] = 0;
  const int row = blockIdx.x * kColumns * kSlice + threadIdx.y * blockDim.x + threadIdx.x;
  const int column = blockIdx.y * kColumns + threadIdx.x;
  for (int k = 0; k < depth; k += kSlice) {
    slice[threadIdx.y][threadIdx.x] = b[column + (k + threadIdx.y) * b_stride];
    __syncthreads();
    for (int j = 0; j < kSlice; ++j) {
      const float left = a[row + (k + j) * a_stride];
      for (int i = 0; i < kColumns; ++i) sums[i] += left * slice[j][i];
    }
    __syncthreads();
  }
  const int first = c_stride * blockIdx.y * kColumns + row;
  for (int i = 0; i < kColumns; ++i)
    c[first + i * c_stride] = c[first + i * c_stride] * beta + alpha * sums[i];
}
