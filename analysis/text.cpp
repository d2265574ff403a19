#include "analysis/text.h"

#include <fmt/format.h>

#include <cmath>

namespace gpusim::analysis {
namespace {

/// Bytes of the UTF-8 character at the start of `text`, 0 if there is none.
size_t utf8_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t bytes = first < 0x80                    ? 1
                       : first >= 0xf0 && first < 0xf5 ? 4
                       : first >= 0xe0 && first < 0xf0 ? 3
                       : first >= 0xc2 && first < 0xe0 ? 2
                                                       : 0;
  if (bytes == 0 || bytes > text.size()) return 0;
  for (size_t i = 1; i < bytes; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  return bytes;
}

}  // namespace

std::string indented(std::string_view text) {
  constexpr size_t kColumns = 100, kIndent = 4;
  std::string out;
  size_t column = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (column != 0 && column + 1 + word.size() > kColumns) {
      out += '\n';
      column = 0;
    }
    out += column == 0 ? std::string(kIndent, ' ') : " ";
    column = (column == 0 ? kIndent : column + 1) + word.size();
    out += word;
  }
  return out + '\n';
}

std::string json_escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t bytes = utf8_length(text);
    const char c = text[0];
    if (bytes == 0)
      out += '?';
    else if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      out += text.substr(0, bytes);
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t bytes = utf8_length(text);
    const bool control = static_cast<unsigned char>(text[0]) < 0x20 || text[0] == 0x7f;
    out += bytes == 0 || control ? "?" : text.substr(0, bytes);
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  for (size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1))
    out += printable(text.substr(0, end)) + '\n';
  return out + printable(text);
}

std::string number_text(double value) {
  constexpr double kExact = 9007199254740992.0;
  return value == std::floor(value) && std::abs(value) < kExact ? fmt::format("{:.0f}", value)
                                                                : fmt::format("{:.6g}", value);
}

std::string json_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }

}  // namespace gpusim::analysis
