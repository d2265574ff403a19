// Symmetric successive over-relaxation for five coupled equations on an nx x ny x nz grid, after NPB LU: one
// implicit time step of a compressible, viscous gas. Value m of cell c lies at 5 c + m: density, momenta
// along x, y and z, energy. The right-hand side, a kernel for each direction: central differences of the
// fluxes F, second differences of what viscosity and conduction act on (w) and of u, and fourth differences
// of u, which smooth; outside the grid the outermost cell stands. Then (1 - dt dR/du) v = dt R by a sweep
// forwards with the 5 x 5 blocks of the three cells before and one back with those of the three cells behind,
// each with the own cell's block solved, and u += v / (omega (2 - omega)). Two styles. `thread`: one thread
// per cell; a launch of a sweep for each plane x + y + z = const. `warp`: of the right-hand side one warp per
// line, a cell's fluxes once and passed on by shuffles; of the sweeps one warp per cell, lane 5 m + k with
// element (m, k) of the blocks. lu5.ptx is what nvcc 13 makes of this: nvcc -ptx -arch=compute_75
#include "common.h"

constexpr int kSize = 5, kElements = kSize * kSize;
constexpr double kGamma = 1.4, kViscosity = 0.05, kConduction = 0.07, kSpread = 0.1, kSmooth = 0.02;

// Along its own direction viscosity counts 4/3.
__device__ double viscosity(int i, int d) { return i == d ? 4.0 / 3 * kViscosity : kViscosity; }

struct Flow {
  double inverse, v[3], square, energy;  // 1 / density, velocity, half of its square, energy per mass
};
__device__ Flow flow(const double* u) {
  const double inverse = 1 / u[0], x = u[1] * inverse, y = u[2] * inverse, z = u[3] * inverse;
  return {inverse, {x, y, z}, 0.5 * (x * x + y * y + z * z), u[4] * inverse};
}

// What a cell gives to the right-hand sides of its neighbours along d: 1/2 F to the next one, -1/2 F to the
// one before, `both` to both.
struct Share {
  double half[kSize], both[kSize], own[kSize];
};
template <int d>
__device__ Share share(const double* u) {
  const Flow f = flow(u);
  const double along = u[1 + d], pressure = (kGamma - 1) * (u[4] - u[0] * f.square);
  Share s;
  s.half[0] = 0.5 * along;
  s.both[0] = 0;
  s.both[4] = kConduction * (f.energy - f.square);
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    s.half[1 + i] = 0.5 * (u[1 + i] * f.v[d] + (i == d ? pressure : 0));
    s.both[1 + i] = viscosity(i, d) * f.v[i];
    s.both[4] += 0.5 * s.both[1 + i] * f.v[i];
  }
  s.half[4] = 0.5 * (u[4] + pressure) * f.v[d];
#pragma unroll
  for (int m = 0; m < kSize; ++m) {
    s.own[m] = -2 * s.both[m] - (2 * kSpread + 6 * kSmooth) * u[m];
    s.both[m] += (kSpread + 4 * kSmooth) * u[m];
  }
  return s;
}

struct Grid {
  int n[3];
  __device__ int size(int d) const { return n[d]; }
  __device__ int step(int d) const { return d == 0 ? 1 : d == 1 ? n[0] : n[0] * n[1]; }
};

template <int d>
__device__ void rhs_thread(double* r, const double* u, Grid g, double dt) {
  const int cell = thread_index();
  if (cell >= g.n[0] * g.n[1] * g.n[2]) return;
  const int step = g.step(d), n = g.size(d), i = cell / step % n, first = cell - i * step;
  double value[kSize][kSize], sum[kSize];
#pragma unroll
  for (int j = 0; j < kSize; ++j) {
    const int at = first + min(max(i + j - 2, 0), n - 1) * step;
#pragma unroll
    for (int m = 0; m < kSize; ++m) value[j][m] = u[kSize * at + m];
  }
  const Share before = share<d>(value[1]), own = share<d>(value[2]), behind = share<d>(value[3]);
#pragma unroll
  for (int m = 0; m < kSize; ++m) {
    sum[m] = own.own[m] + (before.both[m] + before.half[m]) + (behind.both[m] - behind.half[m]) -
             kSmooth * (value[0][m] + value[4][m]);
    r[kSize * cell + m] = (d == 0 ? 0 : r[kSize * cell + m]) + dt * sum[m];
  }
}

