// Constant expressions. PTX ISA manual, section 4.5.
#include <fmt/format.h>

#include <bit>

#include "isa/ptx/parser/parser_impl.h"

namespace gpusim::isa {
namespace {

constexpr int kMaxExpressionDepth = 64;

int precedence(std::string_view op) {
  if (op == "||") return 1;
  if (op == "&&") return 2;
  if (op == "|") return 3;
  if (op == "^") return 4;
  if (op == "&") return 5;
  if (op == "==" || op == "!=") return 6;
  if (op == "<" || op == ">" || op == "<=" || op == ">=") return 7;
  if (op == "<<" || op == ">>") return 8;
  if (op == "+" || op == "-") return 9;
  if (op == "*" || op == "/" || op == "%") return 10;
  return 0;
}

double as_double(const Constant& c) {
  switch (c.kind) {
    case Operand::ImmKind::kF32:
      return std::bit_cast<float>(static_cast<uint32_t>(c.bits));
    case Operand::ImmKind::kF64:
      return std::bit_cast<double>(c.bits);
    case Operand::ImmKind::kInt:
      break;
  }
  return c.is_unsigned ? static_cast<double>(c.bits) : static_cast<double>(static_cast<int64_t>(c.bits));
}

uint64_t shift(uint64_t a, uint64_t n, bool left, bool is_unsigned) {
  if (left) return n >= 64 ? 0 : a << n;
  if (is_unsigned) return n >= 64 ? 0 : a >> n;
  return static_cast<uint64_t>(static_cast<int64_t>(a) >> std::min<uint64_t>(n, 63));
}

/// Division and remainder; the divisor is not 0. INT64_MIN / -1 wraps.
uint64_t divide(uint64_t a, uint64_t b, bool remainder, bool is_unsigned) {
  if (is_unsigned) return remainder ? a % b : a / b;
  if (b == ~uint64_t{0}) return remainder ? 0 : 0 - a;
  const auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
  return static_cast<uint64_t>(remainder ? x % y : x / y);
}

bool compare(std::string_view op, uint64_t a, uint64_t b, bool is_unsigned) {
  const bool less = is_unsigned ? a < b : static_cast<int64_t>(a) < static_cast<int64_t>(b);
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return less;
  if (op == ">=") return !less;
  return op == "<=" ? less || a == b : !(less || a == b);
}

}  // namespace

Constant ModuleParser::apply_binary(std::string_view op, const Constant& a, const Constant& b,
                                    SourceLoc loc) const {
  Constant r;
  if (a.kind != Operand::ImmKind::kInt || b.kind != Operand::ImmKind::kInt) {
    const double x = as_double(a), y = as_double(b);
    double value = 0;
    if (op == "+")
      value = x + y;
    else if (op == "-")
      value = x - y;
    else if (op == "*")
      value = x * y;
    else if (op == "/")
      value = x / y;
    else
      fail(loc, fmt::format("operator '{}' needs integers", op));
    r.kind = Operand::ImmKind::kF64;
    r.bits = std::bit_cast<uint64_t>(value);
    return r;
  }
  r.is_unsigned = a.is_unsigned || b.is_unsigned;
  const uint64_t x = a.bits, y = b.bits;
  if (op == "+")
    r.bits = x + y;
  else if (op == "-")
    r.bits = x - y;
  else if (op == "*")
    r.bits = x * y;
  else if (op == "&")
    r.bits = x & y;
  else if (op == "|")
    r.bits = x | y;
  else if (op == "^")
    r.bits = x ^ y;
  else if (op == "&&")
    r.bits = x != 0 && y != 0;
  else if (op == "||")
    r.bits = x != 0 || y != 0;
  else if (op == "<<" || op == ">>") {
    r.is_unsigned = a.is_unsigned;
    r.bits = shift(x, y, op == "<<", a.is_unsigned);
  } else if (op == "/" || op == "%") {
    if (y == 0) fail(loc, "division by zero in a constant expression");
    r.bits = divide(x, y, op == "%", r.is_unsigned);
  } else {
    r.bits = compare(op, x, y, r.is_unsigned);
    r.is_unsigned = false;
  }
  return r;
}

Constant ModuleParser::parse_constant(int min_precedence, int depth) {
  if (depth > kMaxExpressionDepth) fail(token_.loc, "constant expression is nested too deeply");
  Constant left = parse_constant_unary(depth);
  for (;;) {
    const int p = token_.kind == Token::Kind::kPunctuation ? precedence(token_.text) : 0;
    if (p == 0 || p <= min_precedence) break;
    const Token op = take();
    left = apply_binary(op.text, left, parse_constant(p, depth + 1), op.loc);
  }
  if (min_precedence > 0 || !at("?")) return left;
  const SourceLoc loc = take().loc;
  if (left.kind != Operand::ImmKind::kInt) fail(loc, "the condition of '?' must be an integer");
  const Constant yes = parse_constant(0, depth + 1);
  expect(":", "in a conditional expression");
  const Constant no = parse_constant(0, depth + 1);
  return left.bits != 0 ? yes : no;
}

Constant ModuleParser::parse_constant_unary(int depth) {
  if (depth > kMaxExpressionDepth) fail(token_.loc, "constant expression is nested too deeply");
  if (!at("-") && !at("+") && !at("~") && !at("!")) return parse_constant_primary(depth);
  const Token op = take();
  Constant c = parse_constant_unary(depth + 1);
  if (op.text == "+") return c;
  if (op.text == "-") {
    switch (c.kind) {
      case Operand::ImmKind::kInt:
        c.bits = 0 - c.bits;
        break;
      case Operand::ImmKind::kF32:
        c.bits ^= uint64_t{1} << 31;
        break;
      case Operand::ImmKind::kF64:
        c.bits ^= uint64_t{1} << 63;
        break;
    }
    return c;
  }
  if (c.kind != Operand::ImmKind::kInt) fail(op.loc, fmt::format("operator '{}' needs an integer", op.text));
  c.bits = op.text == "~" ? ~c.bits : static_cast<uint64_t>(c.bits == 0);
  return c;
}

Constant ModuleParser::parse_constant_primary(int depth) {
  switch (token_.kind) {
    case Token::Kind::kInteger: {
      check_size(token_);
      const Token t = take();
      // A literal that needs the 64th bit is unsigned (PTX ISA, table of constant expression types).
      return {Operand::ImmKind::kInt, t.value, t.is_unsigned || (t.value >> 63) != 0};
    }
    case Token::Kind::kFloat32:
      return {Operand::ImmKind::kF32, take().value, false};
    case Token::Kind::kFloat64:
      return {Operand::ImmKind::kF64, take().value, false};
    case Token::Kind::kIdentifier:
      if (token_.text == "WARP_SZ") {
        take();
        return {Operand::ImmKind::kInt, kWarpSize, false};
      }
      break;
    case Token::Kind::kPunctuation:
      if (!accept("(")) break;
      if (at_name("s64") || at_name("u64")) {  // cast
        const bool is_unsigned = take().name() == "u64";
        expect(")", "after the type of a cast");
        Constant c = parse_constant_unary(depth + 1);
        if (c.kind != Operand::ImmKind::kInt)
          fail(token_.loc, "a cast in a constant expression needs an integer");
        c.is_unsigned = is_unsigned;
        return c;
      } else {
        const Constant c = parse_constant(0, depth + 1);
        expect(")", "in a constant expression");
        return c;
      }
    default:
      break;
  }
  fail_here("a constant");
}

/// `+ expression` or `- expression` behind an address; also `+-4`.
int64_t ModuleParser::parse_offset() {
  int64_t offset = 0;
  if (in_instruction_ && at("-")) fail(token_.loc, "an offset begins with '+'", "such as [%r1+-4]");
  while (at("+") || at("-")) {
    const Token sign = take();
    if (token_.kind == Token::Kind::kIdentifier && token_.text != "WARP_SZ") {
      fail(token_.loc, "an address has one register or variable and a constant offset");
    }
    const Constant c = parse_constant(9, 0);
    if (c.kind != Operand::ImmKind::kInt) fail(sign.loc, "an address offset must be an integer");
    offset = static_cast<int64_t>(static_cast<uint64_t>(offset) + (sign.text == "-" ? 0 - c.bits : c.bits));
  }
  return offset;
}

}  // namespace gpusim::isa
