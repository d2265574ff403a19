// Parses TOML text with toml++ behind bounds that keep any input safe: size, and grammar and nesting
// (simcore/text/toml_structure.h). Include only from .cpp files: toml++ is a large header.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

namespace gpusim::core {
/// Throws std::logic_error: no input should get there, and if one does the program says so and ends in order.
[[noreturn]] void toml_assertion_failed(const char* condition);
}  // namespace gpusim::core

// The assertions stay with NDEBUG too, where toml++ would take them for granted.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expr) \
  (static_cast<bool>(expr) ? static_cast<void>(0) : gpusim::core::toml_assertion_failed(#expr))
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 0  // the parser is compiled once, in toml_document.cpp
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ENABLE_UNRELEASED_FEATURES 0
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

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
