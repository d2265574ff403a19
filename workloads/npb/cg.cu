// Conjugate gradients for a sparse symmetric matrix in compressed sparse rows, after NPB CG: a launch for q =
// A p with the partial sums of p.q (in two styles: one thread per row, one warp per row), one for x, r and
// r.r, one for p. cg.ptx is what nvcc 13 makes of this: nvcc -ptx -arch=compute_75
#include "common.h"

constexpr int kThreads = 128, kWarps = kThreads / 32;

// The sum of x over the block, for every thread.
__device__ double block_sum(double x) {
  __shared__ double part[kWarps];
  x = warp_sum(x);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
  __syncthreads();
  x = 0;
  for (double warp : part) x += warp;
  return x;
}

__device__ double sum_of(const double* values, int count) {
  double sum = 0;
#pragma unroll 1
  for (int i = threadIdx.x; i < count; i += kThreads) sum += values[i];
  return block_sum(sum);
}

extern "C" __global__ void cg_start(double* x, double* r, double* p, double* rr, const double* b, int n) {
  const int i = thread_index();
  const double own = i < n ? b[i] : 0;
  if (i < n) {
    x[i] = 0;
    r[i] = p[i] = own;
  }
  const double sum = block_sum(own * own);
  if (threadIdx.x == 0) rr[blockIdx.x] = sum;
}

extern "C" __global__ void cg_multiply_thread(double* q, double* pq, const double* p, const int* row_start,
                                              const int* column, const double* value, int n) {
  const int row = thread_index();
  double sum = 0;
  if (row < n) {
    for (int i = row_start[row]; i < row_start[row + 1]; ++i) sum += value[i] * p[column[i]];
    q[row] = sum;
    sum *= p[row];
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) pq[blockIdx.x] = sum;
}

extern "C" __global__ void cg_multiply_warp(double* q, double* pq, const double* p, const int* row_start,
                                            const int* column, const double* value, int n) {
  const int row = thread_index() / 32, lane = threadIdx.x % 32;
  double sum = 0;
  if (row < n) {
    for (int i = row_start[row] + lane; i < row_start[row + 1]; i += 32) sum += value[i] * p[column[i]];
    sum = warp_sum(sum);
    if (lane == 0) q[row] = sum;
  }
  sum = block_sum(row < n && lane == 0 ? sum * p[row] : 0);
  if (threadIdx.x == 0) pq[blockIdx.x] = sum;
}

extern "C" __global__ void cg_update(double* x, double* r, double* rr, const double* p, const double* q,
                                     const double* rr_before, int rr_count, const double* pq, int pq_count,
                                     int n) {
  const double alpha = sum_of(rr_before, rr_count) / sum_of(pq, pq_count);
  const int i = thread_index();
  double left = 0;
  if (i < n) {
    x[i] += alpha * p[i];
    r[i] = left = r[i] - alpha * q[i];
  }
  const double sum = block_sum(left * left);
  if (threadIdx.x == 0) rr[blockIdx.x] = sum;
}

extern "C" __global__ void cg_direction(double* p, const double* r, const double* rr, const double* rr_before,
                                        int rr_count, int n) {
  const double beta = sum_of(rr, rr_count) / sum_of(rr_before, rr_count);
  const int i = thread_index();
  if (i < n) p[i] = r[i] + beta * p[i];
}
