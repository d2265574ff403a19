// `gpusim microbench`: what microbenchmarks find out about a machine, beside what its configuration says.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "microbench/configured.h"
#include "microbench/cuda_device.h"
#include "microbench/discover.h"
#include "microbench/simulated_device.h"
#include "simcore/config/load.h"
#include "simcore/text/names.h"

namespace gpusim::cli {

namespace {

struct MicrobenchArguments {
  std::string config;
  std::vector<std::string> sets, only;
  int threads = 1;
  std::optional<int> gpu;
  bool json = false;
};

microbench::DataSheet sheet_of_simulator(const MicrobenchArguments& a, const core::MachineConfig& machine) {
  microbench::SimulatedDevice device(machine, static_cast<unsigned>(a.threads));
  microbench::DataSheet sheet = microbench::discover(device, a.only);
  sheet.machine = machine.gpu.name;
  return sheet;
}

microbench::DataSheet sheet_of_gpu(int ordinal, const core::MachineConfig& machine,
                                   const std::vector<std::string>& only) {
  microbench::CudaDevice device(ordinal);
  microbench::DataSheet sheet = microbench::discover(device, only);
  sheet.machine = fmt::format("{}, beside {}", device.description(), machine.gpu.name);
  return sheet;
}

int measure_machine(const MicrobenchArguments& a) {
  const core::MachineConfig machine = core::load_machine(a.config, a.sets, config_folders());
  const auto sections = microbench::section_names();
  for (const std::string& name : a.only)
    if (std::find(sections.begin(), sections.end(), name) == sections.end())
      throw core::InputError(
          fmt::format("gpusim: error: --only: the data sheet has no section '{}'\n  hint: {}", name,
                      core::name_hint(name, sections)));
  microbench::DataSheet sheet =
      a.gpu ? sheet_of_gpu(*a.gpu, machine, a.only) : sheet_of_simulator(a, machine);
  microbench::add_configured(machine, sheet);
  fmt::print("{}", a.json ? microbench::sheet_json(sheet) : microbench::sheet_text(sheet));
  return kGood;
}

}  // namespace

void add_microbench_command(CLI::App& program, int& code) {
  const auto a = std::make_shared<MicrobenchArguments>();
  CLI::App* command = program.add_subcommand(
      "microbench", "Run microbenchmarks on a machine and print what they find out about it");
  command->add_option("--config", a->config, "Machine: path or name")->required();
  command->add_option("--set", a->sets, "Configuration override section.key=value (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--only", a->only, "Sections to measure, separated by commas (default: all)")
      ->delimiter(',');
  CLI::Option* threads =
      command->add_option("--threads", a->threads, "Simulations at the same time")->check(CLI::Range(1, 64));
  command
      ->add_option(
          "--gpu", a->gpu,
          "Measure a real GPU, by the number that its CUDA driver gives it, beside the configuration "
          "(default: the configuration's machine is simulated)")
      ->check(CLI::Range(0, 1023))
      ->excludes(threads);
  command->add_flag("--json", a->json, "Print one JSON object");
  command->callback([a, &code] { code = measure_machine(*a); });
}

}  // namespace gpusim::cli
