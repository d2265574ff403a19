// Launches given on the command line: --kernel, --grid, --block, --arg, --param.
#include <fmt/format.h>

#include <algorithm>

#include "simcore/launch/init.h"
#include "simcore/launch/launch.h"
#include "simcore/launch/overrides.h"
#include "simcore/launch/scope.h"
#include "simcore/text/names.h"

namespace gpusim::core {
namespace {

class CommandLine {
 public:
  CommandLine(const CommandLineLaunch& command, uint64_t seed) : command_(command) {
    launch_.path = "command line";
    launch_.seed = seed;
  }

  LaunchDescription build() {
    for (const ParamOverride& param : parse_overrides(command_.params, messages_)) {
      launch_.params.emplace_back(param.name, param.value);
    }
    LaunchSpec spec;
    spec.kernel = command_.kernel;
    spec.where = {"command line"};
    spec.kernel_where = {fmt::format("--kernel '{}'", command_.kernel)};
    dimensions("--grid", command_.grid, 2147483647, spec.grid);
    dimensions("--block", command_.block, 1024, spec.block);
    if (command_.dynamic_shared > (1 << 24)) messages_.error({"--dynamic-shared"}, "more than 16 MiB");
    spec.dynamic_shared = static_cast<uint32_t>(command_.dynamic_shared);
    for (size_t i = 0; i < command_.args.size(); ++i) argument(i, spec);
    if (launch_.total_buffer_bytes() > kMaxBufferBytes) {
      messages_.error({"--arg"},
                      fmt::format("the buffers together need more than {} bytes", kMaxBufferBytes));
    }
    launch_.launches.push_back(std::move(spec));
    launch_.text = text();
    messages_.raise_if_any();
    return std::move(launch_);
  }

 private:
  void dimensions(const std::string& option, const std::string& text, int64_t limit, uint32_t (&out)[3]) {
    const Where where{fmt::format("{} '{}'", option, text)};
    if (text.empty()) {
      messages_.error({}, fmt::format("{} is missing", option), "give X, X,Y or X,Y,Z");
      return;
    }
    ExpressionError error;
    const std::string call = "d(" + text + ")";
    const auto parts = split_call(call, error);
    if (!parts || parts->arguments.empty() || parts->arguments.size() > 3) {
      messages_.error(where, "expected X, X,Y or X,Y,Z");
      return;
    }
    for (size_t i = 0; i < parts->arguments.size(); ++i) {
      const auto value = evaluate(parts->arguments[i].text, param_scope(launch_), error);
      if (!value) {
        messages_.error(where, error.message, error.hint);
      } else if (!value->is_integer || value->integer < 1 || value->integer > limit) {
        messages_.error(where,
                        fmt::format("'{}' is not an integer from 1 to {}", parts->arguments[i].text, limit));
      } else {
        out[i] = static_cast<uint32_t>(value->integer);
      }
    }
  }

  void argument(size_t index, LaunchSpec& spec) {
    const std::string& text = command_.args[index];
    ArgumentSpec argument;
    argument.text = text;
    argument.where = {fmt::format("--arg '{}'", text)};
    ExpressionError error;
    const size_t bracket = text.find('[');
    if (bracket != std::string::npos) {
      argument.kind = ArgumentSpec::Kind::kBuffer;
      argument.buffer = static_cast<uint32_t>(launch_.buffers.size());
      buffer(fmt::format("arg{}", index), text, bracket, argument.where);
    } else if (const auto value = evaluate(text, param_scope(launch_), error)) {
      argument.number = *value;
    } else {
      messages_.error(argument.where, error.message,
                      error.hint.empty()
                          ? "an argument is a number or a buffer such as 'f32[1024]=uniform(-1,1)'"
                          : error.hint);
    }
    spec.arguments.push_back(std::move(argument));
  }

  /// TYPE[COUNT] or TYPE[COUNT]=INIT
  void buffer(const std::string& name, const std::string& text, size_t bracket, const Where& where) {
    BufferSpec buffer;
    buffer.name = name;
    buffer.where = where;
    const size_t close = text.find(']', bracket);
    const auto type = element_type_from_name(std::string_view(text).substr(0, bracket));
    const bool well_formed =
        close != std::string::npos && (close + 1 == text.size() || text[close + 1] == '=');
    if (!type || !well_formed) {
      messages_.error(where,
                      type ? "expected TYPE[COUNT] or TYPE[COUNT]=INIT"
                           : fmt::format("unknown element type '{}'", text.substr(0, bracket)),
                      "for example f32[1024]=uniform(-1,1)");
      launch_.buffers.push_back(std::move(buffer));
      return;
    }
    buffer.type = *type;
    ExpressionError error;
    const std::string_view count = std::string_view(text).substr(bracket + 1, close - bracket - 1);
    const auto value = evaluate(count, param_scope(launch_), error);
    if (!value) {
      messages_.error(where, error.message, error.hint);
    } else if (!value->is_integer || value->integer < 0 ||
               value->integer > static_cast<int64_t>(kMaxBufferBytes / 8)) {
      messages_.error(where, fmt::format("'{}' is not a usable number of elements", count));
    } else {
      buffer.count = static_cast<uint64_t>(value->integer);
      buffer.init.given = close + 2 <= text.size();
      const std::string_view init = buffer.init.given ? std::string_view(text).substr(close + 2) : "zeros";
      if (!parse_init(init, param_scope(launch_), {true, ""}, true, buffer, error)) {
        messages_.error(where, error.message, error.hint);
      }
    }
    launch_.buffers.push_back(std::move(buffer));
  }

  /// What the recorded file keeps as the launch description.
  [[nodiscard]] std::string text() const {
    std::string text =
        fmt::format("--kernel {} --grid {} --block {}", command_.kernel, command_.grid, command_.block);
    for (const std::string& arg : command_.args) text += fmt::format(" --arg '{}'", arg);
    for (const std::string& param : command_.params) text += fmt::format(" --param {}", param);
    return text + "\n";
  }

  const CommandLineLaunch& command_;
  LaunchDescription launch_;
  Messages messages_;
};

}  // namespace

std::vector<ParamOverride> parse_overrides(std::span<const std::string> texts, Messages& messages) {
  std::vector<ParamOverride> overrides;
  const ExpressionScope no_names{[](std::string_view) { return std::optional<Number>(); }, {}};
  for (const std::string& text : texts) {
    const Where where{fmt::format("--param '{}'", text)};
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      messages.error(where, "expected NAME=VALUE");
      continue;
    }
    ExpressionError error;
    const auto value = evaluate(std::string_view(text).substr(equals + 1), no_names, error);
    if (!value) {
      messages.error(where, error.message, error.hint);
      continue;
    }
    const std::string name = text.substr(0, equals);
    std::erase_if(overrides, [&](const ParamOverride& item) { return item.name == name; });
    overrides.push_back({name, *value, where});
  }
  return overrides;
}

LaunchDescription launch_from_arguments(const CommandLineLaunch& command, uint64_t seed) {
  return CommandLine(command, seed).build();
}

}  // namespace gpusim::core
