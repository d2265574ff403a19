#define TOML_IMPLEMENTATION
#include "simcore/text/toml_document.h"

#include <fmt/format.h>

#include "simcore/text/toml_structure.h"

namespace gpusim::core {

void toml_assertion_failed(const char* condition) {
  throw std::logic_error(fmt::format("toml++ does not keep its own condition '{}'", condition));
}

toml::table parse_toml(std::string_view text, const std::string& name) {
  if (text.size() > kMaxDocumentBytes) {
    raise_input_error({name},
                      fmt::format("file is too large: {} bytes, at most {}", text.size(), kMaxDocumentBytes));
  }
  check_toml_structure(text, name);
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
