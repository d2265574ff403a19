#include "simcore/text/json_document.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <set>

#include "simcore/text/text_file.h"

namespace gpusim::core {

namespace {

constexpr uint32_t kMostLevels = 64;

void append_utf8(std::string& out, uint32_t c) {
  const auto byte = [&](uint32_t b) { out += static_cast<char>(b); };
  if (c < 0x80) return byte(c);
  if (c < 0x800) return byte(0xc0 | c >> 6), byte(0x80 | (c & 0x3f));
  if (c < 0x10000) return byte(0xe0 | c >> 12), byte(0x80 | (c >> 6 & 0x3f)), byte(0x80 | (c & 0x3f));
  byte(0xf0 | c >> 18), byte(0x80 | (c >> 12 & 0x3f)), byte(0x80 | (c >> 6 & 0x3f)), byte(0x80 | (c & 0x3f));
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  JsonValue document() {
    if (text_.size() > kMaxDocumentBytes)
      raise_input_error({name_},
                        fmt::format("has {} bytes, at most {} are read", text_.size(), kMaxDocumentBytes));
    JsonValue v = value(0);
    skip_blanks();
    if (at_ != text_.size()) fail("text behind the value");
    return v;
  }

 private:
  [[nodiscard]] Where here() const { return {name_, line_, static_cast<uint32_t>(at_ - line_start_ + 1)}; }
  [[noreturn]] void fail(const std::string& what, const std::string& hint = "") const {
    raise_input_error(here(), what, hint);
  }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  [[nodiscard]] std::string found() const {
    if (at_ == text_.size()) return "the end of the file";
    const auto c = static_cast<unsigned char>(text_[at_]);
    return c > ' ' && c < 0x7f ? fmt::format("'{}'", text_[at_]) : fmt::format("byte 0x{:02x}", c);
  }
  void skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n')
        ++line_, line_start_ = at_ + 1;
      else if (c != ' ' && c != '\t' && c != '\r')
        return;
    }
  }
  void expect(char c, const char* where) {
    skip_blanks();
    if (peek() != c || at_ == text_.size())
      fail(fmt::format("expected '{}' {}, found {}", c, where, found()));
    ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  JsonValue value(uint32_t level) {
    skip_blanks();
    if (level > kMostLevels) fail(fmt::format("more than {} levels", kMostLevels));
    JsonValue v;
    v.where = here();
    const char c = peek();
    if (c == '{')
      object(v, level);
    else if (c == '[')
      array(v, level);
    else if (c == '"')
      v.kind = JsonValue::Kind::kString, v.text = string();
    else if (c == '-' || (c >= '0' && c <= '9'))
      v.kind = JsonValue::Kind::kNumber, v.number = number();
    else
      word(v);
    return v;
  }
  void object(JsonValue& v, uint32_t level) {
    v.kind = JsonValue::Kind::kObject;
    ++at_;
    if (take('}')) return;
    std::set<std::string> names;
    do {
      skip_blanks();
      const Where where = here();
      if (peek() != '"') fail(fmt::format("expected a name in quotes, found {}", found()));
      std::string name = string();
      if (!names.insert(name).second)
        raise_input_error(where, fmt::format("{} stands here a second time", json_quoted(name)));
      expect(':', "behind the name");
      v.members.push_back({std::move(name), where, value(level + 1)});
    } while (take(','));
    expect('}', "or ',' behind a member");
  }
  void array(JsonValue& v, uint32_t level) {
    v.kind = JsonValue::Kind::kArray;
    ++at_;
    if (take(']')) return;
    do v.items.push_back(value(level + 1));
    while (take(','));
    expect(']', "or ',' behind an element");
  }
  void word(JsonValue& v) {
    struct Word {
      std::string_view text;
      JsonValue::Kind kind;
      bool boolean;
    };
    for (const Word& w :
         {Word{"null", JsonValue::Kind::kNull, false}, Word{"true", JsonValue::Kind::kBoolean, true},
          Word{"false", JsonValue::Kind::kBoolean, false}}) {
      if (!text_.substr(at_).starts_with(w.text)) continue;
      at_ += w.text.size();
      v.kind = w.kind;
      v.boolean = w.boolean;
      return;
    }
    fail(fmt::format("expected a value, found {}", found()));
  }

  size_t digits() {
    const size_t first = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ - first;
  }
  Number number() {
    const size_t first = at_;
    if (peek() == '-') ++at_;
    const size_t leading = at_, whole = digits();
    if (whole == 0 || (whole > 1 && text_[leading] == '0'))
      at_ = first, fail("a number has digits, and none is a zero in front of others");
    bool integer = true;
    if (peek() == '.') {
      ++at_;
      integer = false;
      if (digits() == 0) fail(fmt::format("expected a digit behind the point, found {}", found()));
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      integer = false;
      if (peek() == '+' || peek() == '-') ++at_;
      if (digits() == 0) fail(fmt::format("expected the exponent's digits, found {}", found()));
    }
    const char *begin = text_.data() + first, *end = text_.data() + at_;
    int64_t exact = 0;
    if (integer && std::from_chars(begin, end, exact).ec == std::errc{}) return Number::of(exact);
    double real = 0;
    if (std::from_chars(begin, end, real).ec != std::errc{} || !std::isfinite(real))
      at_ = first, fail("the number is out of range");
    return Number::of_real(real);
  }

  std::string string() {
    std::string out;
    for (++at_;; ++at_) {
      if (at_ == text_.size()) fail("the string does not end");
      const char c = text_[at_];
      if (c == '"') break;
      if (static_cast<unsigned char>(c) < 0x20)
        fail(fmt::format("{} in a string", found()), "\\n, \\t and \\u0000 write such characters");
      if (c == '\\')
        escape(out);
      else
        out += c;
    }
    ++at_;
    return out;
  }
  void escape(std::string& out) {
    constexpr std::string_view kNames = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    ++at_;
    if (peek() == 'u') {
      uint32_t c = unit();
      if (c >= 0xd800 && c < 0xdc00 && text_.substr(at_ + 1).starts_with("\\u")) {
        at_ += 2;
        const uint32_t low = unit();
        if (low < 0xdc00 || low > 0xdfff) fail("expected the second half of a pair of \\u");
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
      }
      if (c >= 0xd800 && c < 0xe000) fail("half of a pair of \\u");
      return append_utf8(out, c);
    }
    const size_t which = at_ == text_.size() ? std::string_view::npos : kNames.find(peek());
    if (which == std::string_view::npos) fail(fmt::format("{} behind a backslash", found()));
    out += kMeanings[which];
  }
  /// The four digits behind the `u` at which the text stands; it stands at the last of them afterwards.
  uint32_t unit() {
    uint32_t c = 0;
    const char* first = text_.data() + at_ + 1;
    const bool there = text_.size() - at_ > 4;
    if (!there || std::from_chars(first, first + 4, c, 16).ptr != first + 4)
      fail("expected four hexadecimal digits behind \\u");
    at_ += 4;
    return c;
  }

  std::string_view text_;
  std::string name_;
  size_t at_ = 0, line_start_ = 0;
  uint32_t line_ = 1;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  for (const Member& m : members)
    if (m.name == name) return &m.value;
  return nullptr;
}

std::string_view json_kind(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::kNull:
      return "null";
    case JsonValue::Kind::kBoolean:
      return "a truth value";
    case JsonValue::Kind::kNumber:
      return "a number";
    case JsonValue::Kind::kString:
      return "a string";
    case JsonValue::Kind::kArray:
      return "an array";
    case JsonValue::Kind::kObject:
      return "an object";
  }
  return "";
}

JsonValue parse_json(std::string_view text, const std::string& name) { return Parser(text, name).document(); }

}  // namespace gpusim::core
