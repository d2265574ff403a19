// Host references of simcore/reference/algorithms.cpp and solvers.cpp against values worked out by hand, or
// against the equation that the result must solve.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "simcore/reference/reference.h"

namespace gpusim::core {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

struct Input {
  std::string name, type;
  std::vector<double> values;
};

/// What `reference` expects of a buffer C of `room` elements.
ReferenceResult expected(const std::string& reference, const std::vector<Input>& inputs, uint64_t room,
                         const std::string& type = "f64") {
  std::string text;
  for (const Input& input : inputs) {
    text += fmt::format("[[buffer]]\nname = \"{}\"\ntype = \"{}\"\ninit = [", input.name, input.type);
    for (double value : input.values) {
      text += input.type == "f64" ? fmt::format("{:.17e}, ", value) : fmt::format("{}, ", value);
    }
    text += "]\n";
  }
  text += fmt::format(
      "[[buffer]]\nname = \"C\"\ntype = \"{}\"\ncount = {}\n[[launch]]\ngrid = 1\nblock = 1\n", type, room);
  const LaunchDescription launch = parse_launch(text, "w.toml", {}, 1);
  ExpressionError error;
  const auto call = parse_reference(reference, launch, error);
  if (!call) throw std::runtime_error(error.message);
  return evaluate_reference(*call, launch, room);
}

std::vector<double> reals(const std::string& reference, const std::vector<Input>& inputs, uint64_t room) {
  return expected(reference, inputs, room).reals;
}

/// Numbers from 0 to 1 without a pattern.
std::vector<double> numbers(size_t count, double seed) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) {
    const double x = std::sin(static_cast<double>(i) * 12.9898 + seed) * 43758.5453;
    values[i] = x - std::floor(x);
  }
  return values;
}

