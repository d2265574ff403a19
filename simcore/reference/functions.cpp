#include "simcore/reference/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "simcore/launch/element.h"

namespace gpusim::core {

namespace reference {

void refuse(const std::string& message) { throw InputError("error: " + message); }

void check_elements(const ReferenceArguments& args, uint64_t count) {
  if (count > args.room())
    refuse(fmt::format("the reference gives {} elements, the buffer has {}", count, args.room()));
}

void check_work(double operations) {
  constexpr double kMaxOperations = 4e10;
  if (operations > kMaxOperations) refuse("this is too large for a host reference");
}

}  // namespace reference

namespace {

using Args = ReferenceArguments;
using reference::check_elements;
using reference::check_work;
using reference::refuse;

/// Applies `op` to doubles or, for integer buffers, to 64-bit words (wrapping).
template <typename Op>
void element_wise(const Args& args, ReferenceResult& result, Op op) {
  const uint64_t n = std::min(args.buffer(0).count(), args.buffer(1).count());
  if (args.is_real(0)) {
    const auto a = args.reals(0, n);
    const auto b = args.reals(1, n);
    for (uint64_t i = 0; i < n; ++i) result.reals.push_back(op(a[i], b[i]));
    return;
  }
  result.is_integer = true;
  const auto a = args.integers(0, n);
  const auto b = args.integers(1, n);
  for (uint64_t i = 0; i < n; ++i) result.integers.push_back(op(a[i], b[i]));
}

void vecadd(const Args& args, ReferenceResult& result) {
  element_wise(args, result, [](auto a, auto b) { return a + b; });
}

void saxpy(const Args& args, ReferenceResult& result) {
  const uint64_t n = std::min(args.buffer(0).count(), args.buffer(1).count());
  const auto x = args.reals(0, n);
  const auto y = args.reals(1, n);
  for (uint64_t i = 0; i < n; ++i) result.reals.push_back(args.real(0, 0) * x[i] + y[i]);
}

void copy(const Args& args, ReferenceResult& result) {
  const uint64_t n = args.size(0, args.buffer(0).count());
  result.is_integer = !args.is_real(0);
  if (result.is_integer) {
    result.integers = args.integers(0, n);
    result.integers.resize(n);
  } else {
    result.reals = args.reals(0, n);
    result.reals.resize(n);
  }
}

/// C (M x N) = A (M x K) * B (K x N); element (r, c) of a matrix stands at r * row + c * column.
struct Layout {
  uint64_t row, column;
};
uint64_t last_index(uint64_t rows, uint64_t columns, Layout layout) {
  return rows == 0 || columns == 0 ? 0 : (rows - 1) * layout.row + (columns - 1) * layout.column + 1;
}

void multiply(const Args& args, ReferenceResult& result, uint64_t m, uint64_t n, uint64_t k, Layout la,
              Layout lb, Layout lc) {
  check_work(static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k));
  const auto a = args.reals(0, last_index(m, k, la));
  const auto b = args.reals(1, last_index(k, n, lb));
  const uint64_t size = last_index(m, n, lc);
  if (size == 0) return;
  check_elements(args, size);
  result.reals.assign(size, 0);
  result.covered.assign(size, false);
  std::vector<double> line(n);
  for (uint64_t i = 0; i < m; ++i) {
    std::fill(line.begin(), line.end(), 0.0);
    for (uint64_t x = 0; x < k; ++x) {
      const double factor = a[i * la.row + x * la.column];
      const double* row = b.data() + x * lb.row;
      for (uint64_t j = 0; j < n; ++j) line[j] += factor * row[j * lb.column];
    }
    for (uint64_t j = 0; j < n; ++j) {
      result.reals[i * lc.row + j * lc.column] = line[j];
      result.covered[i * lc.row + j * lc.column] = true;
    }
  }
}

struct MatmulSizes {
  uint64_t m, n, k;
};
MatmulSizes matmul_sizes(const Args& args) {
  if (args.numbers() == 0) {
    const auto side =
        static_cast<uint64_t>(std::llround(std::sqrt(static_cast<double>(args.buffer(0).count()))));
    if (side * side != args.buffer(0).count() || args.buffer(1).count() != side * side) {
      refuse("matmul(A, B) needs two square matrices of one size; else give M, N, K");
    }
    return {side, side, side};
  }
  if (args.numbers() < 3) refuse("matmul needs M, N and K, or none of them");
  return {args.size(0, 0), args.size(1, 0), args.size(2, 0)};
}

void pitch_at_least(const char* name, uint64_t pitch, uint64_t least) {
  if (pitch < least)
    refuse(fmt::format("{} = {} is less than {}, the length it must hold", name, pitch, least));
}

void matmul(const Args& args, ReferenceResult& result) {
  const auto [m, n, k] = matmul_sizes(args);
  const uint64_t lda = args.size(3, k), ldb = args.size(4, n), ldc = args.size(5, n);
  pitch_at_least("lda", lda, k);
  pitch_at_least("ldb", ldb, n);
  pitch_at_least("ldc", ldc, n);
  multiply(args, result, m, n, k, {lda, 1}, {ldb, 1}, {ldc, 1});
}

void matmul_cm(const Args& args, ReferenceResult& result) {
  const auto [m, n, k] = matmul_sizes(args);
  const uint64_t lda = args.size(3, m), ldb = args.size(4, k), ldc = args.size(5, m);
  pitch_at_least("lda", lda, m);
  pitch_at_least("ldb", ldb, k);
  pitch_at_least("ldc", ldc, m);
  multiply(args, result, m, n, k, {1, lda}, {1, ldb}, {1, ldc});
}

/// Row-major with transposed operands: A is stored K x M if `ta`, B is stored N x K if `tb`.
void matmul_t(const Args& args, ReferenceResult& result) {
  const auto [m, n, k] = matmul_sizes(args);
  const Layout a = args.size(3, 0) != 0 ? Layout{1, m} : Layout{k, 1};
  const Layout b = args.size(4, 0) != 0 ? Layout{1, k} : Layout{n, 1};
  multiply(args, result, m, n, k, a, b, {n, 1});
}

/// Sums of consecutive pieces of `piece` elements.
void piece_sums(const Args& args, ReferenceResult& result, uint64_t n, uint64_t piece) {
  if (piece == 0) refuse("a piece needs at least one element");
  if (args.is_real(0)) {
    const auto x = args.reals(0, n);
    for (uint64_t start = 0; start < n; start += piece) {
      double sum = 0;
      for (uint64_t i = start; i < std::min(n, start + piece); ++i) sum += x[i];
      result.reals.push_back(sum);
    }
    return;
  }
  result.is_integer = true;
  const auto x = args.integers(0, n);
  for (uint64_t start = 0; start < n; start += piece) {
    uint64_t sum = 0;
    for (uint64_t i = start; i < std::min(n, start + piece); ++i) sum += x[i];
    result.integers.push_back(sum);
  }
}

void reduce_sum(const Args& args, ReferenceResult& result) {
  const uint64_t n = args.size(0, args.buffer(0).count());
  piece_sums(args, result, n, std::max<uint64_t>(n, 1));
}

void block_sums(const Args& args, ReferenceResult& result) {
  piece_sums(args, result, args.size(1, args.buffer(0).count()), args.size(0, 0));
}

template <typename T>
std::vector<T> scan_of(const std::vector<T>& x, uint64_t n, uint64_t segment, bool inclusive) {
  std::vector<T> out(n);
  T sum{};
  for (uint64_t i = 0; i < n; ++i) {
    if (segment != 0 && i % segment == 0) sum = T{};
    if (inclusive) sum += x[i];
    out[i] = sum;
    if (!inclusive) sum += x[i];
  }
  return out;
}

void scan(const Args& args, ReferenceResult& result, bool inclusive) {
  const uint64_t n = args.buffer(0).count();
  const uint64_t segment = args.size(0, 0);
  result.is_integer = !args.is_real(0);
  if (result.is_integer) {
    result.integers = scan_of(args.integers(0, n), n, segment, inclusive);
  } else {
    result.reals = scan_of(args.reals(0, n), n, segment, inclusive);
  }
}
void scan_inclusive(const Args& args, ReferenceResult& result) { scan(args, result, true); }
void scan_exclusive(const Args& args, ReferenceResult& result) { scan(args, result, false); }

void transpose(const Args& args, ReferenceResult& result) {
  const uint64_t rows = args.size(0, 0), columns = args.size(1, 0);
  const uint64_t in_pitch = args.size(2, columns), out_pitch = args.size(3, rows);
  pitch_at_least("the input pitch", in_pitch, columns);
  pitch_at_least("the output pitch", out_pitch, rows);
  const uint64_t size = last_index(columns, rows, {out_pitch, 1});
  check_elements(args, size);
  const uint64_t need = last_index(rows, columns, {in_pitch, 1});
  result.is_integer = !args.is_real(0);
  result.covered.assign(size, false);
  const auto move = [&](const auto& in, auto& out) {
    out.resize(size);
    for (uint64_t r = 0; r < rows; ++r) {
      for (uint64_t c = 0; c < columns; ++c) {
        out[c * out_pitch + r] = in[r * in_pitch + c];
        result.covered[c * out_pitch + r] = true;
      }
    }
  };
  if (result.is_integer) {
    move(args.integers(0, need), result.integers);
  } else {
    move(args.reals(0, need), result.reals);
  }
}

void histogram(const Args& args, ReferenceResult& result) {
  const uint64_t bins = args.size(0, 0);
  if (bins == 0) refuse("a histogram needs at least one bin");
  check_elements(args, bins);
  if (args.is_real(0)) refuse("histogram needs a buffer of integers");
  result.is_integer = true;
  result.integers.assign(bins, 0);
  for (uint64_t value : args.integers(0, args.buffer(0).count())) ++result.integers[value % bins];
}

void spmv_csr(const Args& args, ReferenceResult& result) {
  if (args.is_real(0) || args.is_real(1)) refuse("row pointers and columns must be integers");
  const uint64_t entries = args.buffer(0).count();
  if (entries == 0) refuse("row pointers need at least one element");
  const auto row_pointers = args.integers(0, entries);
  const auto columns = args.integers(1, args.buffer(1).count());
  const auto values = args.reals(2, args.buffer(2).count());
  const auto x = args.reals(3, args.buffer(3).count());
  for (uint64_t row = 0; row + 1 < entries; ++row) {
    double sum = 0;
    for (uint64_t i = row_pointers[row]; i < row_pointers[row + 1]; ++i) {
      if (i >= columns.size() || i >= values.size() || columns[i] >= x.size()) {
        refuse(fmt::format("row {} of the matrix points outside its arrays", row));
      }
      sum += values[i] * x[columns[i]];
    }
    result.reals.push_back(sum);
  }
}

void collatz(const Args& args, ReferenceResult& result) {
  if (args.is_real(0)) refuse("collatz needs a buffer of integers");
  const uint64_t limit = args.size(0, 100000);
  result.is_integer = true;
  for (uint64_t value : args.integers(0, args.buffer(0).count())) {
    uint64_t steps = 0;
    for (; value > 1 && steps < limit; ++steps) value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    result.integers.push_back(steps);
  }
}

void stencil2d(const Args& args, ReferenceResult& result) {
  const uint64_t rows = args.size(0, 0), columns = args.size(1, 0);
  const double center = args.real(2, 0), neighbour = args.real(3, 0);
  const uint64_t steps = args.size(4, 1);
  const auto work = [](uint64_t n) { return static_cast<double>(std::max<uint64_t>(n, 1)); };
  check_work(work(rows) * work(columns) * work(steps));
  check_elements(args, rows * columns);
  std::vector<double> now = args.reals(0, rows * columns);
  now.resize(rows * columns);
  std::vector<double> next = now;  // the border keeps its values
  for (uint64_t step = 0; step < steps; ++step) {
    for (uint64_t r = 1; r + 1 < rows; ++r) {
      for (uint64_t c = 1; c + 1 < columns; ++c) {
        const uint64_t i = r * columns + c;
        next[i] =
            center * now[i] + neighbour * (now[i - 1] + now[i + 1] + now[i - columns] + now[i + columns]);
      }
    }
    std::swap(now, next);
  }
  result.reals = std::move(now);
}

void gather(const Args& args, ReferenceResult& result) {
  if (args.is_real(1)) refuse("gather needs integer indices");
  const auto values = args.reals(0, args.buffer(0).count());
  for (uint64_t index : args.integers(1, args.buffer(1).count())) {
    if (index >= values.size()) refuse(fmt::format("index {} is outside '{}'", index, args.buffer(0).name));
    result.reals.push_back(values[index]);
  }
}

const ReferenceFunction kFunctions[] = {
    {"copy", "b|n", "copy(A[, n]): A[i]", copy},
    {"vecadd", "bb", "vecadd(A, B): A[i] + B[i]", vecadd},
    {"saxpy", "nbb", "saxpy(a, X, Y): a * X[i] + Y[i]", saxpy},
    {"matmul", "bb|nnnnnn",
     "matmul(A, B[, M, N, K[, lda, ldb, ldc]]): row-major C = A * B, C is M x N; without sizes square",
     matmul},
    {"matmul_cm", "bb|nnnnnn", "matmul_cm(A, B[, M, N, K[, lda, ldb, ldc]]): the same, column-major",
     matmul_cm},
    {"matmul_t", "bbnnnnn",
     "matmul_t(A, B, M, N, K, ta, tb): row-major C = op(A) * op(B); A is stored transposed if ta is 1, B if "
     "tb",
     matmul_t},
    {"reduce_sum", "b|n", "reduce_sum(X[, n]): one element, the sum of the first n", reduce_sum},
    {"block_sums", "bn|n", "block_sums(X, piece[, n]): sums of consecutive pieces", block_sums},
    {"scan_inclusive", "b|n", "scan_inclusive(X[, segment]): prefix sums, restarted every `segment` elements",
     scan_inclusive},
    {"scan_exclusive", "b|n", "scan_exclusive(X[, segment]): prefix sums without the element itself",
     scan_exclusive},
    {"transpose", "bnn|nn", "transpose(A, rows, columns[, in_pitch, out_pitch]): row-major transpose",
     transpose},
    {"histogram", "bn", "histogram(X, bins): counts of X[i] modulo bins", histogram},
    {"spmv_csr", "bbbb", "spmv_csr(row_pointers, columns, values, x): sparse matrix times vector", spmv_csr},
    {"collatz", "b|n", "collatz(X[, limit]): steps of 3n+1 until 1, at most limit (100000)", collatz},
    {"stencil2d", "bnnnn|n",
     "stencil2d(A, rows, columns, center, neighbour[, steps]): 5-point stencil, border unchanged", stencil2d},
    {"gather", "bb", "gather(A, index): A[index[i]]", gather},
    {"sort", "b", "sort(X): ascending", reference::sort},
    {"bfs", "bb|n", "bfs(row_pointers, columns[, source]): levels of a graph's vertices, -1: not reached",
     reference::bfs},
    {"convolve2d", "bbnnn",
     "convolve2d(A, F, rows, columns, radius): sums of F[i, j] * A[r + i - radius, c + j - radius], 0 "
     "outside",
     reference::convolve2d},
    {"nbody", "bnn", "nbody(P, n, softening): accelerations (x, y, z, 0) of bodies (x, y, z, mass)",
     reference::nbody},
    {"softmax", "bnn", "softmax(X, rows, columns): of each row", reference::softmax},
    {"attention", "bbbnnn", "attention(Q, K, V, n, m, d): softmax(Q K^T / sqrt(d)) V, Q n x d, K and V m x d",
     reference::attention},
    {"dft", "bn|n", "dft(X, n[, inverse]): of each n complex numbers; with inverse = 1 the sums of exp(+...)",
     reference::dft},
    {"dft3d", "bnnn", "dft3d(X, nx, ny, nz): of a grid of complex numbers, x fastest", reference::dft3d},
    {"heat3d", "bnnnn", "heat3d(X, nx, ny, nz, t): inverse DFT of exp(-t (kx^2 + ky^2 + kz^2)) * DFT of X",
     reference::heat3d},
    {"cg", "bbbbn",
     "cg(row_pointers, columns, values, b, steps): conjugate gradients for a sparse matrix, from x = 0",
     reference::cg},
    {"multigrid3d", "bn|n",
     "multigrid3d(V, n[, levels]): one V-cycle for the periodic Poisson problem as in NPB MG, from u = 0",
     reference::multigrid3d},
    {"sweeps3d", "bnnnnn",
     "sweeps3d(R, nx, ny, nz, a, b): v = a R + b (v of the 3 cells before), then u = v + b (u of the 3 "
     "behind)",
     reference::sweeps3d},
    {"penta3d", "bbn", "penta3d(R, S, n): pentadiagonal systems along x, y and z (workloads/npb/sp.cu)",
     reference::penta3d},
    {"block_tri3d", "bbn",
     "block_tri3d(R, U, n): block-tridiagonal systems along x, y and z (workloads/npb/bt.cu)",
     reference::block_tri3d},
};

}  // namespace