// Warp by warp along a line: lanes 2 to 29 have cells of their own, the others those on which these depend.
template <int d>
__device__ void rhs_warp(double* r, const double* u, Grid g, double dt) {
  const int lane = threadIdx.x % 32, line = thread_index() / 32, step = g.step(d), n = g.size(d);
  if (line >= g.n[0] * g.n[1] * g.n[2] / n) return;
  const int first = line / step * step * n + line % step;
  for (int tile = -2; tile + 2 < n; tile += 28) {
    const int i = tile + lane, cell = first + min(max(i, 0), n - 1) * step;
    double value[kSize];
#pragma unroll
    for (int m = 0; m < kSize; ++m) value[m] = u[kSize * cell + m];
    const Share own = share<d>(value);
#pragma unroll
    for (int m = 0; m < kSize; ++m) {
      double sum = own.own[m] + __shfl_up_sync(~0u, own.both[m] + own.half[m], 1) +
                   __shfl_down_sync(~0u, own.both[m] - own.half[m], 1);
      sum -= kSmooth * (__shfl_up_sync(~0u, value[m], 2) + __shfl_down_sync(~0u, value[m], 2));
      if (lane >= 2 && lane < 30 && i < n)
        r[kSize * cell + m] = (d == 0 ? 0 : r[kSize * cell + m]) + dt * sum;
    }
  }
}

// How much momenta and energy are carried from cell to cell: along d, or along all directions together.
struct Spread {
  double momentum[3], heat;
};
__device__ Spread spread_along(int d) {
  return {{viscosity(0, d), viscosity(1, d), viscosity(2, d)}, kConduction};
}
__device__ Spread spread_in_all() {
  constexpr double kSum = 10.0 / 3 * kViscosity;
  return {{kSum, kSum, kSum}, 3 * kConduction};
}

// Element (m, k) of dF/du along d.
__device__ double convection(const Flow& f, int d, int m, int k) {
  const double g = kGamma - 1, along = f.v[d];
  if (m == 0) return k == 1 + d ? 1 : 0;
  if (m == 4) {
    if (k == 0) return along * (2 * g * f.square - kGamma * f.energy);
    if (k == 4) return kGamma * along;
    return (k == 1 + d ? kGamma * f.energy - g * f.square : 0) - g * along * f.v[k - 1];
  }
  if (k == 0) return (m == 1 + d ? g * f.square : 0) - f.v[m - 1] * along;
  if (k == 4) return m == 1 + d ? g : 0;
  return (k == 1 + d ? f.v[m - 1] : 0) + (m == k ? along : 0) - (m == 1 + d ? g * f.v[k - 1] : 0);
}
// Row 4 of dw/du: element k is what it returns times u[k] / density, but for k = 0.
__device__ double heat(const Flow& f, const Spread& s) {
  double sum = -s.heat * f.energy;
#pragma unroll
  for (int i = 0; i < 3; ++i) sum -= (s.momentum[i] - s.heat) * f.v[i] * f.v[i];
  return sum * f.inverse;
}
// Of dw/du.
__device__ double viscous(const Flow& f, const Spread& s, int m, int k) {
  if (m == 0) return 0;
  if (m < 4) {
    const double c = s.momentum[m - 1] * f.inverse;
    return k == m ? c : k == 0 ? -c * f.v[m - 1] : 0;
  }
  if (k == 0) return heat(f, s);
  return k == 4 ? s.heat * f.inverse : (s.momentum[k - 1] - s.heat) * f.v[k - 1] * f.inverse;
}
// Of the block of a neighbour along d, without dt: of one behind, or before.
__device__ double neighbour(const Flow& f, int d, int m, int k, bool behind) {
  const double flux = 0.5 * convection(f, d, m, k);
  return (behind ? flux : -flux) - viscous(f, spread_along(d), m, k) - (m == k ? kSpread : 0);
}
// Of the own block.
__device__ double own(const Flow& f, int m, int k, double dt) {
  return (m == k ? 1 + 6 * dt * kSpread : 0) + 2 * dt * viscous(f, spread_in_all(), m, k);
}

