#include "simcore/launch/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "simcore/launch/scope.h"
#include "simcore/text/names.h"

namespace gpusim::core {

Where inside_string(const toml::node& node, const std::string& file, size_t offset) {
  Where where = where_of(node, file);
  if (node.source().begin.line == node.source().end.line) where.column += 1 + static_cast<uint32_t>(offset);
  return where;
}

void report(const ReadContext& context, const toml::node& node, size_t offset, const ExpressionError& error) {
  context.messages.error(inside_string(node, context.file, offset + error.offset), error.message, error.hint);
}

std::optional<Number> read_number(const ReadContext& context, const toml::node& node, std::string_view what) {
  if (const auto* integer = node.as_integer()) return Number::of(integer->get());
  if (const auto* real = node.as_floating_point()) return Number::of_real(real->get());
  const auto* text = node.as_string();
  if (text == nullptr) {
    context.messages.error(
        where_of(node, context.file),
        fmt::format("{} must be a number or an expression, not {}", what, node_kind(node)));
    return std::nullopt;
  }
  ExpressionError error;
  const auto value = evaluate(text->get(), param_scope(context.launch), error);
  if (!value) report(context, node, 0, error);
  return value;
}

std::optional<int64_t> read_integer(const ReadContext& context, const toml::node& node, std::string_view what,
                                    int64_t low, int64_t high) {
  const auto value = read_number(context, node, what);
  if (!value) return std::nullopt;
  const Where where = where_of(node, context.file);
  if (!value->is_integer) {
    context.messages.error(where, fmt::format("{} = {} is not an integer", what, value->real),
                           node.is_string() ? "ceil_div(a, b) and // give integers" : "");
    return std::nullopt;
  }
  if (value->integer < low || value->integer > high) {
    context.messages.error(where, fmt::format("{} = {} is out of range", what, value->integer),
                           fmt::format("valid: {} to {}", low, high));
    return std::nullopt;
  }
  return value->integer;
}

std::vector<Number> read_numbers(const ReadContext& context, const toml::array& array,
                                 std::string_view what) {
  std::vector<Number> values;
  values.reserve(array.size());
  for (const toml::node& node : array) {
    const auto value = read_number(context, node, what);
    if (!value && context.messages.errors() > Messages::kMaxMessages) break;
    values.push_back(value.value_or(Number{}));
  }
  return values;
}

TableReader::TableReader(const ReadContext& context, const toml::table& table, std::string what,
                         std::initializer_list<std::string_view> keys, bool again)
    : context_(context), table_(table), what_(std::move(what)) {
  if (again) return;
  const std::vector<std::string_view> valid(keys);
  for (const auto& [key, value] : table) {
    if (std::ranges::find(valid, key.str()) == valid.end()) {
      context.messages.error(where_of(key, context.file),
                             fmt::format("unknown key '{}' in {}", key.str(), what_),
                             name_hint(key.str(), valid));
    }
  }
}

Where TableReader::where(std::string_view key) const {
  const toml::node* found = node(key);
  return found != nullptr ? where_of(*found, context_.file) : where();
}

void TableReader::wrong_kind(std::string_view key, std::string_view expected, const toml::node& node) const {
  context_.messages.error(where_of(node, context_.file),
                          fmt::format("'{}' must be {}, not {}", key, expected, node_kind(node)));
}

std::optional<std::string> TableReader::text(std::string_view key, bool required) const {
  const toml::node* found = node(key);
  if (found == nullptr) {
    if (required) context_.messages.error(where(), fmt::format("{} has no '{}'", what_, key));
    return std::nullopt;
  }
  const auto* value = found->as_string();
  if (value == nullptr) {
    wrong_kind(key, "a string", *found);
    return std::nullopt;
  }
  return value->get();
}

int64_t TableReader::integer(std::string_view key, int64_t fallback, int64_t low, int64_t high) const {
  const toml::node* found = node(key);
  return found == nullptr ? fallback : read_integer(context_, *found, key, low, high).value_or(fallback);
}

double TableReader::real(std::string_view key, double fallback, double low) const {
  const toml::node* found = node(key);
  if (found == nullptr) return fallback;
  const auto value = read_number(context_, *found, key);
  if (!value) return fallback;
  if (!(value->as_double() >= low) || std::isinf(value->as_double())) {
    context_.messages.error(where_of(*found, context_.file),
                            fmt::format("{} = {} is out of range", key, value->as_double()),
                            fmt::format("valid: {} and above", low));
    return fallback;
  }
  return value->as_double();
}

bool TableReader::boolean(std::string_view key, bool fallback) const {
  const toml::node* found = node(key);
  if (found == nullptr) return fallback;
  if (const auto* value = found->as_boolean()) return value->get();
  wrong_kind(key, "true or false", *found);
  return fallback;
}

std::string TableReader::choice(std::string_view key, std::initializer_list<std::string_view> choices) const {
  const auto value = text(key, false);
  if (!value) return std::string(*choices.begin());
  const std::vector<std::string_view> valid(choices);
  if (std::ranges::find(valid, *value) == valid.end()) {
    context_.messages.error(where(key), fmt::format("{} = '{}' is not valid", key, *value),
                            name_hint(*value, valid));
  }
  return *value;
}

std::optional<uint32_t> TableReader::buffer(std::string_view key) const {
  const auto name = text(key, true);
  if (!name) return std::nullopt;
  const auto& buffers = context_.launch.buffers;
  const auto found = std::ranges::find(buffers, *name, &BufferSpec::name);
  if (found != buffers.end() && found->variable) {
    context_.messages.error(where(key), fmt::format("'{}' is a variable, not a buffer", *name),
                            fmt::format("variable = \"{}\"", *name));
    return std::nullopt;
  }
  if (found != buffers.end()) return static_cast<uint32_t>(found - buffers.begin());
  context_.messages.error(where(key), fmt::format("undefined buffer '{}'", *name),
                          name_hint(*name, buffer_names(context_.launch)));
  return std::nullopt;
}

}  // namespace gpusim::core
