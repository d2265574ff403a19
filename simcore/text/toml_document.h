// Parses TOML text with toml++ behind bounds that keep any input safe: size, nesting and length of dotted
// keys. Include only from .cpp files: toml++ is a large header.
#pragma once
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_UNRELEASED_FEATURES 0
#include <toml++/toml.h>

#include <string>
#include <string_view>

#include "simcore/text/input_error.h"
#include "simcore/text/text_file.h"

namespace gpusim::core {

/// Parses `text`; throws InputError with the place of the first syntax error. `name` is for messages.
[[nodiscard]] toml::table parse_toml(std::string_view text, const std::string& name);

[[nodiscard]] inline Where where_of(const toml::node& node, const std::string& file) {
  return {file, static_cast<uint32_t>(node.source().begin.line),
          static_cast<uint32_t>(node.source().begin.column)};
}
[[nodiscard]] inline Where where_of(const toml::key& key, const std::string& file) {
  return {file, static_cast<uint32_t>(key.source().begin.line),
          static_cast<uint32_t>(key.source().begin.column)};
}

/// "an integer", "a string", ... for messages.
[[nodiscard]] std::string_view node_kind(const toml::node& node);

}  // namespace gpusim::core