// The same for a lane, without branches. F = v_d u + p (e_d + v_d e_4), so that dF/du is v_d and two products
// of a column and a row. `row` and `column` are u[m] and u[k] over the density.
__device__ double convection_lane(const Flow& f, double row, double column, int d, int m, int k) {
  const double g = kGamma - 1, along = f.v[d], pressure = g * (f.energy - f.square);
  const double of_speed = (k == 1 + d ? 1 : 0) - (k == 0 ? along : 0);
  const double of_pressure = g * (k == 0 ? f.square : k == 4 ? 1 : -column);
  return (m == k ? along : 0) + (row + (m == 4 ? pressure : 0)) * of_speed +
         ((m == 1 + d ? 1 : 0) + (m == 4 ? along : 0)) * of_pressure;
}
__device__ double viscous_lane(const Flow& f, const Spread& s, double row, double column, int m, int k) {
  const double ck = k == 1 ? s.momentum[0] : k == 2 ? s.momentum[1] : s.momentum[2];
  const double cm = m == 1 ? s.momentum[0] : m == 2 ? s.momentum[1] : s.momentum[2];
  const double last = k == 0 ? heat(f, s) : (k == 4 ? s.heat : (ck - s.heat) * column) * f.inverse;
  const double other = cm * f.inverse * ((k == m ? 1 : 0) - (k == 0 ? row : 0));
  return m == 4 ? last : m == 0 ? 0 : other;
}

// Plane step->now of 0 to nx + ny + nz - 3, counted from the far corner if `back`: the cell with these y and
// z.
__device__ bool cell_of_plane(int& cell, int (&at)[3], const Grid& g, int now, int line, bool back) {
  const int y = line % g.n[1], z = line / g.n[1], x = now - y - z;
  if (z >= g.n[2] || x < 0 || x >= g.n[0]) return false;
  at[0] = x, at[1] = y, at[2] = z;
  cell = (z * g.n[1] + y) * g.n[0] + x;
  if (back) cell = g.n[0] * g.n[1] * g.n[2] - 1 - cell;
  return true;
}

template <bool back>
__device__ void sweep_thread(double* v, const double* u, Step* step, Grid g, double dt, double omega) {
  int cell, at[3];
  if (cell_of_plane(cell, at, g, static_cast<int>(step->now), thread_index(), back)) {
    double right[kSize], block[kSize][kSize];
#pragma unroll
    for (int m = 0; m < kSize; ++m) right[m] = back ? 0 : v[kSize * cell + m];
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      if (at[d] == 0) continue;
      const int other = kSize * (cell + (back ? g.step(d) : -g.step(d)));
      const Flow f = flow(u + other);
#pragma unroll
      for (int m = 0; m < kSize; ++m) {
        double sum = 0;
#pragma unroll
        for (int k = 0; k < kSize; ++k) sum += neighbour(f, d, m, k, back) * v[other + k];
        right[m] -= omega * dt * sum;
      }
    }
    const Flow f = flow(u + kSize * cell);
#pragma unroll
    for (int m = 0; m < kSize; ++m) {
#pragma unroll
      for (int k = 0; k < kSize; ++k) block[m][k] = own(f, m, k, dt);
    }
#pragma unroll
    for (int p = 0; p < kSize; ++p) {  // Gauss: no pivots, the diagonal is the largest
      const double pivot = 1 / block[p][p];
#pragma unroll
      for (int k = p + 1; k < kSize; ++k) block[p][k] *= pivot;
      right[p] *= pivot;
#pragma unroll
      for (int m = p + 1; m < kSize; ++m) {
#pragma unroll
        for (int k = p + 1; k < kSize; ++k) block[m][k] -= block[m][p] * block[p][k];
        right[m] -= block[m][p] * right[p];
      }
    }
#pragma unroll
    for (int m = kSize - 1; m >= 0; --m) {
#pragma unroll
      for (int k = m + 1; k < kSize; ++k) right[m] -= block[m][k] * right[k];
      v[kSize * cell + m] = (back ? v[kSize * cell + m] : 0) + right[m];
    }
  }
  end_step(step, g.n[0] + g.n[1] + g.n[2] - 2);
}

