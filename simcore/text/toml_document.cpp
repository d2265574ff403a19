#include "simcore/text/toml_document.h"

#include <fmt/format.h>

namespace gpusim::core {
namespace {

/// Refuses what toml++ does not bear: very long dotted keys (each part is one more table, destroyed
/// recursively), table names that begin with a dot (an assertion) and characters outside ASCII where only
/// keys and values may stand or behind a backslash (undefined behaviour in its character tables).
class Prescan {
 public:
  Prescan(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  void run() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;  // byte-order mark
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        // Elsewhere the parser reads on as if there were no string.
        if (std::string_view("\n=[{,.").find(before_) == std::string_view::npos) fail("unexpected quote", "");
        skip_string(c);
        before_ = c;
      } else if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else {
        plain(c);
        if (c != ' ' && c != '\t' && c != '\r') before_ = c;
        ++at_;
      }
    }
  }

 private:
  void plain(char c) {
    constexpr int kMaxDots = 64;
    if (c == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    }
    if (static_cast<unsigned char>(c) >= 0x80)
      fail("character outside ASCII", "put keys and values with such characters in quotes");
    if (c == '\n' || c == ',' || c == '=' || c == '{' || c == '[') dots_ = 0;
    if (c == '.' && before_ == '[') fail("expected a name or a number in brackets, found '.'", "");
    if (c == '.' && ++dots_ > kMaxDots) {
      fail("dotted key has too many parts", fmt::format("at most {} are allowed", kMaxDots));
    }
  }

  /// From an opening quote to after the closing one; an unterminated string is left to the parser.
  void skip_string(char quote) {
    const std::string triple(3, quote);
    const bool multi_line = text_.substr(at_).starts_with(triple);
    at_ += multi_line ? 3 : 1;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        if (!multi_line) return;
        ++line_;
        line_start_ = at_ + 1;
      }
      if (multi_line ? text_.substr(at_).starts_with(triple) : c == quote) {
        at_ += multi_line ? 3 : 1;
        while (multi_line && at_ < text_.size() && text_[at_] == quote)
          ++at_;  // up to two more belong to the string
        return;
      }
      if (quote == '"' && c == '\\') check_escape();
      at_ += quote == '"' && c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n' ? 2 : 1;
    }
  }

  /// At a backslash. What follows it, behind white space too, goes through the parser's character tables.
  void check_escape() const {
    const size_t next = text_.find_first_not_of(" \t\r\n", at_ + 1);
    if (next != std::string_view::npos && static_cast<unsigned char>(text_[next]) >= 0x80)
      fail("character outside ASCII behind a backslash", "");
  }

  void fail(const std::string& message, const std::string& hint) const {
    raise_input_error({name_, line_, static_cast<uint32_t>(at_ - line_start_ + 1)}, message, hint);
  }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0;
  size_t line_start_ = 0;
  uint32_t line_ = 1;
  int dots_ = 0;
  char before_ = '\n';  ///< last character that is no blank
};

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& name) {
  if (text.size() > kMaxDocumentBytes) {
    raise_input_error({name},
                      fmt::format("file is too large: {} bytes, at most {}", text.size(), kMaxDocumentBytes));
  }
  Prescan(text, name).run();
  toml::parse_result result = toml::parse(text, name);
  if (!result) {
    const auto& error = result.error();
    raise_input_error({name, static_cast<uint32_t>(error.source().begin.line),
                       static_cast<uint32_t>(error.source().begin.column)},
                      std::string(error.description()));
  }
  return std::move(result).table();
}

std::string_view node_kind(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "a boolean";
    case toml::node_type::none:
      return "nothing";
    default:
      return "a date or time";
  }
}

}  // namespace gpusim::core
