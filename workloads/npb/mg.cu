// A multigrid V-cycle for the Poisson problem on a periodic cube of n^3 cells, after NPB MG (the same four
// operators): residual, smoother, restriction and interpolation in two styles, one thread per cell and one
// warp per line along x. A warp first adds up the neighbours in y and z of every cell of its line, so that
// each cell is loaded 9 times, not 27. mg.ptx is what nvcc 13 makes of this: nvcc -ptx -arch=compute_75
#include "common.h"

// By the number of coordinates in which a neighbour differs.
struct Weights {
  double same, face, edge, corner;
};
__device__ Weights poisson() { return {-8.0 / 3, 0, 1.0 / 6, 1.0 / 12}; }
__device__ Weights smoother() { return {-3.0 / 8, 1.0 / 32, -1.0 / 64, 0}; }
__device__ Weights restriction() { return {1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16}; }

__device__ int before(int i, int n) { return i == 0 ? n - 1 : i - 1; }
__device__ int behind(int i, int n) { return i + 1 == n ? 0 : i + 1; }

// Sums over the neighbours of (x, y, z) in the plane of x, by the number of coordinates that differ.
struct Plane {
  double same, face, edge;
};
__device__ Plane plane(const double* in, int n, int x, int y, int z) {
  const double* down = in + before(z, n) * n * n + x;
  const double* here = in + z * n * n + x;
  const double* up = in + behind(z, n) * n * n + x;
  const int low = before(y, n) * n, own = y * n, high = behind(y, n) * n;
  return {here[own], here[low] + here[high] + down[own] + up[own],
          down[low] + down[high] + up[low] + up[high]};
}

__device__ double weighted(const Weights& w, const Plane& left, const Plane& own, const Plane& right) {
  return w.same * own.same + w.face * (own.face + left.same + right.same) +
         w.edge * (own.edge + left.face + right.face) + w.corner * (left.edge + right.edge);
}

__device__ double stencil(const Weights& w, const double* in, int n, int x, int y, int z) {
  return weighted(w, plane(in, n, before(x, n), y, z), plane(in, n, x, y, z),
                  plane(in, n, behind(x, n), y, z));
}

// A line's planes in shared memory.
extern __shared__ Plane line[];
__device__ void load_line(const double* in, int n, int y, int z) {
#pragma unroll 1
  for (int x = threadIdx.x; x < n; x += 32) line[x] = plane(in, n, x, y, z);
  __syncwarp();
}
__device__ double line_stencil(const Weights& w, int n, int x) {
  return weighted(w, line[before(x, n)], line[x], line[behind(x, n)]);
}

// r = v - A u; r may be v.
extern "C" __global__ void mg_residual_thread(double* r, const double* u, const double* v, int n) {
  const int i = thread_index();
  if (i < n * n * n) r[i] = v[i] - stencil(poisson(), u, n, i % n, i / n % n, i / (n * n));
}
extern "C" __global__ void mg_residual_warp(double* r, const double* u, const double* v, int n) {
  load_line(u, n, blockIdx.x, blockIdx.y);
  const int first = (blockIdx.y * n + blockIdx.x) * n;
#pragma unroll 1
  for (int x = threadIdx.x; x < n; x += 32) r[first + x] = v[first + x] - line_stencil(poisson(), n, x);
}

// u += S r
extern "C" __global__ void mg_smooth_thread(double* u, const double* r, int n) {
  const int i = thread_index();
  if (i < n * n * n) u[i] += stencil(smoother(), r, n, i % n, i / n % n, i / (n * n));
}
extern "C" __global__ void mg_smooth_warp(double* u, const double* r, int n) {
  load_line(r, n, blockIdx.x, blockIdx.y);
  const int first = (blockIdx.y * n + blockIdx.x) * n;
#pragma unroll 1
  for (int x = threadIdx.x; x < n; x += 32) u[first + x] += line_stencil(smoother(), n, x);
}

// From the fine grid of (2 n)^3 cells to the coarse one of n^3.
extern "C" __global__ void mg_restrict_thread(double* coarse, const double* fine, int n) {
  const int i = thread_index();
  if (i < n * n * n)
    coarse[i] = stencil(restriction(), fine, 2 * n, 2 * (i % n), 2 * (i / n % n), 2 * (i / (n * n)));
}
extern "C" __global__ void mg_restrict_warp(double* coarse, const double* fine, int n) {
  load_line(fine, 2 * n, 2 * blockIdx.x, 2 * blockIdx.y);
  const int first = (blockIdx.y * n + blockIdx.x) * n;
#pragma unroll 1
  for (int x = threadIdx.x; x < n; x += 32) coarse[first + x] = line_stencil(restriction(), 2 * n, 2 * x);
}

// The mean over y and z of the one, two or four coarse cells next to the fine line (y, z), at coarse x.
__device__ double coarse_mean(const double* coarse, int n, int x, int y, int z) {
  const int y1 = (y + 1) / 2 % n, z1 = (z + 1) / 2 % n;
  const double *near = coarse + z / 2 * n * n + x, *far = coarse + z1 * n * n + x;
  return 0.25 * (near[y / 2 * n] + near[y1 * n] + far[y / 2 * n] + far[y1 * n]);
}

// From n^3 cells to (2 n)^3.
extern "C" __global__ void mg_interpolate_thread(double* fine, const double* coarse, int n) {
  const int i = thread_index(), x = i % (2 * n), y = i / (2 * n) % (2 * n), z = i / (4 * n * n);
  if (i >= 8 * n * n * n) return;
  fine[i] = 0.5 * (coarse_mean(coarse, n, x / 2, y, z) + coarse_mean(coarse, n, (x + 1) / 2 % n, y, z));
}
extern "C" __global__ void mg_interpolate_warp(double* fine, const double* coarse, int n) {
  extern __shared__ double mean[];
#pragma unroll 1
  for (int x = threadIdx.x; x < n; x += 32) mean[x] = coarse_mean(coarse, n, x, blockIdx.x, blockIdx.y);
  __syncwarp();
  const int first = (blockIdx.y * 2 * n + blockIdx.x) * 2 * n;
#pragma unroll 1
  for (int x = threadIdx.x; x < 2 * n; x += 32) fine[first + x] = 0.5 * (mean[x / 2] + mean[(x + 1) / 2 % n]);
}
