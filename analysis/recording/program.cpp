#include "analysis/recording/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "simcore/launch/launch_numbers.h"
#include "simcore/launch/overrides.h"
#include "simcore/text/names.h"

namespace gpusim::analysis {
namespace {

/// Values of the recorded command line's --param options (docs/file_format.md: quoted, one option each).
std::vector<std::string> param_options(std::string_view command) {
  constexpr std::string_view kOption = " --param '";
  std::vector<std::string> values;
  for (size_t at = command.find(kOption); at != std::string_view::npos; at = command.find(kOption, at)) {
    at += kOption.size();
    values.emplace_back(command.substr(at, command.find('\'', at) - at));
  }
  return values;
}

/// The word behind `option`, a file's name: up to its hash, without its extension.
std::string stem_behind(std::string_view command, std::string_view option) {
  const size_t at = command.find(option);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = command.substr(at + option.size());
  const std::string_view file = rest.substr(0, rest.find('#'));
  return std::string(file.substr(0, file.rfind('.')));
}

core::LaunchDescription numbers_of(const Recording& recording, bool has_launch_file) {
  const std::vector<std::string> options = param_options(recording.command_line());
  try {
    if (has_launch_file)
      return core::parse_launch_numbers(recording.launch_text(), recording.path() + ":/inputs/launch",
                                        options);
    core::LaunchDescription launch;
    core::Messages messages;
    for (const core::ParamOverride& p : core::parse_overrides(options, messages))
      launch.params.emplace_back(p.name, p.value);
    messages.raise_if_any();
    return launch;
  } catch (const core::InputError& e) {
    throw core::RecordError(
        fmt::format("'{}': its launch file or command line is damaged:\n{}", recording.path(), e.what()));
  }
}

}  // namespace

double Program::stated_flops(std::string_view key) const {
  const auto at = std::ranges::find(flops, key, &std::pair<std::string, double>::first);
  return at == flops.end() ? 0 : at->second;
}

double Program::param(std::string_view key, const Recording& recording) const {
  std::vector<std::string_view> names;
  for (const auto& [known, value] : params) {
    if (known == key) return value;
    names.push_back(known);
  }
  throw core::RecordError(fmt::format("'{}' was run without a parameter '{}'{}", recording.path(), key,
                                      names.empty() ? "" : "; " + core::name_hint(key, names)));
}

Program program_of(const Recording& recording) {
  const std::string command = recording.command_line();
  Program program;
  program.name = stem_behind(command, " --launch ");
  const bool has_launch_file = !program.name.empty();
  if (!has_launch_file) {
    // gpusim --config NAME#HASH NAME.ptx#HASH ...
    const size_t machine = command.find('#');
    program.name = stem_behind(machine == std::string::npos ? "" : command.substr(machine), " ");
  }
  const core::LaunchDescription launch = numbers_of(recording, has_launch_file);
  for (const auto& [name, value] : launch.params) program.params.emplace_back(name, value.as_double());
  program.flops = launch.flops;
  return program;
}

}  // namespace gpusim::analysis
