#include "isa/ptx/parser/lexer.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>

namespace gpusim::isa {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_name(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }
constexpr bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}
constexpr std::string_view kPunctuationCharacters = "{}[]()<>,;:=+-*/%&|^~!@?";

}  // namespace

void Lexer::error(SourceLoc loc, std::string message) {
  diagnostics_.push_back({Diagnostic::Severity::kError, loc, std::move(message), {}});
}

void Lexer::skip_line() {
  const size_t end = text_.find('\n', pos_);
  pos_ = end == std::string_view::npos ? text_.size() : end;
}

void Lexer::skip_block_comment() {
  const SourceLoc start = here();
  pos_ += 2;
  while (pos_ < text_.size() && !(text_[pos_] == '*' && at(1) == '/')) {
    if (text_[pos_++] == '\n') {
      ++line_;
      line_start_ = pos_;
    }
  }
  if (pos_ >= text_.size()) {
    error(start, "comment is not closed, expected '*/'");
    return;
  }
  pos_ += 2;
}

void Lexer::skip_space() {
  bool line_is_empty = pos_ == 0;
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (c == '\n') {
      ++line_;
      line_start_ = ++pos_;
      line_is_empty = true;
    } else if (is_space(c)) {
      ++pos_;
    } else if (c == '/' && at(1) == '*') {
      skip_block_comment();
    } else if ((c == '/' && at(1) == '/') || (c == '#' && line_is_empty) || (c == '@' && at(1) == '@')) {
      skip_line();  // a comment; preprocessor remains; @@DWARF lines of PTX 1.x
    } else {
      return;
    }
  }
}

void Lexer::skip_bad_characters() {
  const SourceLoc start = here();
  const auto code = static_cast<unsigned char>(text_[pos_]);
  const auto bad = [](char c) {
    return !is_name(c) && !is_space(c) && c != '.' && c != '"' &&
           kPunctuationCharacters.find(c) == std::string_view::npos;
  };
  while (pos_ < text_.size() && bad(text_[pos_])) ++pos_;
  const bool printable = code > 0x20 && code < 0x7f;
  error(start, printable ? fmt::format("unexpected character '{}'", static_cast<char>(code))
                         : fmt::format("unexpected byte 0x{:02x}", code));
}

Token Lexer::next() {
  const Token token = read_token();
  after_value_ = token.kind == Token::Kind::kInteger || token.is(")");
  return token;
}

Token Lexer::read_token() {
  for (;;) {
    skip_space();
    Token token;
    token.loc = here();
    token.begin = static_cast<uint32_t>(pos_);
    const size_t start = pos_;
    const char c = at(0);
    if (pos_ >= text_.size()) {
      token.kind = Token::Kind::kEnd;
    } else if (is_letter(c) || c == '_' || c == '$' || (c == '%' && is_name(at(1)) && !after_value_)) {
      token.kind = Token::Kind::kIdentifier;
      ++pos_;
      while (is_name(at(0))) ++pos_;
    } else if (c == '.' && is_name(at(1))) {
      token.kind = Token::Kind::kDotName;
      take_name();
    } else if (is_digit(c)) {
      take_number(token);
    } else if (c == '"') {
      take_string(token);
      token.text =
          text_.substr(start + 1, pos_ - start - (pos_ > start + 1 && text_[pos_ - 1] == '"' ? 2 : 1));
    } else if (kPunctuationCharacters.find(c) != std::string_view::npos) {
      token.kind = Token::Kind::kPunctuation;
      take_punctuation();
    } else {
      if (c == '.') {
        ++pos_;
        error(token.loc, "expected a name after '.'");
      } else {
        skip_bad_characters();
      }
      continue;
    }
    if (token.kind != Token::Kind::kString) token.text = text_.substr(start, pos_ - start);
    token.end = static_cast<uint32_t>(pos_);
    return token;
  }
}

/// A dot and a name, which may hold `::` (".shared::cta", ".L2::128B").
void Lexer::take_name() {
  ++pos_;
  while (is_name(at(0)) || (at(0) == ':' && at(1) == ':' && is_name(at(2)))) pos_ += at(0) == ':' ? 2 : 1;
}

