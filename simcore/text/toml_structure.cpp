#include "simcore/text/toml_structure.h"

#include <fmt/format.h>

#include <algorithm>

#include "simcore/text/input_error.h"

namespace gpusim::core {
namespace {

constexpr std::string_view kBareKey = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
constexpr std::string_view kScalar = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+.";
constexpr std::string_view kBlanks = " \t";
constexpr size_t kMaxScalar = 100;
constexpr int kMaxDots = 64;
/// Of all names of a document. For each, toml++ keeps a table in a list that it searches from the beginning
/// every time the table is named again: the square of this number is how long a text can take.
constexpr int kMaxDotsOfAll = 20'000;
constexpr int kMaxNesting =
    128;  ///< tables and arrays inside each other; the parser destroys them recursively

bool outside_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }

class Structure {
 public:
  Structure(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  void document() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = start_ = 3;  // byte-order mark
    int header_depth = 0;
    while (skip_lines(), !at_end()) {
      if (next_is('['))
        header_depth = header();
      else
        key_value(header_depth);
      end_of_line();
    }
  }

 private:
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] bool next_is(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  [[nodiscard]] bool next_is(char c) const { return !at_end() && text_[at_] == c; }
  bool accept(std::string_view what) {
    if (!next_is(what)) return false;
    at_ += what.size();
    return true;
  }
  void expect(char c, const std::string& place) {
    if (!accept(std::string_view(&c, 1))) expected(fmt::format("'{}' {}", c, place));
  }
  void skip(std::string_view characters) {
    at_ = std::min(text_.find_first_not_of(characters, at_), text_.size());
  }

  void skip_comment() {
    if (next_is('#')) at_ = std::min(text_.find('\n', at_), text_.size());
  }

  /// White space, line breaks and comments.
  void skip_lines() {
    do {
      skip(kBlanks);
      skip_comment();
    } while (accept("\n") || accept("\r\n"));
  }

  void end_of_line() {
    skip(kBlanks);
    skip_comment();
    if (!at_end() && !accept("\n") && !accept("\r\n")) expected("the end of the line");
  }

  /// [key] or [[key]]; returns how many tables and arrays are around what follows.
  int header() {
    ++at_;
    const bool array = accept("[");
    const int parts = key();
    expect(']', "behind the name of the table");
    if (array) expect(']', "twice behind the name of an array of tables");
    return parts + (array ? 1 : 0);
  }

  void key_value(int depth) {
    depth += key();
    expect('=', "behind a key");
    skip(kBlanks);
    value(depth);
  }

  /// A key with the white space around it; returns of how many parts it is.
  int key() {
    int parts = 0;
    do {
      skip(kBlanks);
      if (next_is('"') || next_is('\'')) {
        if (next_is("\"\"\"") || next_is("'''")) fail("a key cannot be a string of several lines");
        string_on_one_line();
      } else {
        const size_t begin = at_;
        skip(kBareKey);
        if (at_ == begin) expected("a name");
      }
      skip(kBlanks);
      if (next_is('.') && ++parts > kMaxDots)
        fail("dotted key has too many parts", fmt::format("at most {} are allowed", kMaxDots));
      if (next_is('.') && ++dots_ > kMaxDotsOfAll)
        fail("too many dotted keys in one document",
             fmt::format("at most {} dots are allowed in all names together: a header [name] saves those of "
                         "the keys below it",
                         kMaxDotsOfAll));
    } while (accept("."));
    return parts + 1;
  }

  void value(int depth) {
    if (depth > kMaxNesting)
      fail("tables and arrays are too deep in each other", fmt::format("at most {} levels", kMaxNesting));
    if (next_is("\"\"\"") || next_is("'''"))
      string_on_several_lines();
    else if (next_is('"') || next_is('\''))
      string_on_one_line();
    else if (accept("["))
      array(depth + 1);
    else if (accept("{"))
      inline_table(depth + 1);
    else
      scalar();
  }

  void array(int depth) {
    while (skip_lines(), !accept("]")) {
      value(depth);
      skip_lines();
      if (!accept(",") && !next_is(']')) expected("',' or ']'");
    }
  }

  void inline_table(int depth) {
    skip(kBlanks);
    if (accept("}")) return;
    do {
      key_value(depth);
      skip(kBlanks);
    } while (accept(","));
    if (!accept("}")) expected("',' or '}'");
  }

  /// A number or a boolean: only the characters, and not more than the parser can step back over. No key
  /// takes a time, whose colon the parser bears only in the right place.
  void scalar() {
    const size_t begin = at_;
    skip(kScalar);
    if (at_ == begin) expected("a value");
    if (at_ - begin > kMaxScalar) {
      at_ = begin;
      fail("value is too long", fmt::format("without quotes it has at most {} characters", kMaxScalar));
    }
    if (!at_end() && std::string_view(" \t\r\n,]}#").find(text_[at_]) == std::string_view::npos)
      expected("the end of the value", "text and expressions stand in quotes");
  }

  void string_on_one_line() {
    const char quote = text_[at_++];
    while (!next_is(quote)) {
      if (at_end() || next_is('\n')) expected(fmt::format("the closing {}", quote));
      character(quote);
    }
    ++at_;
  }

  void string_on_several_lines() {
    const char quote = text_[at_];
    const std::string_view triple = text_.substr(at_, 3);
    at_ += 3;
    while (!next_is(triple)) {
      if (at_end()) expected(fmt::format("the closing {}", triple));
      character(quote);
    }
    at_ += 3;
    for (int more = 0; more < 2 && next_is(quote); ++more) ++at_;  // belong to the string
  }

  /// One character of a string, or a backslash with the one behind it.
  void character(char quote) {
    if (quote == '"' && next_is('\\')) {
      // What follows, behind white space too, goes through character tables that are undefined for it.
      const size_t next = text_.find_first_not_of(" \t\r\n", at_ + 1);
      if (next != std::string_view::npos && outside_ascii(text_[next]))
        fail("character outside ASCII behind a backslash");
      ++at_;
      if (at_end() || next_is('\n')) return;
    }
    ++at_;
  }

  [[noreturn]] void expected(const std::string& what, const std::string& hint = "") const {
    std::string found;
    if (at_end()) {
      found = "the end of the text";
    } else if (next_is('\n') || next_is("\r\n")) {
      found = "the end of the line";
    } else if (outside_ascii(text_[at_])) {
      fail("character outside ASCII", "put keys and values with such characters in quotes");
    } else if (text_[at_] < ' ' || text_[at_] == '\x7f') {
      found = fmt::format("the control character 0x{:02x}", static_cast<int>(text_[at_]));
    } else {
      found = fmt::format("'{}'", text_[at_]);
    }
    fail(fmt::format("expected {}, found {}", what, found), hint);
  }

  /// Columns count characters, as the parser's do.
  [[noreturn]] void fail(const std::string& message, const std::string& hint = "") const {
    const std::string_view before = text_.substr(start_, at_ - start_);
    const std::string_view line = before.substr(before.rfind('\n') + 1);
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
    raise_input_error({name_, static_cast<uint32_t>(std::ranges::count(before, '\n') + 1),
                       static_cast<uint32_t>(line.size() - std::ranges::count_if(line, continues) + 1)},
                      message, hint);
  }

  std::string_view text_;
  const std::string& name_;
  size_t start_ = 0, at_ = 0;
  int dots_ = 0;  ///< of the names so far
};

}  // namespace

void check_toml_structure(std::string_view text, const std::string& name) {
  Structure(text, name).document();
}

}  // namespace gpusim::core
