// Arithmetic expressions of launch files: integers and reals, names, + - * / % //, unary - and +,
// parentheses, the functions min, max, log2, ceil_div, and elements of buffers where they can be read. Also
// splits calls such as "uniform(-1, N)" into name and argument texts. Depth and length are bounded; integer
// overflow and division by zero are errors.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simcore/launch/number.h"

namespace gpusim::core {

struct ExpressionError {
  size_t offset = 0;  ///< byte in the text, from 0
  std::string message;
  std::string hint;
  bool of_value = false;  ///< with other values of its names the expression might be good
};

/// Names that an expression may use.
struct ExpressionScope {
  std::function<std::optional<Number>(std::string_view)> find;
  std::vector<std::string_view> names;  ///< for hints
  /// The element NAME[index]; or nothing, and `error` says why (at offset 0: the name, 1: the index). Not
  /// given: no elements.
  std::function<std::optional<Number>(std::string_view name, const Number& index, ExpressionError& error)>
      element = {};
};

/// The value of `text`. On an error returns nothing and fills `error`.
[[nodiscard]] std::optional<Number> evaluate(std::string_view text, const ExpressionScope& scope,
                                             ExpressionError& error);

/// Two expressions and what is between them: "error[0] > 0.001".
struct ComparisonParts {
  enum class Relation : uint8_t { kEqual, kUnequal, kLess, kLessEqual, kGreater, kGreaterEqual };
  std::string_view left, right;
  size_t right_offset = 0;  ///< in the whole text
  Relation relation = Relation::kUnequal;
};
/// Splits a text at its comparison; on an error returns nothing and fills `error`.
[[nodiscard]] std::optional<ComparisonParts> split_comparison(std::string_view text, ExpressionError& error);
/// Exact for integers.
[[nodiscard]] bool holds(const Number& left, ComparisonParts::Relation relation, const Number& right);

/// A call split into parts; `offset` of an argument is its place in the whole text.
struct CallParts {
  struct Argument {
    std::string_view text;
    size_t offset = 0;
  };
  std::string_view name;
  std::vector<Argument> arguments;
  bool has_parentheses = false;
};
/// Splits "name" or "name(a, b, ...)" at commas outside parentheses.
[[nodiscard]] std::optional<CallParts> split_call(std::string_view text, ExpressionError& error);

}  // namespace gpusim::core