void Lexer::take_punctuation() {
  const std::string_view two = text_.substr(pos_, 2);
  for (const std::string_view p : {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"}) {
    if (two == p) {
      pos_ += 2;
      return;
    }
  }
  ++pos_;
}

void Lexer::take_string(Token& token) {
  token.kind = Token::Kind::kString;
  ++pos_;
  while (pos_ < text_.size() && text_[pos_] != '"' && text_[pos_] != '\n') {
    pos_ += text_[pos_] == '\\' && at(1) != '\n' && pos_ + 1 < text_.size() ? 2 : 1;
  }
  if (at(0) == '"') {
    ++pos_;
  } else {
    error(token.loc, "string is not closed, expected '\"'");
  }
}

void Lexer::take_hex_float(Token& token, size_t digits) {
  size_t n = 0;
  while (is_hex(at(2 + n))) ++n;
  const char* first = text_.data() + pos_ + 2;
  token.kind = digits == 8 ? Token::Kind::kFloat32 : Token::Kind::kFloat64;
  pos_ += 2 + n;
  if (n != digits) {
    error(token.loc, fmt::format("a '{}' constant has {} hexadecimal digits, found {}",
                                 digits == 8 ? "0f" : "0d", digits, n));
    return;
  }
  std::from_chars(first, first + n, token.value, 16);
}

/// Hexadecimal and octal constants keep their lower 64 bits, as in ptxas; others do not fit.
void Lexer::take_low_bits(Token& token, int base, const char* begin, const char* end) {
  token.value = 0;
  for (const char* c = begin; c != end; ++c) {
    uint64_t digit = 0;
    std::from_chars(c, c + 1, digit, base);
    const bool checked = base == 10 || base == 2;
    if (checked && token.value > ~uint64_t{0} / static_cast<uint64_t>(base)) token.is_too_large = true;
    token.value = token.value * static_cast<uint64_t>(base) + digit;
  }
}

void Lexer::take_integer(Token& token, int base, size_t prefix) {
  pos_ += prefix;
  const size_t first = pos_;
  while (base == 16 ? is_hex(at(0)) : is_digit(at(0))) ++pos_;
  token.kind = Token::Kind::kInteger;
  const char* begin = text_.data() + first;
  const char* end = text_.data() + pos_;
  const auto [stop, status] = std::from_chars(begin, end, token.value, base);
  if (status == std::errc::result_out_of_range) {
    take_low_bits(token, base, begin, stop);
  } else if (stop != end || begin == end) {
    error(token.loc, fmt::format("malformed number '{}'",
                                 text_.substr(token.begin, std::min<size_t>(pos_ - token.begin, 40))));
  }
  if (at(0) == 'U' && !is_name(at(1))) {
    token.is_unsigned = true;
    ++pos_;
  }
}

void Lexer::take_decimal(Token& token) {
  size_t n = 0;
  while (is_digit(at(n))) ++n;
  const bool fraction = at(n) == '.' && !is_letter(at(n + 1)) && at(n + 1) != '_';
  const size_t sign = at(n + 1) == '+' || at(n + 1) == '-' ? 1 : 0;
  const bool exponent = (at(n) == 'e' || at(n) == 'E') && is_digit(at(n + 1 + sign));
  if (!fraction && !exponent) {
    take_integer(token, at(0) == '0' && n > 1 ? 8 : 10, 0);
    return;
  }
  double value = 0;
  const char* begin = text_.data() + pos_;
  const auto [stop, status] = std::from_chars(begin, text_.data() + text_.size(), value);
  pos_ += static_cast<size_t>(stop - begin);
  token.kind = Token::Kind::kFloat64;
  token.value = std::bit_cast<uint64_t>(value);
  if (status != std::errc()) error(token.loc, "floating-point constant is out of range");
}

void Lexer::take_number(Token& token) {
  const char second = at(0) == '0' ? at(1) : '\0';
  switch (second) {
    case 'f':
    case 'F':
      take_hex_float(token, 8);
      break;
    case 'd':
    case 'D':
      take_hex_float(token, 16);
      break;
    case 'x':
    case 'X':
      take_integer(token, 16, 2);
      break;
    case 'b':
    case 'B':
      take_integer(token, 2, 2);
      break;
    default:
      take_decimal(token);
  }
  if (!is_name(at(0))) return;
  while (is_name(at(0))) ++pos_;
  error(token.loc, fmt::format("malformed number '{}'",
                               text_.substr(token.begin, std::min<size_t>(pos_ - token.begin, 40))));
}

}  // namespace gpusim::isa
