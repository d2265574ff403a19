// Scalar pentadiagonal systems along the lines of an n^3 grid in x, then y, then z, after NPB SP; the
// coefficients depend on the cells' state s from 0 to 1. Two styles: one thread per line (Gaussian
// elimination), and one block per line with a thread for each two cells (cyclic reduction of 2 x 2 blocks).
// sp.ptx is what nvcc 13 makes of this: nvcc -ptx -arch=compute_75
#include "sp.h"

// `above` holds two values for each cell: the coefficients of i + 1 and i + 2 when row i is solved for x[i].
extern "C" __global__ void sp_solve_thread(double* x, double* above, const double* s, int n, int inner) {
  const int line = thread_index(), cells = n * n * n;
  if (line >= n * n) return;
  const int start = line_start(line, n, inner);
  x += start;
  s += start;
  double *one = above + start, *two = above + cells + start;
  double one_1 = 0, two_1 = 0, x_1 = 0, one_2 = 0, two_2 = 0, x_2 = 0;  // of the rows i - 1 and i - 2
  for (int i = 0; i < n; ++i) {
    double c[5];
    row(c, s, i, n, inner);
    const double below = c[1] - c[0] * one_2;
    const double pivot = 1 / (c[2] - c[0] * two_2 - below * one_1);
    const double right = (x[i * inner] - c[0] * x_2 - below * x_1) * pivot;
    one_2 = one_1, two_2 = two_1, x_2 = x_1;
    one[i * inner] = one_1 = (c[3] - below * two_2) * pivot;
    two[i * inner] = two_1 = c[4] * pivot;
    x[i * inner] = x_1 = right;
  }
  double next = 0, after_next = 0;
  for (int i = n - 1; i >= 0; --i) {
    const double own = x[i * inner] - one[i * inner] * next - two[i * inner] * after_next;
    after_next = next;
    x[i * inner] = next = own;
  }
}

// n / 2 threads (n even), a Pair of dynamic shared memory each.
extern "C" __global__ void sp_solve_block(double* x, const double* s, int n, int inner) {
  extern __shared__ Pair pairs[];
  const int p = threadIdx.x, start = line_start(blockIdx.x, n, inner);
  double* value = x + start + 2 * p * inner;
  double even[5], odd[5];
  row(even, s + start, 2 * p, n, inner);
  row(odd, s + start, 2 * p + 1, n, inner);
  Pair own = {{even[0], even[1], 0, odd[0]},
              {even[2], even[3], odd[1], odd[2]},
              {even[4], 0, odd[3], odd[4]},
              {value[0], value[inner]}};
  for (int step = 1; step < n / 2; step *= 2) {
    pairs[p] = own;
    __syncthreads();
    if (p >= step) {
      const Pair& low = pairs[p - step];
      const Matrix factor = own.low * inverse(low.own);
      own.own = own.own - factor * low.high;
      own.right = own.right - factor * low.right;
      own.low = Matrix{} - factor * low.low;
    }
    if (p + step < n / 2) {
      const Pair& high = pairs[p + step];
      const Matrix factor = own.high * inverse(high.own);
      own.own = own.own - factor * high.low;
      own.right = own.right - factor * high.right;
      own.high = Matrix{} - factor * high.high;
    }
    __syncthreads();
  }
  const double2 solved = inverse(own.own) * own.right;
  value[0] = solved.x;
  value[inner] = solved.y;
}
