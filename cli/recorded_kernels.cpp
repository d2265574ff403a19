#include "cli/recorded_kernels.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/profile/quantities.h"
#include "analysis/report/guarded.h"
#include "analysis/report/text.h"
#include "simcore/text/input_error.h"
#include "simcore/text/json_text.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::cli {

namespace {

using Report = std::function<std::string(const analysis::KernelRecord&, const core::MachineConfig&)>;

constexpr size_t kGroupsShown = 10;

/// Launches of one kernel with one grid and block.
struct LaunchGroup {
  std::vector<uint64_t> launches;
  uint64_t longest = 0;
  double seconds = 0, most = 0, least = 0;
};

double seconds_of(const analysis::Recording& recording, uint64_t launch) {
  if (!recording.launches()[launch].finished)
    return analysis::kernel_seconds(recording.kernel(launch), recording.machine());
  if (recording.has_attribute(launch, "time_fs"))
    return static_cast<double>(recording.attribute(launch, "time_fs")) * 1e-15;
  return static_cast<double>(recording.attribute(launch, "cycles")) /
         (static_cast<double>(recording.machine().clocks.core_khz) * 1e3);
}

/// The longest group first.
std::vector<LaunchGroup> grouped(const analysis::Recording& recording,
                                 const std::vector<uint64_t>& launches) {
  std::map<std::tuple<std::string, std::string, std::string>, size_t> places;
  std::vector<LaunchGroup> groups;
  for (const uint64_t launch : launches) {
    const auto [at, added] =
        places.try_emplace({recording.launches()[launch].name, recording.text_attribute(launch, "grid"),
                            recording.text_attribute(launch, "block")},
                           groups.size());
    if (added) groups.emplace_back();
    LaunchGroup& group = groups[at->second];
    const double seconds = seconds_of(recording, launch);
    if (group.launches.empty() || seconds > group.most) group.longest = launch, group.most = seconds;
    group.least = group.launches.empty() ? seconds : std::min(group.least, seconds);
    group.seconds += seconds;
    group.launches.push_back(launch);
  }
  std::ranges::stable_sort(groups, std::ranges::greater{}, &LaunchGroup::seconds);
  return groups;
}

std::string group_title(const analysis::Recording& recording, const LaunchGroup& group, double all) {
  return fmt::format(
      "{} launches of {}: {:.4g} us, {:.1f} % of all kernels' time, {:.4g} to {:.4g} us each; "
      "the longest:\n",
      group.launches.size(),
      analysis::printable(core::short_kernel_name(recording.launches()[group.longest].name)),
      1e6 * group.seconds, all == 0 ? 0 : 100 * group.seconds / all, 1e6 * group.least, 1e6 * group.most);
}

std::string grouped_text(const analysis::Recording& recording, const std::vector<uint64_t>& launches,
                         const Report& report) {
  const std::vector<LaunchGroup> groups = grouped(recording, launches);
  double all = 0;
  for (const LaunchGroup& group : groups) all += group.seconds;
  std::string out;
  const size_t shown = std::min(groups.size(), kGroupsShown);
  for (size_t i = 0; i < shown; ++i) {
    if (groups[i].launches.size() > 1) out += group_title(recording, groups[i], all);
    out += report(recording.kernel(groups[i].longest), recording.machine());
  }
  if (shown < groups.size())
    out +=
        fmt::format("first {} of {} kernels by their time; --all shows every launch\n", shown, groups.size());
  return out;
}

std::string text_of_all(const analysis::Recording& recording, const std::vector<uint64_t>& launches,
                        const Report& report, bool json) {
  std::string out;
  for (const uint64_t launch : launches) {
    const std::string text = report(recording.kernel(launch), recording.machine());
    out += json && !out.empty() ? ",\n" + text : text;
  }
  return out;
}

}  // namespace

CLI::App* add_recording_command(CLI::App& program, const std::string& name, const std::string& description,
                                RecordingArguments& a) {
  CLI::App* command = program.add_subcommand(name, description);
  command->add_option("file", a.file, "Recorded file (--out of a run)");
  command->add_option("--kernel", a.kernel,
                      "Number of the launch, or name of the kernel, mangled or not (default: all)");
  command->add_flag("--all", a.all,
                    "Every launch, in their order (default: the longest of each kernel, by time)");
  command->add_flag("--json", a.json, "Print one JSON object");
  return command;
}

int for_recorded_kernels(
    const RecordingArguments& a,
    const std::function<std::string(const analysis::KernelRecord&, const core::MachineConfig&)>& report) {
  if (a.file.empty())
    throw core::InputError(
        "gpusim: error: the recorded file is missing\n  hint: gpusim --config C W.ptx --out FILE.h5");
  return analysis::guarded(a.file, [&] {
    const analysis::Recording recording(a.file);
    const std::vector<uint64_t> launches = recording.select(a.kernel, true);
    const std::string note = recording.partial_note(true);
    const std::string out = a.json || a.all ? text_of_all(recording, launches, report, a.json)
                                            : grouped_text(recording, launches, report);
    if (a.json)
      fmt::print("{{\"file\": \"{}\", \"status\": \"{}\", \"note\": \"{}\", \"kernels\": [{}]}}\n",
                 core::json_escaped(a.file), core::json_escaped(recording.status()), core::json_escaped(note),
                 out);
    else
      fmt::print("{}{}", note.empty() ? "" : fmt::format("note: {}\n", analysis::printable(note)), out);
    return kGood;
  });
}

}  // namespace gpusim::cli
