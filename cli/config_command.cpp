// `gpusim config`: shows, lists, explains and compares machine configurations.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "analysis/recording/recording.h"
#include "analysis/report/guarded.h"
#include "cli/commands.h"
#include "simcore/config/load.h"
#include "simcore/config/memory_times.h"
#include "simcore/config/peaks.h"
#include "simcore/text/reachable.h"

namespace gpusim::cli {

namespace {

struct ConfigArguments {
  std::string first, second, key;
  std::vector<std::string> sets;
};

int config_show(const ConfigArguments& a) {
  const core::MachineConfig machine = core::load_machine(a.first, a.sets, config_folders());
  const std::set<std::string> in_clocks = core::times_in_clocks(a.first, a.sets, config_folders());
  fmt::print("{}\n{}", core::show_machine_with_clocks(machine, in_clocks), core::describe_peaks(machine));
  if (const std::optional<std::string> slow = core::slow_bursts(machine))
    fmt::print("# Beware: {}.\n", *slow);
  return kGood;
}

int config_list() {
  const std::vector<std::string> folders = config_folders();
  for (const std::string& folder : folders)
    if (const std::string why = core::why_closed(folder); !why.empty())
      print_error("{}: warning: cannot open: {}\n", folder, why);
  const auto machines = core::list_machines(folders);
  if (machines.empty()) print_error("no machine configuration found\n");
  for (const core::MachineListing& m : machines) fmt::print("{:<16} {}\n", m.name, m.description);
  return machines.empty() ? kBadInput : kGood;
}

int config_describe(const ConfigArguments& a) {
  fmt::print("{}", core::describe_keys(a.key));
  return kGood;
}

int config_explain(const ConfigArguments& a) {
  fmt::print("{}", core::explain_key(a.key, config_folders()));
  return kGood;
}

/// A configuration, or the machine of a recorded file.
core::MachineConfig machine_of(const std::string& name) {
  if (!name.ends_with(".h5")) return core::load_machine(name, {}, config_folders());
  // Nobody vouches for the file: a process of its own tries it first.
  analysis::guarded(name, [&name] {
    (void)analysis::Recording(name);
    return kGood;
  });
  return analysis::Recording(name).machine();
}

int config_diff(const ConfigArguments& a) {
  const std::string differences = core::diff_machines(machine_of(a.first), machine_of(a.second));
  fmt::print("{}", differences);
  if (differences.empty()) fmt::print(stderr, "no key differs\n");  // scripts read what differs
  return kGood;
}

}  // namespace

void add_config_command(CLI::App& program, int& code) {
  const auto a = std::make_shared<ConfigArguments>();
  CLI::App* config =
      program.add_subcommand("config", "Show, list, explain and compare machine configurations");
  config->require_subcommand(1);
  CLI::App* show = config->add_subcommand("show", "Print a machine's complete, resolved configuration");
  show->add_option("machine", a->first, "Path or name")->required();
  show->add_option("--set", a->sets, "section.key=value, applied last")->allow_extra_args(false);
  show->callback([a, &code] { code = config_show(*a); });
  config->add_subcommand("list", "List the machines that can be named")->callback([&code] {
    code = config_list();
  });
  CLI::App* describe = config->add_subcommand("describe", "Explain every key: unit, default, range, meaning");
  describe->add_option("key", a->key, "A section or one key");
  describe->callback([a, &code] { code = config_describe(*a); });
  CLI::App* explain = config->add_subcommand(
      "explain", "Explain one key: what it means, and what the machines set it to, with their evidence");
  explain->add_option("key", a->key, "section.key, such as l1.mshrs")->required();
  explain->callback([a, &code] { code = config_explain(*a); });
  CLI::App* diff = config->add_subcommand("diff", "Compare two machines key by key");
  diff->add_option("machine", a->first, "Path or name, or a recorded file (.h5)")->required();
  diff->add_option("other_machine", a->second, "Path or name, or a recorded file (.h5)")->required();
  diff->callback([a, &code] { code = config_diff(*a); });
}

}  // namespace gpusim::cli
