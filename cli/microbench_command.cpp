// `gpusim microbench`: what microbenchmarks find out about a machine, beside what its configuration says.
#include <algorithm>

#include "cli/commands.h"
#include "microbench/configured.h"
#include "microbench/discover.h"
#include "microbench/simulated_device.h"
#include "simcore/config/load.h"
#include "simcore/text/names.h"

namespace gpusim::cli {

int microbench_command(const MicrobenchArguments& a) {
  const core::MachineConfig machine = core::load_machine(a.config, a.sets, config_folders());
  const auto sections = microbench::section_names();
  for (const std::string& name : a.only)
    if (std::find(sections.begin(), sections.end(), name) == sections.end())
      throw core::InputError(
          fmt::format("gpusim: error: --only: the data sheet has no section '{}'\n  hint: {}", name,
                      core::name_hint(name, sections)));
  microbench::SimulatedDevice device(machine, static_cast<unsigned>(a.threads));
  microbench::DataSheet sheet = microbench::discover(device, a.only);
  sheet.machine = machine.gpu.name;
  microbench::add_configured(machine, sheet);
  fmt::print("{}", a.json ? microbench::sheet_json(sheet) : microbench::sheet_text(sheet));
  return kGood;
}

}  // namespace gpusim::cli
