#include "analysis/report/text.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "simcore/text/json_text.h"

namespace gpusim::analysis {

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

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t bytes = core::utf8_length(text);
    const bool control = static_cast<unsigned char>(text[0]) < 0x20 || text[0] == 0x7f ||
                         (bytes == 2 && text[0] == '\xc2' && static_cast<unsigned char>(text[1]) < 0xa0);
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

std::string from_here(const std::string& path) {
  std::error_code error;
  const std::string here = (std::filesystem::current_path(error) / "").string();
  return !error && path.starts_with(here) && path.size() > here.size() ? path.substr(here.size()) : path;
}

}  // namespace gpusim::analysis
