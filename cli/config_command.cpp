#include <fmt/format.h>

#include "cli/commands.h"
#include "simcore/config/load.h"

namespace gpusim::cli {

int config_show(const ConfigArguments& a) {
  fmt::print("{}", core::show_machine(core::load_machine(a.first, a.sets, config_folders())));
  return kGood;
}

int config_list() {
  const auto machines = core::list_machines(config_folders());
  if (machines.empty()) print_error("no machine configuration found\n");
  for (const core::MachineListing& m : machines) fmt::print("{:<16} {}\n", m.name, m.description);
  return machines.empty() ? kBadInput : kGood;
}

int config_describe(const ConfigArguments& a) {
  fmt::print("{}", core::describe_keys(a.key));
  return kGood;
}

int config_diff(const ConfigArguments& a) {
  const auto folders = config_folders();
  fmt::print("{}", core::diff_machines(core::load_machine(a.first, {}, folders),
                                       core::load_machine(a.second, {}, folders)));
  return kGood;
}

}  // namespace gpusim::cli
