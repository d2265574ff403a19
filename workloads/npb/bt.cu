// Block-tridiagonal systems with 5 x 5 blocks along the lines of an n^3 grid in x, then y, then z, after NPB
// BT; the blocks depend on the cells' five state values u from 0 to 1. Value m of cell c lies at m * n^3 + c.
// Two styles: one thread per line, its blocks in local memory; one warp per line, lane 5 m + k with element
// (m, k) of the blocks. bt.ptx is what nvcc 13 makes of this: nvcc -ptx -arch=compute_75
#include "common.h"

constexpr int kSize = 5, kElements = kSize * kSize;

__device__ int line_start(int line, int n, int inner) { return line / inner * inner * n + line % inner; }

// Element (m, k) of the block with which a cell enters the equations of the cell behind it, its own, and the
// one before.
__device__ double state(const double* u, int cell, int cells, int m, int k) {
  return u[(m + k) % kSize * cells + cell];
}
__device__ double low(const double* u, int cell, int cells, int m, int k) {
  return -0.02 * state(u, cell, cells, m, k) - (m == k ? 0.1 : 0);
}
__device__ double own(const double* u, int cell, int cells, int m, int k) {
  return 0.04 * state(u, cell, cells, m, k) + (m == k ? 1 : 0);
}
__device__ double high(const double* u, int cell, int cells, int m, int k) {
  return 0.02 * state(u, cell, cells, m, k) - (m == k ? 0.1 : 0);
}

// block * [solution] = [rhs] by Gauss-Jordan elimination, for six right-hand sides: a 5 x 5 block and a
// vector.
__device__ void solve(double (*block)[kSize], double (*rhs)[kSize], double* vector) {
#pragma unroll 1
  for (int p = 0; p < kSize; ++p) {
    const double pivot = 1 / block[p][p];
#pragma unroll 1
    for (int k = 0; k < kSize; ++k) {
      block[p][k] *= pivot;
      rhs[p][k] *= pivot;
    }
    vector[p] *= pivot;
#pragma unroll 1
    for (int m = 0; m < kSize; ++m) {
      if (m == p) continue;
      const double factor = block[m][p];
#pragma unroll 1
      for (int k = 0; k < kSize; ++k) {
        block[m][k] -= factor * block[p][k];
        rhs[m][k] -= factor * rhs[p][k];
      }
      vector[m] -= factor * vector[p];
    }
  }
}

// `above` holds 25 values for each cell: the block of the next cell when the equations are solved for this
// one.
extern "C" __global__ void bt_solve_thread(double* x, double* above, const double* u, int n, int inner) {
  const int line = thread_index(), cells = n * n * n;
  if (line >= n * n) return;
  const int start = line_start(line, n, inner);
  double block[kSize][kSize], next[kSize][kSize] = {}, right[kSize] = {};
  for (int i = 0; i < n; ++i) {
    const int cell = start + i * inner, before = cell - inner, behind = cell + inner;
    double sum[kSize];
#pragma unroll 1
    for (int m = 0; m < kSize; ++m) {
      sum[m] = x[m * cells + cell];
#pragma unroll 1
      for (int k = 0; k < kSize; ++k) {
        block[m][k] = own(u, cell, cells, m, k);
        if (i == 0) continue;
        sum[m] -= low(u, before, cells, m, k) * right[k];
#pragma unroll 1
        for (int j = 0; j < kSize; ++j) block[m][k] -= low(u, before, cells, m, j) * next[j][k];
      }
    }
#pragma unroll 1
    for (int m = 0; m < kSize; ++m) {
      right[m] = sum[m];
#pragma unroll 1
      for (int k = 0; k < kSize; ++k) next[m][k] = i + 1 < n ? high(u, behind, cells, m, k) : 0;
    }
    solve(block, next, right);
#pragma unroll 1
    for (int m = 0; m < kSize; ++m) {
      x[m * cells + cell] = right[m];
#pragma unroll 1
      for (int k = 0; k < kSize; ++k) above[(m * kSize + k) * cells + cell] = next[m][k];
    }
  }
  for (int i = n - 2; i >= 0; --i) {
    const int cell = start + i * inner;
    double sum[kSize];
#pragma unroll 1
    for (int m = 0; m < kSize; ++m) {
      sum[m] = x[m * cells + cell];
#pragma unroll 1
      for (int k = 0; k < kSize; ++k) sum[m] -= above[(m * kSize + k) * cells + cell] * right[k];
    }
#pragma unroll 1
    for (int m = 0; m < kSize; ++m) x[m * cells + cell] = right[m] = sum[m];
  }
}

__device__ double from(double value, int m, int k) { return __shfl_sync(~0u, value, m * kSize + k); }

// Blocks of one warp. Lanes 25 to 31 repeat the last element; the five lanes of a row have the same `right`.
extern "C" __global__ void bt_solve_warp(double* x, double* above, const double* u, int n, int inner) {
  const int lane = min(static_cast<int>(threadIdx.x), kElements - 1), m = lane / kSize, k = lane % kSize;
  const int cells = n * n * n, start = line_start(blockIdx.x, n, inner);
  double next = 0, right = 0;
  for (int i = 0; i < n; ++i) {
    const int cell = start + i * inner;
    double block = own(u, cell, cells, m, k), sum = x[m * cells + cell];
    const double before = i > 0 ? low(u, cell - inner, cells, m, k) : 0;
    for (int j = 0; j < kSize; ++j) {
      const double factor = from(before, m, j);
      block -= factor * from(next, j, k);
      sum -= factor * from(right, j, 0);
    }
    next = i + 1 < n ? high(u, cell + inner, cells, m, k) : 0;
    right = sum;
#pragma unroll 1
    for (int p = 0; p < kSize; ++p) {
      const double pivot = 1 / from(block, p, p), factor = from(block, m, p);
      const double block_p = from(block, p, k) * pivot, next_p = from(next, p, k) * pivot,
                   right_p = from(right, p, 0) * pivot;
      block = m == p ? block_p : block - factor * block_p;
      next = m == p ? next_p : next - factor * next_p;
      right = m == p ? right_p : right - factor * right_p;
    }
    if (threadIdx.x < kElements) above[cell * kElements + lane] = next;
    if (threadIdx.x < kElements && k == 0) x[m * cells + cell] = right;
  }
  for (int i = n - 2; i >= 0; --i) {
    const int cell = start + i * inner;
    const double element = above[cell * kElements + lane];
    double sum = x[m * cells + cell];
    for (int j = 0; j < kSize; ++j) sum -= from(element, m, j) * from(right, j, 0);
    right = sum;
    __syncwarp();
    if (threadIdx.x < kElements && k == 0) x[m * cells + cell] = right;
  }
}
