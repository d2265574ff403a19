// Turns PTX text into tokens, on demand, with line and column. Comments, `#` lines and `@@DWARF` lines are
// skipped. PTX ISA manual, chapter 4 (syntax): identifiers, integer and floating-point constants, directives.
#pragma once
#include <cstdint>
#include <string_view>

#include "isa/ptx/types.h"

namespace gpusim::isa {

struct Token {
  enum class Kind : uint8_t {
    kEnd,
    kIdentifier,  ///< also %name, $name, _name and the sink `_`
    kDotName,  ///< .name (a directive, a modifier, a vector component); `name()` is the text without the dot
    kInteger,  ///< value; is_unsigned for a U suffix
    kFloat32,  ///< 0f3F800000: value holds the bits
    kFloat64,  ///< 0d... or 1.5e3: value holds the bits
    kString,   ///< text without the quotes
    kPunctuation,  ///< one of `{}[]()<>,;:=+-*/%&|^~!@?` or two characters: << >> <= >= == != && ||
  };
  Kind kind = Kind::kEnd;
  bool is_unsigned = false;
  bool is_too_large = false;  ///< of an integer
  std::string_view text;
  SourceLoc loc;
  uint32_t begin = 0;  ///< byte offsets in the text
  uint32_t end = 0;
  uint64_t value = 0;

  [[nodiscard]] std::string_view name() const { return kind == Kind::kDotName ? text.substr(1) : text; }
  [[nodiscard]] bool is(std::string_view punctuation) const {
    return kind == Kind::kPunctuation && text == punctuation;
  }
};

class Lexer {
 public:
  /// `text` must outlive the lexer and its tokens. Errors (bad characters, bad numbers) are appended to
  /// `diagnostics`.
  Lexer(std::string_view text, Diagnostics& diagnostics) : text_(text), diagnostics_(diagnostics) {}

  /// The next token; kEnd at the end, for ever.
  [[nodiscard]] Token next();

 private:
  [[nodiscard]] Token read_token();
  void skip_space();
  void skip_line();
  void skip_block_comment();
  void skip_bad_characters();
  void take_name();
  void take_number(Token& token);
  void take_hex_float(Token& token, size_t digits);
  void take_integer(Token& token, int base, size_t prefix);
  static void take_low_bits(Token& token, int base, const char* begin, const char* end);
  void take_decimal(Token& token);
  void take_string(Token& token);
  void take_punctuation();
  void error(SourceLoc loc, std::string message);
  [[nodiscard]] char at(size_t offset) const {
    return pos_ + offset < text_.size() ? text_[pos_ + offset] : '\0';
  }
  [[nodiscard]] SourceLoc here() const { return {line_, static_cast<uint32_t>(pos_ - line_start_) + 1}; }

  std::string_view text_;
  Diagnostics& diagnostics_;
  size_t pos_ = 0;
  size_t line_start_ = 0;
  uint32_t line_ = 1;
  bool after_value_ = false;  // behind a number or `)`, where `%` is the operator and not part of a name
};

}  // namespace gpusim::isa
