#include "simcore/launch/expression.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <compare>
#include <limits>

#include "simcore/text/names.h"

namespace gpusim::core {
namespace {

constexpr size_t kMaxLength = 4096;
constexpr int kMaxDepth = 64;
constexpr std::array<std::string_view, 4> kFunctions{"min", "max", "log2", "ceil_div"};

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// NaN or infinity, as they are written elsewhere.
bool means_no_number(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower == "nan" || lower == "inf" || lower == "infinity";
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

/// Recursive descent; the first error wins and is kept.
class Evaluator {
 public:
  Evaluator(std::string_view text, const ExpressionScope& scope, ExpressionError& error)
      : text_(text), scope_(scope), error_(error) {}

  std::optional<Number> run() {
    if (text_.size() > kMaxLength) return fail(0, "expression is too long");
    auto value = sum(0);
    skip_blanks();
    if (value && at_ < text_.size()) return fail(at_, fmt::format("unexpected '{}'", text_[at_]));
    // What a kernel has computed may be infinite, and then the host calculates with that.
    if (value && !value->is_integer && !std::isfinite(value->real) && !has_elements_)
      return wrong_value(0, "the value is not a finite number");
    return value;
  }

 private:
  std::optional<Number> fail(size_t offset, std::string message, std::string hint = "") {
    if (!failed_) error_ = {offset, std::move(message), std::move(hint)};
    failed_ = true;
    return std::nullopt;
  }
  /// What other values of the names could make good.
  std::optional<Number> wrong_value(size_t offset, std::string message) {
    const bool first = !failed_;
    fail(offset, std::move(message));
    if (first) error_.of_value = true;
    return std::nullopt;
  }
  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(std::string_view symbol) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
  }

  std::optional<Number> sum(int depth) {
    auto left = product(depth);
    while (left) {
      skip_blanks();
      const size_t place = at_;
      const char op = take("+") ? '+' : take("-") ? '-' : 0;
      if (op == 0) break;
      const auto right = product(depth);
      if (!right) return right;
      left = add_or_multiply(op, *left, *right, place);
    }
    return left;
  }

  std::optional<Number> product(int depth) {
    auto left = unary(depth);
    while (left) {
      skip_blanks();
      const size_t place = at_;
      const char op = take("*") ? '*' : take("//") ? 'f' : take("/") ? '/' : take("%") ? '%' : 0;
      if (op == 0) break;
      const auto right = unary(depth);
      if (!right) return right;
      left = op == '*' ? add_or_multiply(op, *left, *right, place) : divide(op, *left, *right, place);
    }
    return left;
  }

  std::optional<Number> unary(int depth) {
    if (depth > kMaxDepth) return fail(at_, "expression is nested too deeply");
    if (take("+")) return unary(depth + 1);
    skip_blanks();
    const size_t place = at_;
    if (!take("-")) return primary(depth);
    const auto value = unary(depth + 1);
    if (!value) return value;
    return add_or_multiply('-', Number::of(0), *value, place);
  }

  std::optional<Number> primary(int depth) {
    skip_blanks();
    if (at_ >= text_.size()) return fail(at_, "expected a value");
    if (take("(")) {
      const auto value = sum(depth + 1);
      if (value && !take(")")) return fail(at_, "expected ')'");
      return value;
    }
    if (is_name_start(text_[at_])) return name(depth);
    return literal();
  }

  std::optional<Number> literal() {
    const char* first = text_.data() + at_;
    const char* last = text_.data() + text_.size();
    const bool hex = last - first > 2 && first[0] == '0' && (first[1] == 'x' || first[1] == 'X');
    int64_t integer = 0;
    const auto [end, code] = std::from_chars(hex ? first + 2 : first, last, integer, hex ? 16 : 10);
    const bool real_follows = !hex && end != last && (*end == '.' || *end == 'e' || *end == 'E');
    if (code == std::errc() && !real_follows) return finish_literal(end, Number::of(integer));
    double real = 0;
    const auto [real_end, real_code] = std::from_chars(first, last, real);
    if (hex || real_code != std::errc() || *first == '-') {
      return code == std::errc::result_out_of_range || real_code == std::errc::result_out_of_range
                 ? fail(at_, "the number is too large")
                 : fail(at_, fmt::format("expected a value, found '{}'", text_[at_]));
    }
    if (code == std::errc::result_out_of_range && !real_follows &&
        text_.substr(at_, real_end - first).find('.') == std::string_view::npos) {
      return fail(at_, "the integer does not fit into 64 bits");
    }
    return finish_literal(real_end, Number::of_real(real));
  }
  std::optional<Number> finish_literal(const char* end, Number value) {
    const size_t start = at_;
    at_ = static_cast<size_t>(end - text_.data());
    if (at_ < text_.size() && is_name_char(text_[at_])) return fail(start, "malformed number");
    return value;
  }

  std::optional<Number> name(int depth) {
    const size_t start = at_;
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
    const std::string_view word = text_.substr(start, at_ - start);
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '(') return call(word, start, depth);
    if (scope_.element && at_ < text_.size() && text_[at_] == '[') return element(word, start, depth);
    if (auto value = scope_.find(word)) return value;
    if (means_no_number(word))
      return fail(start, fmt::format("'{}' is not a number that can be calculated with", word),
                  "values are finite; a buffer gets NaN or infinity from a file: init = \"file:values.npy\"");
    return fail(start, fmt::format("undefined name '{}'", word), name_hint(word, scope_.names));
  }

