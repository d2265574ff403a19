// Three matrix multiplications: naive, tiled in shared memory (as in CUBLAS 1.1), and Volkov's. The PTX files beside this
// source are written as nvcc 2.3 for a 32-bit host would have written them for sm_13 (PTX 1.4).

template <int BS>
__device__ void naive(float* C, const float* A, const float* B, int N) {
  const int x = blockIdx.x * BS + threadIdx.x, y = blockIdx.y * BS + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < N; ++k) sum += A[y * N + k] * B[k * N + x];
  C[y * N + x] = sum;
}

template <int BS>
__device__ void tiled(float* C, const float* A, const float* B, int N) {
  __shared__ float As[BS][BS], Bs[BS][BS];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const float* a = A + (blockIdx.y * BS + ty) * N + tx;
  const float* b = B + ty * N + blockIdx.x * BS + tx;
  const float* end = a + N;
  float sum = 0;
  do {
    As[ty][tx] = *a;
    Bs[ty][tx] = *b;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BS; ++k) sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
    a += BS;
    b += BS * N;
  } while (a < end);
  C[(blockIdx.y * BS + ty) * N + blockIdx.x * BS + tx] = sum;
}

extern "C" __global__ void sgemm_volkov(float* C, const float* A, const float* B, int ld, int N) {
  __shared__ float bs[16][17];
  const int inx = threadIdx.x, iny = threadIdx.y;
  const int row = blockIdx.x * 64 + iny * 16 + inx;
  A += row;
  B += (blockIdx.y * 16 + iny) * ld + inx;
  C += blockIdx.y * 16 * ld + row;
  const float* last = B + N;
  float c[16] = {};
  do {
    for (int i = 0; i < 16; i += 4) bs[inx][iny + i] = B[i * ld];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k, A += ld)
#pragma unroll
      for (int j = 0; j < 16; ++j) c[j] += A[0] * bs[k][j];
    B += 16;
    __syncthreads();
  } while (B < last);
  for (int j = 0; j < 16; ++j, C += ld) C[0] = c[j];
}

extern "C" __global__ void matmul_naive_8x8(float* C, const float* A, const float* B, int N) {
  naive<8>(C, A, B, N);
}
extern "C" __global__ void matmul_naive_16x16(float* C, const float* A, const float* B, int N) {
  naive<16>(C, A, B, N);
}
extern "C" __global__ void matmul_tiled_8x8(float* C, const float* A, const float* B, int N) {
  tiled<8>(C, A, B, N);
}
extern "C" __global__ void matmul_tiled_16x16(float* C, const float* A, const float* B, int N) {
  tiled<16>(C, A, B, N);
}
