// The two triangular sweeps of symmetric successive over-relaxation on an nx x ny x nz grid, after NPB LU
// (one equation where LU has five): v = a r + b (v of the three cells before), then u = v + b (u of the three
// cells behind). Two styles: one thread per cell, a launch for each plane x + y + z = const; one warp per
// line along x, a launch for each diagonal y + z = const, the recurrence along the line as a scan. lu.ptx is
// what nvcc 13 makes of this: nvcc -ptx -arch=compute_75
#include "common.h"

// Plane step->now of 0 to nx + ny + nz - 3, counted from the far corner if `back`; threads are (y, z).
__device__ void sweep_plane(double* v, Step* step, int nx, int ny, int nz, double a, double b, bool back) {
  const int i = thread_index(), y = i % ny, z = i / ny, x = static_cast<int>(step->now) - y - z;
  if (z < nz && x >= 0 && x < nx) {
    const int cell = (z * ny + y) * nx + x, last = nx * ny * nz - 1;
    const int own = back ? last - cell : cell, to = back ? 1 : -1;
    double sum = 0;
    if (x > 0) sum += v[own + to];
    if (y > 0) sum += v[own + to * nx];
    if (z > 0) sum += v[own + to * nx * ny];
    v[own] = a * v[own] + b * sum;
  }
  end_step(step, nx + ny + nz - 2);
}
extern "C" __global__ void lu_lower_thread(double* v, Step* step, int nx, int ny, int nz, double a,
                                           double b) {
  sweep_plane(v, step, nx, ny, nz, a, b, false);
}
extern "C" __global__ void lu_upper_thread(double* v, Step* step, int nx, int ny, int nz, double b) {
  sweep_plane(v, step, nx, ny, nz, 1, b, true);
}

// x[lane] + b x[lane - 1] + b^2 x[lane - 2] ...; own_power becomes b^(lane + 1).
__device__ double recurrence(double x, double b, double& own_power) {
  const int lane = threadIdx.x % 32;
  double power = b;
  own_power = b;
  for (int d = 1; d < 32; d *= 2, power *= power) {
    const double before = __shfl_up_sync(~0u, x, d);
    if (lane >= d) x += power * before;
    if (lane & d) own_power *= power;
  }
  return x;
}

// Diagonal step->now of lines, warp y of it.
__device__ void sweep_lines(double* v, Step* step, int nx, int ny, int nz, double a, double b, bool back) {
  const int lane = threadIdx.x % 32, y = thread_index() / 32, z = static_cast<int>(step->now) - y;
  if (y < ny && z >= 0 && z < nz) {
    const int first = (z * ny + y) * nx, last = nx * ny * nz - 1, to = back ? 1 : -1;
    double carry = 0;
    for (int tile = 0; tile < nx; tile += 32) {
      const int x = tile + lane, own = back ? last - first - x : first + x;
      double right = 0, power;
      if (x < nx) {
        if (y > 0) right += v[own + to * nx];
        if (z > 0) right += v[own + to * nx * ny];
        right = a * v[own] + b * right;
      }
      right = recurrence(right, b, power);
      right += power * carry;
      if (x < nx) v[own] = right;
      carry = __shfl_sync(~0u, right, 31);
    }
  }
  end_step(step, ny + nz - 1);
}
extern "C" __global__ void lu_lower_warp(double* v, Step* step, int nx, int ny, int nz, double a, double b) {
  sweep_lines(v, step, nx, ny, nz, a, b, false);
}
extern "C" __global__ void lu_upper_warp(double* v, Step* step, int nx, int ny, int nz, double b) {
  sweep_lines(v, step, nx, ny, nz, 1, b, true);
}
