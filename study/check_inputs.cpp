#include "study/check_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "simcore/config/load.h"
#include "simcore/launch/launch_numbers.h"
#include "simcore/launch/overrides.h"
#include "simcore/text/names.h"
#include "simcore/text/reachable.h"
#include "simcore/text/text_file.h"
#include "simcore/text/units.h"

namespace gpusim::study {

namespace {

namespace fs = std::filesystem;
using Machines = std::vector<core::MachineConfig>;

/// Why no content can be read under this name; empty if one can.
std::string why_no_file(const std::string& file) {
  std::error_code error;
  if (fs::is_regular_file(file, error)) return "";
  if (const std::string why = core::why_unreachable(file); !why.empty())
    return fmt::format("'{}' cannot be opened: {}", file, why);
  return fs::exists(file, error) ? fmt::format("'{}' is not a regular file", file)
                                 : fmt::format("there is no file '{}'", file);
}

void check_files(const Study& study, core::Messages& messages) {
  for (const Workload& w : study.workloads)
    for (const std::string& file : {w.ptx, launch_file_of(w)})
      if (const std::string reason = why_no_file(file); !reason.empty())
        messages.error(w.where, fmt::format("workload '{}': {}", w.name, reason));
}

/// A value that no machine of the study takes. One that only some take is refused at the points of the
/// others.
void check_set_on(const std::string& set, const Machines& machines, const core::Where& where,
                  core::Messages& messages) {
  std::string problem;
  const auto target = parse_target(set.substr(0, set.find('=')), problem);
  if (target && target->kind != Target::Kind::kKey) {
    messages.error(where, fmt::format("{} is no key of a configuration", target_text(*target)),
                   fmt::format("an axis with one value: --axis {}, or in a study file an [[axis]]{}", set,
                               target->kind == Target::Kind::kParam ? "; or --param, params" : ""));
    return;
  }
  for (const core::MachineConfig& machine : machines) {
    core::Messages of_machine;
    core::check_set(set, machine, where, of_machine);
    if (!of_machine.has_errors()) return;
  }
  core::check_set(set, machines.front(), where, messages);
}

/// Parameters of each workload's launch file.
std::vector<std::vector<std::string>> params_of(const Study& study) {
  std::vector<std::vector<std::string>> all;
  for (const Workload& w : study.workloads) {
    const std::string file = launch_file_of(w);
    std::vector<std::string>& names = all.emplace_back();
    const core::LaunchDescription numbers = core::parse_launch_numbers(core::read_text_file(file), file, {});
    for (const auto& [name, value] : numbers.params) names.push_back(name);
  }
  return all;
}

void check_param(const Workload& workload, const std::vector<std::string>& known, const std::string& name,
                 const core::Where& where, core::Messages& messages) {
  if (std::ranges::find(known, name) != known.end()) return;
  const std::vector<std::string_view> names(known.begin(), known.end());
  messages.error(where,
                 fmt::format("the launch file of workload '{}' ({}) has no parameter '{}'", workload.name,
                             launch_file_of(workload), name),
                 known.empty() ? "it has no [params]" : core::name_hint(name, names));
}

/// "N=1024": a number, or an expression without names.
bool is_override(const std::string& text) {
  core::Messages problems;
  return !core::parse_overrides({&text, 1}, problems).empty() && !problems.has_errors();
}

void check_params(const Study& study, core::Messages& messages) {
  const std::vector<std::vector<std::string>> known = params_of(study);
  for (size_t w = 0; w < study.workloads.size(); ++w) {
    const Workload& workload = study.workloads[w];
    for (const std::string& param : workload.params) {
      check_param(workload, known[w], param.substr(0, param.find('=')), workload.where, messages);
      if (!is_override(param))
        messages.error(workload.where, fmt::format("'{}' is not NAME=VALUE with a number", param));
    }
    for (const Axis& axis : study.axes)
      for (const Target& target : axis.targets)
        if (target.kind == Target::Kind::kParam)
          check_param(workload, known[w], target.name, axis.where, messages);
  }
}

template <class Words>
void check_word(const std::string& text, const Words& words, const char* what, const core::Where& where,
                core::Messages& messages) {
  if (std::ranges::find(words, text) == words.end())
    messages.error(where, fmt::format("there is no {} '{}'", what, text), core::name_hint(text, words));
}

/// What the value says by itself.
void check_value(const Target& target, const std::string& text, const Machines& machines,
                 const core::Where& where, core::Messages& messages) {
  switch (target.kind) {
    case Target::Kind::kKey:
      return check_set_on(target.name + "=" + text, machines, where, messages);
    case Target::Kind::kParam:
      if (!is_override(target.name + "=" + text))
        messages.error(where, fmt::format("'{}' is no number for the parameter '{}'", text, target.name));
      return;
    case Target::Kind::kCoreClock:
    case Target::Kind::kInterconnectClock:
    case Target::Kind::kDramClock:
      if (const auto khz = core::parse_khz(text); !khz || *khz < core::kLowestKhz || *khz > core::kHighestKhz)
        messages.error(where, fmt::format("{}: '{}' is no clock", target_text(target), text),
                       "a clock from 1MHz to 100GHz such as 1050MHz");
      return;
    case Target::Kind::kLowering:
      return check_word(text, isa::kLoweringLevels, "lowering", where, messages);
    case Target::Kind::kCache:
      return check_word(text, comp::kCacheStates, "cache state", where, messages);
    case Target::Kind::kSeed:
      if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos)
        messages.error(where, fmt::format("seed: '{}' is no natural number", text));
      return;
    case Target::Kind::kSms:
      return;  // check_study() has looked at it
  }
}

/// Each value of each axis has a point with it whose machine exists. Of a value that is refused with so many
/// combinations of the others, it is not claimed that it is with all.
void check_possible(const Study& study, std::span<const Point> points,
                    std::span<const std::string> config_folders, core::Messages& messages) {
  constexpr size_t kMostTries = 1000;
  constexpr std::string_view kHint = "\n  hint: ";
  struct Tried {
    bool possible = false;
    size_t times = 0;
    std::string reason, hint;
  };
  std::vector<std::vector<Tried>> tried(study.axes.size());
  for (size_t a = 0; a < tried.size(); ++a) tried[a].resize(study.axes[a].values.size());
  for (const Point& point : points) {
    if (point.workload != 0) continue;  // machines do not depend on it
    bool open = false;
    for (size_t a = 0; a < tried.size(); ++a) {
      const Tried& t = tried[a][point.values[a]];
      open |= !t.possible && t.times < kMostTries;
    }
    if (!open) continue;
    std::string reason, hint;
    try {
      (void)machine_at(study, point, config_folders);
    } catch (const core::InputError& e) {
      const std::string text = e.what();
      reason = core::first_line(text);
      if (const size_t at = text.find(kHint); at != std::string::npos)
        hint = core::first_line(std::string_view(text).substr(at + kHint.size()));
    }
    for (size_t a = 0; a < tried.size(); ++a) {
      Tried& t = tried[a][point.values[a]];
      t.possible |= reason.empty();
      if (++t.times == 1) t.reason = reason, t.hint = hint;
    }
  }
  const auto impossible = [](const Tried& t) { return !t.possible && t.times > 0 && t.times < kMostTries; };
  for (size_t a = 0; a < tried.size(); ++a) {
    // If all values of all axes are, what is wrong is no single one of them: the points say so.
    if (std::ranges::all_of(tried[a], impossible)) continue;
    for (size_t v = 0; v < tried[a].size(); ++v)
      if (impossible(tried[a][v]))
        messages.error(study.axes[a].values[v].where,
                       fmt::format("{}={} is possible at no point of the study: {}", study.axes[a].name,
                                   study.axes[a].values[v].label, tried[a][v].reason),
                       tried[a][v].hint);
  }
}

/// A message without a place gets that of the machine's name in the study.
core::MachineConfig load_at(const Study& study, size_t machine, std::span<const std::string> config_folders) {
  try {
    return core::load_machine(study.machines[machine], {}, config_folders);
  } catch (const core::InputError& e) {
    const std::string_view message = e.what();
    if (machine >= study.machine_places.size() || !message.starts_with("error: ")) throw;
    throw core::InputError(fmt::format("{}: {}", study.machine_places[machine].text(), message));
  }
}

}  // namespace

void check_inputs(const Study& study, std::span<const Point> points,
                  std::span<const std::string> config_folders) {
  core::Messages messages;
  check_files(study, messages);
  messages.raise_if_any();
  Machines machines;
  for (size_t i = 0; i < study.machines.size(); ++i) machines.push_back(load_at(study, i, config_folders));
  for (size_t i = 0; i < study.sets.size(); ++i)
    check_set_on(study.sets[i], machines,
                 i < study.set_places.size() ? study.set_places[i]
                                             : core::Where{"--set '" + study.sets[i] + "'", 0, 0},
                 messages);
  check_params(study, messages);
  for (const Axis& axis : study.axes)
    for (const Axis::Value& value : axis.values)
      for (size_t t = 0; t < axis.targets.size(); ++t)
        check_value(axis.targets[t], value.texts[t], machines, value.where, messages);
  messages.raise_if_any();
  check_possible(study, points, config_folders, messages);
  messages.raise_if_any();
}

}  // namespace gpusim::study
