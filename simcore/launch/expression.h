// Arithmetic expressions of launch files: integers and reals, names, + - * / % //, unary - and +,
// parentheses, and the functions min, max, log2, ceil_div. Also splits calls such as "uniform(-1, N)" into
// name and argument texts. Depth and length are bounded; integer overflow and division by zero are errors.
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
};

/// Names that an expression may use.
struct ExpressionScope {
  std::function<std::optional<Number>(std::string_view)> find;
  std::vector<std::string_view> names;  ///< for hints
};

/// The value of `text`. On an error returns nothing and fills `error`.
[[nodiscard]] std::optional<Number> evaluate(std::string_view text, const ExpressionScope& scope,
                                             ExpressionError& error);

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
