// Heat flow by Fourier transforms of a grid of complex numbers, after NPB FT: transform along x, y and z,
// multiply by exp(-t k^2), transform back. Radix 2, sides are powers of two. Two styles: one thread per
// butterfly and a launch per stage through global memory, and one block per line through shared memory.
// ft.ptx is what nvcc 13 makes of this: nvcc -ptx -arch=compute_75
#include "common.h"

// A line along one direction has `n` cells that are `inner` apart: 1, nx or nx * ny.
__device__ int line_start(int line, int n, int inner) { return line / inner * inner * n + line % inner; }

// root[k] = exp(-2 pi i k / count)
extern "C" __global__ void ft_roots(double2* root, int count) {
  const int k = thread_index();
  if (k < count) sincospi(-2.0 * k / count, &root[k].y, &root[k].x);
}

// (a, b) becomes (a + w b, a - w b); `sign` -1 takes the conjugate of w: the inverse transform.
__device__ void butterfly(double2& a, double2& b, double2 w, double sign) {
  w.y *= sign;
  const double2 turned = {b.x * w.x - b.y * w.y, b.x * w.y + b.y * w.x};
  b = {a.x - turned.x, a.y - turned.y};
  a = {a.x + turned.x, a.y + turned.y};
}

// Cells of every line to the bit-reversed place.
extern "C" __global__ void ft_reverse_thread(double2* out, const double2* in, int cells, int n, int log2_n,
                                             int inner) {
  const int i = thread_index(), place = i / inner % n;
  if (i < cells) out[i] = in[i + static_cast<int>((__brev(place) >> (32 - log2_n)) - place) * inner];
}

// Stage step->now of all lines.
extern "C" __global__ void ft_stage_thread(double2* x, const double2* root, Step* step, int cells, int n,
                                           int log2_n, int inner, int roots, double sign) {
  const int i = thread_index(), span = 1 << step->now;
  if (i < cells / 2) {
    const int line = i / (n / 2), t = i % (n / 2), k = t & (span - 1), low = 2 * t - k;
    double2* own = x + line_start(line, n, inner) + low * inner;
    butterfly(own[0], own[span * inner], root[k * (roots / (2 * span))], sign);
  }
  end_step(step, log2_n);
}

// n / 2 threads and n complex numbers of dynamic shared memory; out may be in.
extern "C" __global__ void ft_line(double2* out, const double2* in, const double2* root, int n, int log2_n,
                                   int inner, int roots, double sign) {
  extern __shared__ double2 x[];
  const int tid = threadIdx.x, start = line_start(blockIdx.x, n, inner);
  for (int i = tid; i < n; i += n / 2) x[__brev(i) >> (32 - log2_n)] = in[start + i * inner];
  for (int span = 1; span < n; span *= 2) {
    __syncthreads();
    const int k = tid & (span - 1), low = 2 * tid - k;
    butterfly(x[low], x[low + span], root[k * (roots / (2 * span))], sign);
  }
  __syncthreads();
  for (int i = tid; i < n; i += n / 2) out[start + i * inner] = x[i];
}

__device__ int wave(int i, int n) { return i > n / 2 ? i - n : i; }

extern "C" __global__ void ft_evolve(double2* out, const double2* in, int nx, int ny, int nz, double t) {
  const int i = thread_index();
  if (i >= nx * ny * nz) return;
  const int kx = wave(i % nx, nx), ky = wave(i / nx % ny, ny), kz = wave(i / (nx * ny), nz);
  const double factor = exp(-t * (kx * kx + ky * ky + kz * kz)) / (nx * ny * nz);
  out[i] = {in[i].x * factor, in[i].y * factor};
}
