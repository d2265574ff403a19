// `gpusim correlate`: measurements of a real GPU beside simulations of the same work.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "correlate/correlation.h"
#include "simcore/config/load.h"

namespace gpusim::cli {

namespace {

struct CorrelateArguments {
  std::string hardware, config;
  std::vector<std::string> sets;
  int threads = 1;
  bool json = false;
};

int correlate_machine(const CorrelateArguments& a) {
  const core::MachineConfig machine = core::load_machine(a.config, a.sets, config_folders());
  const correlate::HardwareFile file = correlate::read_hardware_file(find_hardware_file(a.hardware));
  const auto simulated = correlate::simulate_runs(file, machine, static_cast<unsigned>(a.threads));
  const correlate::Correlation c =
      correlate::correlate(file, simulated, static_cast<double>(machine.gpu.launch_cycles));
  fmt::print("{}", a.json ? correlate::correlation_json(file, machine.gpu.name, c)
                          : correlate::correlation_text(file, machine.gpu.name, c));
  if (c.program_failed) return kProgramFailed;
  if (c.incomplete) return kBadInput;
  return c.results_differ() ? kWrongResult : kGood;
}

}  // namespace

void add_correlate_command(CLI::App& program, int& code) {
  const auto a = std::make_shared<CorrelateArguments>();
  CLI::App* correlate = program.add_subcommand(
      "correlate", "Compare a machine with measurements of a real GPU, kernel by kernel");
  correlate
      ->add_option("--hardware", a->hardware,
                   "File of measurements, or name of one that comes with gpusim (docs/correlate.md)")
      ->required();
  correlate->add_option("--config", a->config, "Machine: path or name")->required();
  correlate->add_option("--set", a->sets, "Configuration override section.key=value (repeatable)")
      ->allow_extra_args(false);
  correlate->add_option("--threads", a->threads, "Simulations at the same time")->check(CLI::Range(1, 64));
  correlate->add_flag("--json", a->json, "Print one JSON object");
  correlate->callback([a, &code] { code = correlate_machine(*a); });
}

}  // namespace gpusim::cli
