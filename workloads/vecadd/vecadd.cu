// C = A + B, one element per thread. The PTX beside this source is written as nvcc 2.3 for a 32-bit host would have written
// it for sm_13 (PTX 1.4).

extern "C" __global__ void vecadd(float* C, const float* A, const float* B, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) C[i] = A[i] + B[i];
}
