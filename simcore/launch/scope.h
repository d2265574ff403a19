// Names of a launch description as expressions and error hints see them.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "simcore/launch/expression.h"
#include "simcore/launch/launch.h"
#include "simcore/text/names.h"

namespace gpusim::core {

/// The launch's [params]. Refers to `launch`: use it while that lives and its params do not change.
[[nodiscard]] inline ExpressionScope param_scope(const LaunchDescription& launch) {
  ExpressionScope scope;
  scope.find = [&launch](std::string_view name) -> std::optional<Number> {
    const Number* number = launch.find_param(name);
    return number != nullptr ? std::optional<Number>(*number) : std::nullopt;
  };
  for (const auto& [name, value] : launch.params) scope.names.push_back(name);
  return scope;
}

[[nodiscard]] inline std::vector<std::string_view> buffer_names(const LaunchDescription& launch) {
  std::vector<std::string_view> names;
  for (const BufferSpec& buffer : launch.buffers) names.push_back(buffer.name);
  return names;
}

/// Where an error in an expression is whose first character stands at `where`.
[[nodiscard]] inline Where place_of(Where where, const ExpressionError& error) {
  if (where.column != 0) where.column += static_cast<uint32_t>(error.offset);
  return where;
}

/// For a buffer or listed variable that is not there.
[[nodiscard]] inline std::string buffer_hint(std::string_view name, const LaunchDescription& launch) {
  std::string hint = name_hint(name, buffer_names(launch));
  if (!hint.starts_with("did you mean"))
    hint += std::string(hint.empty() ? "" : "; ") +
            "a variable of the PTX is named here if a [[variable]] lists it";
  return hint;
}

}  // namespace gpusim::core