  std::optional<Number> element(std::string_view array, size_t start, int depth) {
    take("[");
    has_elements_ = true;
    skip_blanks();
    const size_t place = at_;
    const auto index = sum(depth + 1);
    if (!index) return index;
    if (!take("]")) return fail(at_, "expected ']'");
    ExpressionError problem;
    if (const auto value = scope_.element(array, *index, problem)) return value;
    fail(problem.offset == 0 ? start : place, problem.message, problem.hint);
    error_.of_value = problem.of_value;
    return std::nullopt;
  }

  std::optional<Number> call(std::string_view function, size_t start, int depth) {
    take("(");
    std::vector<Number> values;
    do {
      const auto value = sum(depth + 1);
      if (!value) return value;
      values.push_back(*value);
    } while (take(","));
    if (!take(")")) return fail(at_, "expected ',' or ')'");
    if (function == "min" || function == "max") return extreme(function == "max", values);
    if (function == "log2") return log2_of(values, start);
    if (function == "ceil_div") return ceil_div(values, start);
    return fail(start, fmt::format("unknown function '{}'", function), name_hint(function, kFunctions));
  }

  static Number extreme(bool largest, const std::vector<Number>& values) {
    Number best = values[0];
    for (const Number& value : values) {
      const bool less = value.is_integer && best.is_integer ? value.integer < best.integer
                                                            : value.as_double() < best.as_double();
      const bool greater = value.is_integer && best.is_integer ? value.integer > best.integer
                                                               : value.as_double() > best.as_double();
      if (largest ? greater : less) best = value;
    }
    return best;
  }
  std::optional<Number> log2_of(const std::vector<Number>& values, size_t start) {
    if (values.size() != 1) return fail(start, "log2 takes one argument");
    if (!(values[0].as_double() > 0)) return wrong_value(start, "log2 needs a positive value");
    if (values[0].is_integer && std::has_single_bit(static_cast<uint64_t>(values[0].integer))) {
      return Number::of(std::countr_zero(static_cast<uint64_t>(values[0].integer)));
    }
    return Number::of_real(std::log2(values[0].as_double()));
  }
  std::optional<Number> ceil_div(const std::vector<Number>& values, size_t start) {
    if (values.size() != 2 || !values[0].is_integer || !values[1].is_integer) {
      return fail(start, "ceil_div takes two integers");
    }
    const int64_t a = values[0].integer;
    const int64_t b = values[1].integer;
    if (b <= 0) return wrong_value(start, "ceil_div needs a positive divisor");
    return Number::of(a / b + (a % b > 0 ? 1 : 0));
  }

  std::optional<Number> add_or_multiply(char op, const Number& a, const Number& b, size_t place) {
    if (!a.is_integer || !b.is_integer) {
      const double x = a.as_double();
      const double y = b.as_double();
      return Number::of_real(op == '+' ? x + y : op == '-' ? x - y : x * y);
    }
    int64_t result = 0;
    const bool overflow = op == '+'   ? __builtin_add_overflow(a.integer, b.integer, &result)
                          : op == '-' ? __builtin_sub_overflow(a.integer, b.integer, &result)
                                      : __builtin_mul_overflow(a.integer, b.integer, &result);
    if (overflow) return wrong_value(place, "the result does not fit into 64 bits");
    return Number::of(result);
  }