__device__ double from(double value, int m, int k) { return __shfl_sync(~0u, value, m * kSize + k); }

// Lanes 25 to 31 repeat the last element; the five lanes of a row have the same `right`.
template <bool back>
__device__ void sweep_warp(double* v, const double* u, Step* step, Grid g, double dt, double omega) {
  const int lane = min(static_cast<int>(threadIdx.x % 32), kElements - 1), m = lane / kSize, k = lane % kSize;
  int cell, at[3];
  if (cell_of_plane(cell, at, g, static_cast<int>(step->now), thread_index() / 32, back)) {
    double right = back ? 0 : v[kSize * cell + m], part = 0;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      if (at[d] == 0) continue;
      const int other = kSize * (cell + (back ? g.step(d) : -g.step(d)));
      const Flow f = flow(u + other);
      const double row = u[other + m] * f.inverse, column = u[other + k] * f.inverse;
      const double flux = 0.5 * convection_lane(f, row, column, d, m, k);
      part += ((back ? flux : -flux) - viscous_lane(f, spread_along(d), row, column, m, k) -
               (m == k ? kSpread : 0)) *
              v[other + k];
    }
    double sum = 0;
    for (int j = 0; j < kSize; ++j) sum += from(part, m, j);
    right -= omega * dt * sum;
    const Flow f = flow(u + kSize * cell);
    const double row = u[kSize * cell + m] * f.inverse, column = u[kSize * cell + k] * f.inverse;
    double block =
        (m == k ? 1 + 6 * dt * kSpread : 0) + 2 * dt * viscous_lane(f, spread_in_all(), row, column, m, k);
#pragma unroll
    for (int p = 0; p < kSize; ++p) {
      const double pivot = 1 / from(block, p, p), factor = from(block, m, p);
      const double block_p = from(block, p, k) * pivot, right_p = from(right, p, 0) * pivot;
      block = m == p ? block_p : block - factor * block_p;
      right = m == p ? right_p : right - factor * right_p;
    }
    if (threadIdx.x % 32 < kElements && k == 0)
      v[kSize * cell + m] = (back ? v[kSize * cell + m] : 0) + right;
  }
  end_step(step, g.n[0] + g.n[1] + g.n[2] - 2);
}

// A gas at rest, and the deviations that u has.
extern "C" __global__ void lu5_start(double* u, int values) {
  const int i = thread_index();
  if (i < values) u[i] = (i % kSize == 0 ? 1 : i % kSize == 4 ? 2.5 : 0) + 0.1 * u[i];
}
extern "C" __global__ void lu5_add(double* u, const double* v, int values, double omega) {
  const int i = thread_index();
  if (i < values) u[i] += v[i] / (omega * (2 - omega));
}

#define RHS(name, style, d)                                                                               \
  extern "C" __global__ void lu5_rhs_##name##_##style(double* r, const double* u, int nx, int ny, int nz, \
                                                      double dt) {                                        \
    rhs_##style<d>(r, u, {{nx, ny, nz}}, dt);                                                             \
  }
#define SWEEP(name, style, back)                                                                          \
  extern "C" __global__ void lu5_##name##_##style(double* v, const double* u, Step* step, int nx, int ny, \
                                                  int nz, double dt, double omega) {                      \
    sweep_##style<back>(v, u, step, {{nx, ny, nz}}, dt, omega);                                           \
  }
RHS(x, thread, 0)
RHS(y, thread, 1)
RHS(z, thread, 2)
RHS(x, warp, 0)
RHS(y, warp, 1)
RHS(z, warp, 2)
SWEEP(lower, thread, false)
SWEEP(upper, thread, true)
SWEEP(lower, warp, false)
SWEEP(upper, warp, true)