std::string numeric_error(const std::string& reference, const std::vector<Input>& inputs, uint64_t room) {
  try {
    (void)expected(reference, inputs, room);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

TEST(Algorithms, MatrixProductsWithTransposedOperands) {
  const Input a{"A", "f64", {1, 2, 3, 4, 5, 6}}, b{"B", "f64", {1, 10, 100, 1000, 10000, 100000}};
  EXPECT_THAT(reals("matmul_t(A, B, 2, 2, 3, 0, 0)", {a, b}, 4), ElementsAre(30201, 302010, 60504, 605040));
  EXPECT_THAT(reals("matmul_t(A, B, 2, 2, 3, 0, 1)", {a, b}, 4), ElementsAre(321, 321000, 654, 654000));
  EXPECT_THAT(reals("matmul_t(A, B, 2, 2, 3, 1, 0)", {a, b}, 4), ElementsAre(50301, 503010, 60402, 604020));
  EXPECT_THAT(reals("matmul_t(A, B, 2, 2, 3, 1, 1)", {a, b}, 4), ElementsAre(531, 531000, 642, 642000));
}

TEST(Algorithms, SortBySignAndType) {
  const std::vector<double> values = {3, 1, 4294967295.0, 2};
  EXPECT_THAT(expected("sort(A)", {{"A", "u32", values}}, 4, "u32").integers,
              ElementsAre(1, 2, 3, 4294967295));
  EXPECT_THAT(expected("sort(A)", {{"A", "s32", {3, -1, 2}}}, 3, "s32").integers,
              ElementsAre(~uint64_t{0}, 2, 3));
  EXPECT_THAT(reals("sort(A)", {{"A", "f64", {0.5, -2, 0.25}}}, 3), ElementsAre(-2, 0.25, 0.5));
}

TEST(Algorithms, LevelsOfAGraph) {
  // 0 -> 1, 2; 1 -> 3; 2 -> 3; 3 -> 0; nothing leads to 4.
  const Input rows{"R", "s32", {0, 2, 3, 4, 5, 6}}, columns{"K", "s32", {1, 2, 3, 3, 0, 0}};
  const uint64_t never = ~uint64_t{0};
  EXPECT_THAT(expected("bfs(R, K)", {rows, columns}, 5, "s32").integers, ElementsAre(0, 1, 1, 2, never));
  EXPECT_THAT(expected("bfs(R, K, 4)", {rows, columns}, 5, "s32").integers, ElementsAre(1, 2, 2, 3, 0));
  EXPECT_THAT(numeric_error("bfs(R, K, 5)", {rows, columns}, 5), HasSubstr("5 vertices, no 5"));
  EXPECT_THAT(numeric_error("bfs(R, K, 4)", {rows, {"K", "s32", {1, 2, 3, 3, 0}}}, 5),
              HasSubstr("outside its arrays"));
}

TEST(Algorithms, ConvolutionIsZeroOutside) {
  const Input a{"A", "f64", {1, 2, 3, 4, 5, 6}}, filter{"F", "f64", {0, 1, 0, 0, 100, 10, 0, 0, 0}};
  EXPECT_THAT(reals("convolve2d(A, F, 2, 3, 1)", {a, filter}, 6), ElementsAre(120, 230, 300, 451, 562, 603));
}

TEST(Algorithms, BodiesAttractEachOther) {
  // Three bodies on a line; softening 0 is impossible with i = j, so it is small against the distances.
  const Input bodies{"P", "f64", {0, 0, 0, 1, 2, 0, 0, 8, 0, 4, 0, 16}};
  const auto a = reals("nbody(P, 3, 1e-6)", {bodies}, 12);
  const double diagonal = std::pow(20, -1.5);
  const double exact[] = {
      2, 1, 0, 0, -0.25 - 32 * diagonal, 64 * diagonal, 0, 0, 16 * diagonal, -1.0 / 16 - 32 * diagonal, 0, 0};
  EXPECT_THAT(a, Pointwise(DoubleNear(1e-9), exact));
}

TEST(Algorithms, SoftmaxAndAttention) {
  const double l2 = std::log(2.0), l3 = std::log(3.0);
  const Input x{"X", "f64", {0, l2, l3, 1000, 1000, 1000}};
  EXPECT_THAT(reals("softmax(X, 2, 3)", {x}, 6),
              Pointwise(DoubleNear(1e-12), {1.0 / 6, 1.0 / 3, 0.5, 1.0 / 3, 1.0 / 3, 1.0 / 3}));
  // Scores 2 ln(2) / sqrt(4) = ln(2) and 0: weights 2/3 and 1/3.
  const Input q{"Q", "f64", {2, 0, 0, 0}}, k{"K", "f64", {l2, 7, 7, 7, 0, 7, 7, 7}};
  const Input v{"V", "f64", {3, 6, 9, 12, 0, 0, 3, 3}};
  EXPECT_THAT(reals("attention(Q, K, V, 1, 2, 4)", {q, k, v}, 4),
              Pointwise(DoubleNear(1e-12), {2.0, 4.0, 7.0, 9.0}));
}

TEST(Algorithms, FourierTransforms) {
  // Two pieces of four: an impulse at 1, and a constant.
  const Input x{"X", "f64", {0, 0, 1, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1}};
  EXPECT_THAT(reals("dft(X, 4)", {x}, 16),
              Pointwise(DoubleNear(1e-12), {1, 0, 0, -1, -1, 0, 0, 1, 8, 4, 0, 0, 0, 0, 0, 0}));
  EXPECT_THAT(reals("dft(X, 4, 1)", {x}, 16),
              Pointwise(DoubleNear(1e-12), {1, 0, 0, 1, -1, 0, 0, -1, 8, 4, 0, 0, 0, 0, 0, 0}));
  // A 2 x 1 x 4 grid with an impulse at x = 1, z = 1.
  std::vector<double> grid(16, 0.0), transformed(16, 0.0);
  grid[2ul * 3] = 1;
  for (int i = 0; i < 8; ++i) {
    const int turn = i / 2 % 4;  // (-1)^x (-i)^z
    const double sign = i % 2 == 0 ? 1 : -1;
    transformed[2ul * i] = sign * (turn == 0 ? 1 : turn == 2 ? -1 : 0);
    transformed[2 * i + 1] = sign * (turn == 1 ? -1 : turn == 3 ? 1 : 0);
  }
  EXPECT_THAT(reals("dft3d(X, 2, 1, 4)", {{"X", "f64", grid}}, 16),
              Pointwise(DoubleNear(1e-12), transformed));
  EXPECT_THAT(numeric_error("dft(X, 3)", {x}, 16), HasSubstr("8 complex numbers are no pieces of 3"));
}

TEST(Algorithms, HeatSpreads) {
  // cos(2 pi y / 4) + 3 has wave numbers 1 and -1 along y, and 0: the wave shrinks by exp(-t), the mean
  // stays.
  std::vector<double> wave, later;
  for (int y = 0; y < 4; ++y) {
    const double height = y == 0 ? 1 : y == 2 ? -1 : 0;
    wave.insert(wave.end(), {3 + height, 0, 3 + height, 0});
    later.insert(later.end(), {3 + height / 2, 0, 3 + height / 2, 0});
  }
  const auto result =
      reals(fmt::format("heat3d(X, 2, 4, 1, {:.17g})", std::log(2.0)), {{"X", "f64", wave}}, 16);
  EXPECT_THAT(result, Pointwise(DoubleNear(1e-12), later));
}

TEST(Solvers, ConjugateGradientsEndAfterAsManyStepsAsRows) {
  const Input rows{"R", "s32", {0, 2, 5, 7}}, columns{"K", "s32", {0, 1, 0, 1, 2, 1, 2}};
  const Input values{"V", "f64", {4, -1, -1, 4, -1, -1, 4}}, b{"B", "f64", {2, 4, 10}};
  EXPECT_THAT(reals("cg(R, K, V, B, 3)", {rows, columns, values, b}, 3),
              Pointwise(DoubleNear(1e-12), {1.0, 2.0, 3.0}));
  // One step goes along b: alpha = b.b / b.Ab = 120 / 384.
  EXPECT_THAT(reals("cg(R, K, V, B, 1)", {rows, columns, values, b}, 3),
              Pointwise(DoubleNear(1e-12), {0.625, 1.25, 3.125}));
}

TEST(Solvers, MultigridOnOneAndTwoGrids) {
  // One grid: the smoother of an impulse at cell (1, 0, 0) of 4 x 4 x 4.
  std::vector<double> impulse(64, 0.0);
  impulse[1] = 64;
  const auto smooth = reals("multigrid3d(V, 4, 1)", {{"V", "f64", impulse}}, 64);
  EXPECT_EQ(smooth[1], -24);
  EXPECT_EQ(smooth[0], 2);
  EXPECT_EQ(smooth[16 + 2], -1);
  EXPECT_EQ(smooth[16 + 4 + 2], 0);
  EXPECT_EQ(smooth[3], 0);
  // A constant: A leaves 0, S -3/8 + 6/32 - 12/64 = -3/8, the restriction 4, interpolation 1.
  const auto constant = reals("multigrid3d(V, 4, 2)", {{"V", "f64", std::vector<double>(64, 8.0)}}, 64);
  EXPECT_THAT(constant,
              Pointwise(DoubleNear(1e-12), std::vector<double>(64, -3.0 / 8 * 4 * 8 - 3.0 / 8 * 8)));
  EXPECT_THAT(numeric_error("multigrid3d(V, 6, 3)", {{"V", "f64", impulse}}, 216),
              HasSubstr("has no 3 grids"));
}

TEST(Solvers, InterpolationTakesMeansOfTheCoarseCells) {
  // Sums over all cells: the restriction takes 16 to 8, S multiplies by
  // -3/8, interpolation by 8; A gives 0, so S then adds -3/8 of the impulse.
  std::vector<double> impulse(512, 0.0);
  impulse[0] = 16;
  double sum = 0;
  for (double value : reals("multigrid3d(V, 8, 2)", {{"V", "f64", impulse}}, 512)) sum += value;
  EXPECT_NEAR(sum, 8 * (-3.0 / 8) * 8 + (-3.0 / 8) * 16, 1e-9);
}

TEST(Solvers, SweepsGoForwardAndBack) {
  const auto u = reals("sweeps3d(R, 2, 2, 1, 3, 0.5)", {{"R", "f64", {1, 2, 3, 4}}}, 4);
  // Forward: 3, 7.5, 10.5, 21; back: 21, 21, 18, 22.5.
  EXPECT_THAT(u, ElementsAre(22.5, 18, 21, 21));
}

constexpr int64_t kSide = 4;
constexpr int64_t kCells = kSide * kSide * kSide;

/// A line of the cube along direction d: cell i of it.
int64_t cell_of(int d, int64_t line, int64_t i) {
  const int64_t a = line % kSide, b = line / kSide;
  return d == 0 ? line * kSide + i : d == 1 ? (b * kSide + i) * kSide + a : (i * kSide + b) * kSide + a;
}

TEST(Solvers, PentadiagonalSystemsAreSolved) {
  const auto s = numbers(kCells, 1), r = numbers(kCells, 2);
  auto back = reals(fmt::format("penta3d(R, S, {})", kSide), {{"R", "f64", r}, {"S", "f64", s}}, kCells);
  for (int d = 2; d >= 0; --d) {  // multiply by the three matrices in the reverse order
    const auto x = back;
    for (int64_t line = 0; line < kSide * kSide; ++line) {
      for (int64_t i = 0; i < kSide; ++i) {
        double sum = 0;
        for (int64_t j = std::max<int64_t>(0, i - 2); j <= std::min(kSide - 1, i + 2); ++j) {
          const double speed = s[cell_of(d, line, j)];
          const double weight[] = {0.0625, -0.25 - 0.125 * speed, 2 + 0.25 * speed, -0.25 + 0.125 * speed,
                                   0.0625};
          sum += weight[j - i + 2] * x[cell_of(d, line, j)];
        }
        back[cell_of(d, line, i)] = sum;
      }
    }
  }
  EXPECT_THAT(back, Pointwise(DoubleNear(1e-12), r));
}

TEST(Solvers, BlockTridiagonalSystemsAreSolved) {
  const auto u = numbers(5 * kCells, 3), r = numbers(5 * kCells, 4);
  auto back =
      reals(fmt::format("block_tri3d(R, U, {})", kSide), {{"R", "f64", r}, {"U", "f64", u}}, 5 * kCells);
  for (int d = 2; d >= 0; --d) {
    const auto x = back;
    for (int64_t line = 0; line < kSide * kSide; ++line) {
      for (int64_t i = 0; i < 5 * kSide; ++i) {
        double sum = 0;
        for (int64_t j = 0; j < 5 * kSide; ++j) {
          const int64_t apart = j / 5 - i / 5;
          if (std::abs(apart) > 1) continue;
          const double jacobian = u[(i + j) % 5 * kCells + cell_of(d, line, j / 5)];
          const double factor[] = {-0.02, 0.04, 0.02}, diagonal[] = {-0.1, 1, -0.1};
          const double weight = factor[apart + 1] * jacobian + (i % 5 == j % 5 ? diagonal[apart + 1] : 0);
          sum += weight * x[j % 5 * kCells + cell_of(d, line, j / 5)];
        }
        back[i % 5 * kCells + cell_of(d, line, i / 5)] = sum;
      }
    }
  }
  EXPECT_THAT(back, Pointwise(DoubleNear(1e-12), r));
}

TEST(Solvers, RefuseWhatDoesNotFit) {
  const Input x{"X", "f64", {1, 2, 3, 4}};
  EXPECT_THAT(numeric_error("penta3d(X, X, 2)", {x}, 8), HasSubstr("reads 8 elements of 'X', which has 4"));
  EXPECT_THAT(numeric_error("penta3d(X, X, 100000)", {x}, 4), HasSubstr("too large"));
  EXPECT_THAT(numeric_error("sweeps3d(X, 2, 2, 2, 1, 1)", {x}, 4),
              HasSubstr("gives 8 elements, the buffer has 4"));
  EXPECT_THAT(numeric_error("nbody(X, 1000000, 1)", {x}, 4), HasSubstr("too large"));
  // Refused before memory is taken, and products of sizes do not wrap.
  EXPECT_THAT(numeric_error("multigrid3d(X, 2147483648)", {x}, 4), HasSubstr("too large"));
  EXPECT_THAT(numeric_error("sweeps3d(X, 2147483648, 2147483648, 4, 1, 1)", {x}, 4), HasSubstr("too large"));
  EXPECT_THAT(numeric_error("dft3d(X, 2147483648, 2147483648, 4)", {x}, 4), HasSubstr("too large"));
  EXPECT_THAT(numeric_error("attention(X, X, X, 1, 2147483648, 0)", {x}, 4), HasSubstr("needs values"));
  EXPECT_THAT(numeric_error("softmax(X, 2147483648, 2)", {x}, 4), HasSubstr("the buffer has 4"));
  EXPECT_THAT(numeric_error("convolve2d(X, X, 2, 2, 2147483648)", {x}, 4), HasSubstr("too large"));
}

}  // namespace
}  // namespace gpusim::core