  std::optional<Number> divide(char op, const Number& a, const Number& b, size_t place) {
    if (b.as_double() == 0) return wrong_value(place, "division by zero");
    if (a.is_integer && b.is_integer) {
      if (b.integer == -1) return op == '%' ? Number::of(0) : add_or_multiply('-', Number::of(0), a, place);
      const int64_t quotient = a.integer / b.integer;
      const int64_t remainder = a.integer % b.integer;
      if (op == '/' && remainder != 0) return Number::of_real(a.as_double() / b.as_double());
      if (op == '/') return Number::of(quotient);
      const bool down =
          remainder != 0 && ((remainder < 0) != (b.integer < 0));  // floor, as // and % go together
      return Number::of(op == 'f' ? quotient - (down ? 1 : 0) : remainder + (down ? b.integer : 0));
    }
    const double quotient = a.as_double() / b.as_double();
    if (op == '/') return Number::of_real(quotient);
    const double floored = std::floor(quotient);
    return Number::of_real(op == 'f' ? floored : a.as_double() - floored * b.as_double());
  }

  std::string_view text_;
  const ExpressionScope& scope_;
  ExpressionError& error_;
  size_t at_ = 0;
  bool failed_ = false;
  bool has_elements_ = false;
};

}  // namespace

std::optional<Number> evaluate(std::string_view text, const ExpressionScope& scope, ExpressionError& error) {
  return Evaluator(text, scope, error).run();
}

std::optional<ComparisonParts> split_comparison(std::string_view text, ExpressionError& error) {
  using Relation = ComparisonParts::Relation;
  struct Symbol {
    std::string_view text;
    Relation relation;
  };
  static constexpr std::array<Symbol, 6> kSymbols{{{"==", Relation::kEqual},
                                                   {"!=", Relation::kUnequal},
                                                   {"<=", Relation::kLessEqual},
                                                   {">=", Relation::kGreaterEqual},
                                                   {"<", Relation::kLess},
                                                   {">", Relation::kGreater}}};
  const size_t at = text.find_first_of("=!<>");
  if (at != std::string_view::npos) {
    for (const Symbol& symbol : kSymbols) {
      if (!text.substr(at).starts_with(symbol.text)) continue;
      ComparisonParts parts;
      parts.left = text.substr(0, at);
      parts.right_offset = at + symbol.text.size();
      parts.right = text.substr(parts.right_offset);
      parts.relation = symbol.relation;
      return parts;
    }
  }
  error = {at == std::string_view::npos ? 0 : at,
           "expected a comparison with == != < <= > or >=", "such as \"changed[0] != 0\""};
  return std::nullopt;
}

bool holds(const Number& left, ComparisonParts::Relation relation, const Number& right) {
  const std::partial_ordering order = left.is_integer && right.is_integer
                                          ? std::partial_ordering(left.integer <=> right.integer)
                                          : left.as_double() <=> right.as_double();
  switch (relation) {
    case ComparisonParts::Relation::kEqual:
      return order == 0;
    case ComparisonParts::Relation::kUnequal:
      return order != 0;
    case ComparisonParts::Relation::kLess:
      return order < 0;
    case ComparisonParts::Relation::kLessEqual:
      return order <= 0;
    case ComparisonParts::Relation::kGreater:
      return order > 0;
    case ComparisonParts::Relation::kGreaterEqual:
      return order >= 0;
  }
  return false;
}

std::optional<CallParts> split_call(std::string_view text, ExpressionError& error) {
  CallParts parts;
  size_t at = 0;
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
  const size_t start = at;
  while (at < text.size() && is_name_char(text[at])) ++at;
  parts.name = text.substr(start, at - start);
  const std::string_view rest = trim(text.substr(at));
  if (parts.name.empty()) {
    error = {start, "expected a name", ""};
    return std::nullopt;
  }
  if (rest.empty()) return parts;
  if (rest.front() != '(' || rest.back() != ')') {
    error = {at, "expected '(' and a closing ')'", ""};
    return std::nullopt;
  }
  parts.has_parentheses = true;
  size_t begin = text.find('(', at) + 1;
  const size_t end = text.rfind(')');
  if (trim(text.substr(begin, end - begin)).empty()) return parts;
  int depth = 0;
  for (size_t i = begin; i <= end; ++i) {
    if (i < end && text[i] == '(') ++depth;
    if (i < end && text[i] == ')' && --depth < 0) {
      error = {i, "unmatched ')'", ""};
      return std::nullopt;
    }
    if (i == end || (depth == 0 && text[i] == ',')) {
      const std::string_view argument = trim(text.substr(begin, i - begin));
      if (argument.empty()) {
        error = {begin, "expected a value", ""};
        return std::nullopt;
      }
      parts.arguments.push_back({argument, static_cast<size_t>(argument.data() - text.data())});
      begin = i + 1;
    }
  }
  return parts;
}

}  // namespace gpusim::core
