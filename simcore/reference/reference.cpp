#include "simcore/reference/reference.h"

#include <fmt/format.h>

#include <algorithm>

#include "simcore/launch/scope.h"
#include "simcore/reference/functions.h"
#include "simcore/text/names.h"

namespace gpusim::core {

std::vector<std::string_view> reference_names() {
  std::vector<std::string_view> names;
  for (const ReferenceFunction& function : reference_functions()) names.push_back(function.name);
  return names;
}

std::string reference_help() {
  std::string text;
  for (const ReferenceFunction& function : reference_functions()) text += std::string(function.help) + "\n";
  return text;
}

std::optional<ReferenceCall> parse_reference(std::string_view text, const LaunchDescription& launch,
                                             ExpressionError& error) {
  const auto parts = split_call(text, error);
  if (!parts) return std::nullopt;
  const auto functions = reference_functions();
  const auto function = std::ranges::find(functions, parts->name, &ReferenceFunction::name);
  if (function == functions.end()) {
    error = {0, fmt::format("unknown reference '{}'", parts->name),
             name_hint(parts->name, reference_names())};
    return std::nullopt;
  }
  std::string kinds(function->signature);
  const size_t required = std::min(kinds.find('|'), kinds.size());
  std::erase(kinds, '|');
  if (parts->arguments.size() < required || parts->arguments.size() > kinds.size()) {
    error = {0,
             fmt::format("{} takes {} arguments{}, found {}", function->name, required,
                         kinds.size() > required ? fmt::format(" to {}", kinds.size()) : "",
                         parts->arguments.size()),
             std::string(function->help)};
    return std::nullopt;
  }
  ReferenceCall call{&*function, {}};
  const ExpressionScope scope = param_scope(launch);
  for (size_t i = 0; i < parts->arguments.size(); ++i) {
    const auto& [argument_text, offset] = parts->arguments[i];
    ReferenceCall::Argument argument;
    argument.is_buffer = kinds[i] == 'b';
    if (argument.is_buffer) {
      const auto buffer = std::ranges::find(launch.buffers, argument_text, &BufferSpec::name);
      if (buffer == launch.buffers.end()) {
        error = {offset, fmt::format("undefined buffer '{}'", argument_text),
                 name_hint(argument_text, buffer_names(launch))};
        return std::nullopt;
      }
      argument.buffer = static_cast<uint32_t>(buffer - launch.buffers.begin());
    } else {
      const auto number = evaluate(argument_text, scope, error);
      if (!number) {
        error.offset += offset;
        return std::nullopt;
      }
      argument.number = *number;
    }
    call.arguments.push_back(argument);
  }
  return call;
}

ReferenceResult evaluate_reference(const ReferenceCall& call, const LaunchDescription& launch,
                                   uint64_t room) {
  std::vector<ReferenceInput> buffers;
  std::vector<Number> numbers;
  for (const ReferenceCall::Argument& argument : call.arguments) {
    if (!argument.is_buffer) {
      numbers.push_back(argument.number);
      continue;
    }
    const BufferSpec& buffer = launch.buffers[argument.buffer];
    ReferenceInput input{buffer.name, buffer.type, std::vector<std::byte>(buffer.bytes())};
    fill_buffer(launch.first_content(argument.buffer), launch.seed, input.content);
    buffers.push_back(std::move(input));
  }
  ReferenceResult result;
  call.function->run(ReferenceArguments(std::move(buffers), std::move(numbers), room), result);
  return result;
}

}  // namespace gpusim::core