std::span<const ReferenceFunction> reference_functions() { return kFunctions; }

uint64_t ReferenceArguments::size(size_t i, uint64_t fallback) const {
  if (i >= numbers_.size()) return fallback;
  const Number& number = numbers_[i];
  if (!number.is_integer || number.integer < 0 || number.integer > (int64_t{1} << 31)) {
    refuse(fmt::format("number {} of the reference must be an integer from 0 to 2^31", i + 1));
  }
  return static_cast<uint64_t>(number.integer);
}

double ReferenceArguments::real(size_t i, double fallback) const {
  return i < numbers_.size() ? numbers_[i].as_double() : fallback;
}

namespace {

void need_elements(const ReferenceInput& input, uint64_t need) {
  if (need > input.count()) {
    refuse(fmt::format("the reference reads {} elements of '{}', which has {}", need, input.name,
                       input.count()));
  }
}

}  // namespace

std::vector<double> ReferenceArguments::reals(size_t buffer, uint64_t need) const {
  const ReferenceInput& input = buffers_[buffer];
  need_elements(input, need);
  std::vector<double> values(input.count());
  const uint32_t step = element_bytes(input.type);
  for (uint64_t i = 0; i < values.size(); ++i)
    values[i] = load_element(input.type, input.content.data() + i * step).as_double();
  return values;
}

std::vector<uint64_t> ReferenceArguments::integers(size_t buffer, uint64_t need) const {
  const ReferenceInput& input = buffers_[buffer];
  need_elements(input, need);
  std::vector<uint64_t> values(input.count());
  const uint32_t step = element_bytes(input.type);
  for (uint64_t i = 0; i < values.size(); ++i) {
    const std::byte* at = input.content.data() + i * step;
    values[i] = element_is_signed(input.type) ? static_cast<uint64_t>(load_element(input.type, at).integer)
                                              : element_bits(input.type, at);
  }
  return values;
}

}  // namespace gpusim::core
