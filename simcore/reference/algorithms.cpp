#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <deque>
#include <numbers>

#include "simcore/reference/functions.h"

namespace gpusim::core::reference {
namespace {

using Args = ReferenceArguments;
using Complex = std::complex<double>;

double product(std::initializer_list<uint64_t> factors) {
  double all = 1;
  for (uint64_t factor : factors) all *= static_cast<double>(std::max<uint64_t>(factor, 1));
  return all;
}

std::vector<Complex> complex_numbers(const Args& args, uint64_t count) {
  const auto pairs = args.reals(0, 2 * count);
  std::vector<Complex> values(count);
  for (uint64_t i = 0; i < count; ++i) values[i] = {pairs[2 * i], pairs[2 * i + 1]};
  return values;
}

void store(const std::vector<Complex>& values, ReferenceResult& result) {
  for (const Complex& value : values) {
    result.reals.push_back(value.real());
    result.reals.push_back(value.imag());
  }
}

/// Plain sums over the definition, of `n` numbers `stride` apart; `sign` is that of the exponent.
void transform(Complex* x, uint64_t n, uint64_t stride, double sign) {
  std::vector<Complex> root(n), in(n);
  for (uint64_t i = 0; i < n; ++i) {
    const double angle = sign * 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
    root[i] = {std::cos(angle), std::sin(angle)};
    in[i] = x[i * stride];
  }
  for (uint64_t k = 0; k < n; ++k) {
    Complex sum = 0;
    for (uint64_t i = 0, turn = 0; i < n; ++i, turn = (turn + k) % n) sum += in[i] * root[turn];
    x[k * stride] = sum;
  }
}

struct Grid {
  uint64_t x, y, z;
  [[nodiscard]] uint64_t cells() const { return x * y * z; }
};

Grid grid_of(const Args& args) {
  const Grid grid{args.size(0, 0), args.size(1, 0), args.size(2, 0)};
  check_work(product({grid.x, grid.y, grid.z, grid.x + grid.y + grid.z}) * 4);
  check_elements(args, 2 * grid.cells());
  return grid;
}

void transform3d(std::vector<Complex>& values, Grid grid, double sign) {
  for (uint64_t line = 0; line < grid.y * grid.z; ++line) {
    transform(values.data() + line * grid.x, grid.x, 1, sign);
  }
  for (uint64_t z = 0; z < grid.z; ++z) {
    for (uint64_t x = 0; x < grid.x; ++x) {
      transform(values.data() + z * grid.x * grid.y + x, grid.y, grid.x, sign);
    }
  }
  for (uint64_t column = 0; column < grid.x * grid.y; ++column) {
    transform(values.data() + column, grid.z, grid.x * grid.y, sign);
  }
}

/// Squared wave number of index i: indices above n / 2 are negative ones.
double square_of_wave(uint64_t i, uint64_t n) {
  const double wave = i > n / 2 ? static_cast<double>(i) - static_cast<double>(n) : static_cast<double>(i);
  return wave * wave;
}

void softmax_row(std::vector<double>& row) {
  const double most = row.empty() ? 0 : *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (double& value : row) sum += value = std::exp(value - most);
  for (double& value : row) value /= sum;
}

}  // namespace

void sort(const Args& args, ReferenceResult& result) {
  const uint64_t n = args.buffer(0).count();
  result.is_integer = !args.is_real(0);
  if (!result.is_integer) {
    result.reals = args.reals(0, n);
    std::sort(result.reals.begin(), result.reals.end());
    return;
  }
  result.integers = args.integers(0, n);
  if (element_is_signed(args.buffer(0).type)) {
    std::sort(result.integers.begin(), result.integers.end(),
              [](uint64_t a, uint64_t b) { return static_cast<int64_t>(a) < static_cast<int64_t>(b); });
  } else {
    std::sort(result.integers.begin(), result.integers.end());
  }
}

void bfs(const Args& args, ReferenceResult& result) {
  if (args.is_real(0) || args.is_real(1)) refuse("row pointers and columns must be integers");
  const auto starts = args.integers(0, args.buffer(0).count());
  const auto columns = args.integers(1, args.buffer(1).count());
  const uint64_t vertices = starts.empty() ? 0 : starts.size() - 1;
  const uint64_t source = args.size(0, 0);
  if (source >= vertices) refuse(fmt::format("the graph has {} vertices, no {}", vertices, source));
  result.is_integer = true;
  result.integers.assign(vertices, ~uint64_t{0});
  result.integers[source] = 0;
  for (std::deque<uint64_t> queue{source}; !queue.empty(); queue.pop_front()) {
    const uint64_t vertex = queue.front();
    for (uint64_t i = starts[vertex]; i < starts[vertex + 1]; ++i) {
      if (i >= columns.size() || columns[i] >= vertices) {
        refuse(fmt::format("row {} of the graph points outside its arrays", vertex));
      }
      if (result.integers[columns[i]] != ~uint64_t{0}) continue;
      result.integers[columns[i]] = result.integers[vertex] + 1;
      queue.push_back(columns[i]);
    }
  }
}

void convolve2d(const Args& args, ReferenceResult& result) {
  const uint64_t rows = args.size(0, 0), columns = args.size(1, 0), radius = args.size(2, 0);
  const uint64_t side = 2 * radius + 1;
  check_work(product({rows, columns, side, side}));
  check_elements(args, rows * columns);
  const auto a = args.reals(0, rows * columns);
  const auto filter = args.reals(1, side * side);
  for (uint64_t r = 0; r < rows; ++r) {
    for (uint64_t c = 0; c < columns; ++c) {
      double sum = 0;
      for (uint64_t i = 0; i < side * side; ++i) {
        const uint64_t y = r + i / side - radius, x = c + i % side - radius;  // wraps: far outside
        if (y < rows && x < columns) sum += filter[i] * a[y * columns + x];
      }
      result.reals.push_back(sum);
    }
  }
}

void nbody(const Args& args, ReferenceResult& result) {
  const uint64_t n = args.size(0, 0);
  const double softening = args.real(1, 0);
  check_work(product({n, n}) * 10);
  check_elements(args, 4 * n);
  const auto bodies = args.reals(0, 4 * n);
  for (uint64_t i = 0; i < n; ++i) {
    double sum[4] = {};
    for (uint64_t j = 0; j < n; ++j) {
      double distance[3], square = softening * softening;
      for (uint64_t k = 0; k < 3; ++k) {
        distance[k] = bodies[4 * j + k] - bodies[4 * i + k];
        square += distance[k] * distance[k];
      }
      for (uint64_t k = 0; k < 3; ++k) {
        sum[k] += bodies[4 * j + 3] * distance[k] / (square * std::sqrt(square));
      }
    }
    result.reals.insert(result.reals.end(), sum, sum + 4);
  }
}

void softmax(const Args& args, ReferenceResult& result) {
  const uint64_t rows = args.size(0, 0), columns = args.size(1, 0);
  check_elements(args, rows * columns);
  const auto x = args.reals(0, rows * columns);
  for (uint64_t r = 0; r < rows; ++r) {
    std::vector<double> row(x.begin() + static_cast<int64_t>(r * columns),
                            x.begin() + static_cast<int64_t>((r + 1) * columns));
    softmax_row(row);
    result.reals.insert(result.reals.end(), row.begin(), row.end());
  }
}

void attention(const Args& args, ReferenceResult& result) {
  const uint64_t n = args.size(0, 0), m = args.size(1, 0), d = args.size(2, 0);
  if (d == 0) refuse("attention needs values to work on");
  check_work(product({n, m, d}) * 2);
  check_elements(args, n * d);
  const auto q = args.reals(0, n * d), k = args.reals(1, m * d), v = args.reals(2, m * d);
  std::vector<double> scores(m), line(d);
  for (uint64_t i = 0; i < n; ++i) {
    for (uint64_t j = 0; j < m; ++j) {
      scores[j] = 0;
      for (uint64_t c = 0; c < d; ++c) scores[j] += q[i * d + c] * k[j * d + c];
      scores[j] /= std::sqrt(static_cast<double>(d));
    }
    softmax_row(scores);
    std::fill(line.begin(), line.end(), 0.0);
    for (uint64_t j = 0; j < m; ++j) {
      for (uint64_t c = 0; c < d; ++c) line[c] += scores[j] * v[j * d + c];
    }
    result.reals.insert(result.reals.end(), line.begin(), line.end());
  }
}

void dft(const Args& args, ReferenceResult& result) {
  const uint64_t n = args.size(0, 0);
  const uint64_t count = args.buffer(0).count() / 2;
  if (n == 0 || count % n != 0) refuse(fmt::format("{} complex numbers are no pieces of {}", count, n));
  check_work(product({count, n}) * 4);
  auto values = complex_numbers(args, count);
  for (uint64_t i = 0; i < count; i += n) transform(values.data() + i, n, 1, args.size(1, 0) != 0 ? 1 : -1);
  store(values, result);
}

void dft3d(const Args& args, ReferenceResult& result) {
  const Grid grid = grid_of(args);
  auto values = complex_numbers(args, grid.cells());
  transform3d(values, grid, -1);
  store(values, result);
}

void heat3d(const Args& args, ReferenceResult& result) {
  const Grid grid = grid_of(args);
  const double time = args.real(3, 0);
  auto values = complex_numbers(args, grid.cells());
  transform3d(values, grid, -1);
  auto value = values.begin();
  for (uint64_t z = 0; z < grid.z; ++z)
    for (uint64_t y = 0; y < grid.y; ++y)
      for (uint64_t x = 0; x < grid.x; ++x) {
        const double square =
            square_of_wave(x, grid.x) + square_of_wave(y, grid.y) + square_of_wave(z, grid.z);
        *value++ *= std::exp(-time * square) / static_cast<double>(grid.cells());
      }
  transform3d(values, grid, 1);
  store(values, result);
}

}  // namespace gpusim::core::reference
