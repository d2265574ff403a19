#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "simcore/reference/functions.h"

namespace gpusim::core::reference {
namespace {

using Args = ReferenceArguments;
using Reals = std::vector<double>;

double dot(const Reals& a, const Reals& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

uint64_t cube(const Args& args, uint64_t n, uint64_t values_per_cell, double work_per_value) {
  const auto side = static_cast<double>(n);
  check_work(side * side * side * static_cast<double>(values_per_cell) * work_per_value);
  check_elements(args, n * n * n * values_per_cell);
  return n * n * n;
}

/// A periodic cube of cells with side n.
struct Cube {
  explicit Cube(uint64_t side) : n(side), cell(side * side * side) {}
  [[nodiscard]] double& at(uint64_t x, uint64_t y, uint64_t z) {
    return cell[((z % n) * n + y % n) * n + x % n];
  }
  uint64_t n;
  Reals cell;
};

/// Weights of a 3x3x3 stencil by the number of coordinates that differ from the centre's.
using Weights = std::array<double, 4>;

double weighted(Cube& in, const Weights& weights, uint64_t x, uint64_t y, uint64_t z) {
  double sum = 0;
  for (uint64_t i = 0; i < 27; ++i) {
    const uint64_t dx = i % 3, dy = i / 3 % 3, dz = i / 9;
    const size_t apart = (dx != 1) + (dy != 1) + (dz != 1);
    sum += weights[apart] * in.at(x + in.n + dx - 1, y + in.n + dy - 1, z + in.n + dz - 1);
  }
  return sum;
}

/// out += factor * stencil(in)
void add_stencil(Cube& out, Cube& in, const Weights& weights, double factor) {
  for (uint64_t z = 0; z < in.n; ++z) {
    for (uint64_t y = 0; y < in.n; ++y) {
      for (uint64_t x = 0; x < in.n; ++x) out.at(x, y, z) += factor * weighted(in, weights, x, y, z);
    }
  }
}

// The operators of the NAS Parallel Benchmarks' MG: A, the smoother S (classes S, W, A) and the restriction.
constexpr Weights kOperator = {-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};
constexpr Weights kSmoother = {-3.0 / 8, 1.0 / 32, -1.0 / 64, 0};
constexpr Weights kRestriction = {1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16};

Cube restricted(Cube& fine) {
  Cube coarse(fine.n / 2);
  for (uint64_t z = 0; z < coarse.n; ++z) {
    for (uint64_t y = 0; y < coarse.n; ++y) {
      for (uint64_t x = 0; x < coarse.n; ++x) {
        coarse.at(x, y, z) = weighted(fine, kRestriction, 2 * x, 2 * y, 2 * z);
      }
    }
  }
  return coarse;
}

/// Trilinear: cell 2i of the fine grid is cell i of the coarse one, those between are means.
Cube prolongated(Cube& coarse) {
  Cube fine(2 * coarse.n);
  for (uint64_t z = 0; z < fine.n; ++z) {
    for (uint64_t y = 0; y < fine.n; ++y) {
      for (uint64_t x = 0; x < fine.n; ++x) {
        double sum = 0;
        for (uint64_t i = 0; i < 8; ++i) {
          sum += coarse.at((x + i % 2) / 2, (y + i / 2 % 2) / 2, (z + i / 4) / 2);
        }
        fine.at(x, y, z) = sum / 8;
      }
    }
  }
  return fine;
}

Cube v_cycle(Cube& residual, uint64_t levels) {
  Cube u(residual.n);
  if (levels > 1) {
    Cube coarse = restricted(residual);
    Cube correction = v_cycle(coarse, levels - 1);
    u = prolongated(correction);
    Cube left = residual;
    add_stencil(left, u, kOperator, -1);
    add_stencil(u, left, kSmoother, 1);
  } else {
    add_stencil(u, residual, kSmoother, 1);
  }
  return u;
}

/// Cells of line `line` along direction 0 (x), 1 or 2 of a cube with side n.
struct Line {
  Line(uint64_t side, int direction, uint64_t line) : n(side) {
    const uint64_t a = line % n, b = line / n;
    first = direction == 0 ? line * n : direction == 1 ? b * n * n + a : b * n + a;
    stride = direction == 0 ? 1 : direction == 1 ? n : n * n;
  }
  [[nodiscard]] uint64_t cell(uint64_t i) const { return first + i * stride; }
  uint64_t n, first, stride;
};

// The systems along lines are strictly diagonally dominant (states from 0 to 1): Gauss-Seidel steps, each of
// which takes away at least two fifths of the error, solve them to double precision whatever algorithm a
// kernel uses.
constexpr int kGaussSeidelSteps = 60;

void solve_penta(Reals& values, const Reals& speed, const Line& line) {
  const auto n = static_cast<int64_t>(line.n);
  Reals x(line.n, 0);
  const auto s = [&](int64_t i) { return speed[line.cell(static_cast<uint64_t>(i))]; };
  for (int step = 0; step < kGaussSeidelSteps; ++step) {
    for (int64_t i = 0; i < n; ++i) {
      double sum = values[line.cell(static_cast<uint64_t>(i))];
      const auto take = [&](int64_t j, double coefficient) {
        sum -= coefficient * x[static_cast<size_t>(j)];
      };
      if (i >= 2) take(i - 2, 0.0625);
      if (i >= 1) take(i - 1, -0.25 - 0.125 * s(i - 1));
      if (i + 1 < n) take(i + 1, -0.25 + 0.125 * s(i + 1));
      if (i + 2 < n) take(i + 2, 0.0625);
      x[static_cast<size_t>(i)] = sum / (2 + 0.25 * s(i));
    }
  }
  for (uint64_t i = 0; i < line.n; ++i) values[line.cell(i)] = x[i];
}

constexpr uint64_t kEquations = 5;

/// Value m of a cell's five, which lie `cells` apart.
struct Fields {
  Reals value;
  uint64_t cells;
  [[nodiscard]] double& at(uint64_t cell, uint64_t m) { return value[m * cells + cell]; }
};

void solve_block_tri(Fields& right, Fields& state, const Line& line) {
  std::vector<std::array<double, kEquations>> x(line.n);
  for (auto& cell : x) cell.fill(0);
  // Row m of (factor * J(state of a cell) + diagonal * I) times a vector, J[m][k] = state[(m + k) mod 5].
  const auto row = [&](uint64_t i, uint64_t m, double factor, double diagonal) {
    double sum = diagonal * x[i][m];
    for (uint64_t k = 0; k < kEquations; ++k) {
      sum += factor * state.at(line.cell(i), (m + k) % kEquations) * x[i][k];
    }
    return sum;
  };
  for (int step = 0; step < kGaussSeidelSteps; ++step) {
    for (uint64_t i = 0; i < line.n; ++i) {
      for (uint64_t m = 0; m < kEquations; ++m) {
        double sum = right.at(line.cell(i), m);
        if (i > 0) sum -= row(i - 1, m, -0.02, -0.1);
        if (i + 1 < line.n) sum -= row(i + 1, m, 0.02, -0.1);
        const double own = 1 + 0.04 * state.at(line.cell(i), 2 * m % kEquations);
        x[i][m] = (sum - row(i, m, 0.04, 1) + own * x[i][m]) / own;
      }
    }
  }
  for (uint64_t i = 0; i < line.n; ++i) {
    for (uint64_t m = 0; m < kEquations; ++m) right.at(line.cell(i), m) = x[i][m];
  }
}

}  // namespace

void cg(const Args& args, ReferenceResult& result) {
  if (args.is_real(0) || args.is_real(1)) refuse("row pointers and columns must be integers");
  const auto starts = args.integers(0, args.buffer(0).count());
  const auto columns = args.integers(1, args.buffer(1).count());
  const auto values = args.reals(2, columns.size());
  const uint64_t n = starts.empty() ? 0 : starts.size() - 1;
  const uint64_t steps = args.size(0, 0);
  Reals r = args.reals(3, n), p = r, q(n), x(n, 0.0);
  check_work(static_cast<double>(columns.size() + n) * static_cast<double>(steps) * 4);
  double rho = dot(r, r);
  for (uint64_t step = 0; step < steps; ++step) {
    for (uint64_t row = 0; row < n; ++row) {
      q[row] = 0;
      for (uint64_t i = starts[row]; i < starts[row + 1]; ++i) {
        if (i >= columns.size() || columns[i] >= n) {
          refuse(fmt::format("row {} of the matrix points outside its arrays", row));
        }
        q[row] += values[i] * p[columns[i]];
      }
    }
    const double alpha = rho / dot(p, q), before = rho;
    for (uint64_t i = 0; i < n; ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    rho = dot(r, r);
    for (uint64_t i = 0; i < n; ++i) p[i] = r[i] + rho / before * p[i];
  }
  result.reals = std::move(x);
}

void multigrid3d(const Args& args, ReferenceResult& result) {
  const uint64_t n = args.size(0, 0), levels = args.size(1, 1);
  if (levels == 0 || levels > 16 || n == 0 || n % (uint64_t{1} << (levels - 1)) != 0) {
    refuse(fmt::format("a cube of side {} has no {} grids", n, levels));
  }
  const uint64_t cells = cube(args, n, 1, 300);
  Cube right(n);
  right.cell = args.reals(0, cells);
  right.cell.resize(cells);
  result.reals = v_cycle(right, levels).cell;
}

void sweeps3d(const Args& args, ReferenceResult& result) {
  const uint64_t nx = args.size(0, 0), ny = args.size(1, 0), nz = args.size(2, 0);
  const double a = args.real(3, 0), b = args.real(4, 0);
  check_work(static_cast<double>(nx) * static_cast<double>(ny) * static_cast<double>(nz) * 10);
  check_elements(args, nx * ny * nz);
  Reals v = args.reals(0, nx * ny * nz);
  v.resize(nx * ny * nz);
  const auto at = [&](uint64_t i) { return std::array<uint64_t, 3>{i % nx, i / nx % ny, i / (nx * ny)}; };
  const uint64_t stride[] = {1, nx, nx * ny}, side[] = {nx, ny, nz};
  for (uint64_t i = 0; i < v.size(); ++i) {
    double sum = 0;
    for (size_t d = 0; d < 3; ++d) sum += at(i)[d] > 0 ? v[i - stride[d]] : 0;
    v[i] = a * v[i] + b * sum;
  }
  for (uint64_t i = v.size(); i-- > 0;) {
    double sum = 0;
    for (size_t d = 0; d < 3; ++d) sum += at(i)[d] + 1 < side[d] ? v[i + stride[d]] : 0;
    v[i] += b * sum;
  }
  result.reals = std::move(v);
}

void penta3d(const Args& args, ReferenceResult& result) {
  const uint64_t n = args.size(0, 0);
  const uint64_t cells = cube(args, n, 1, 3 * 10 * kGaussSeidelSteps);
  Reals values = args.reals(0, cells);
  const Reals speed = args.reals(1, cells);
  values.resize(cells);
  for (int direction = 0; direction < 3; ++direction) {
    for (uint64_t line = 0; line < n * n; ++line) solve_penta(values, speed, {n, direction, line});
  }
  result.reals = std::move(values);
}

void block_tri3d(const Args& args, ReferenceResult& result) {
  const uint64_t n = args.size(0, 0);
  const uint64_t cells = cube(args, n, kEquations, 3 * 20 * kGaussSeidelSteps);
  Fields right{args.reals(0, cells * kEquations), cells}, state{args.reals(1, cells * kEquations), cells};
  right.value.resize(cells * kEquations);
  for (int direction = 0; direction < 3; ++direction) {
    for (uint64_t line = 0; line < n * n; ++line) solve_block_tri(right, state, {n, direction, line});
  }
  result.reals = std::move(right.value);
}

}  // namespace gpusim::core::reference
