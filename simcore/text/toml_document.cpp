#include "simcore/text/toml_document.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace gpusim::core {
namespace {

/// toml++ bounds nested values but not dotted keys: each part is one more table, destroyed recursively.
void refuse_long_dotted_keys(std::string_view text, const std::string& name) {
  constexpr int kMaxDots = 64;
  int dots = 0;
  char quote = 0;
  bool comment = false;
  uint32_t line = 1;
  size_t line_start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      ++line;
      line_start = i + 1;
      dots = 0;
      quote = 0;
      comment = false;
    } else if (comment) {
      continue;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      comment = true;
    } else if (c == ',' || c == '=' || c == '{' || c == '[') {
      dots = 0;
    } else if (c == '.' && ++dots > kMaxDots) {
      raise_input_error({name, line, static_cast<uint32_t>(i - line_start + 1)},
                        "dotted key has too many parts", fmt::format("at most {} are allowed", kMaxDots));
    }
  }
}

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& name) {
  if (text.size() > kMaxDocumentBytes) {
    raise_input_error({name},
                      fmt::format("file is too large: {} bytes, at most {}", text.size(), kMaxDocumentBytes));
  }
  refuse_long_dotted_keys(text, name);
  toml::parse_result result = toml::parse(text, name);
  if (!result) {
    const auto& error = result.error();
    raise_input_error({name, static_cast<uint32_t>(error.source().begin.line),
                       static_cast<uint32_t>(error.source().begin.column)},
                      std::string(error.description()));
  }
  return std::move(result).table();
}

std::string read_text_file(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0)
    raise_input_error({path}, fmt::format("cannot open: {}", std::strerror(errno)));
  if (!S_ISREG(info.st_mode)) raise_input_error({path}, "cannot read: not a regular file");
  if (static_cast<uint64_t>(info.st_size) > kMaxDocumentBytes) {
    raise_input_error(
        {path}, fmt::format("file is too large: {} bytes, at most {}", info.st_size, kMaxDocumentBytes));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) raise_input_error({path}, fmt::format("cannot open: {}", std::strerror(errno)));
  std::ostringstream content;
  content << file.rdbuf();
  if (file.bad()) raise_input_error({path}, "cannot read");
  return std::move(content).str();
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
