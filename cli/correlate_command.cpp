// `gpusim correlate`: measurements of a real GPU beside simulations of the same work.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "cli/commands.h"
#include "correlate/correlation.h"
#include "simcore/config/load.h"
#include "simcore/text/reachable.h"

namespace gpusim::cli {

namespace {

using correlate::HardwareFile;
using correlate::HardwareRun;

struct CorrelateArguments {
  std::vector<std::string> hardware, sets, runs;
  std::string config;
  int threads = 1;
  bool json = false, counters = false;
};

/// The files that are asked for: those named, all of a folder, or all that come with gpusim and name their
/// machine.
std::vector<HardwareFile> read_files(const CorrelateArguments& a) {
  std::vector<HardwareFile> files;
  const auto read_folder = [&files](const std::vector<std::string>& paths) {
    for (const std::string& path : paths)
      if (HardwareFile file = correlate::read_hardware_file(path); !file.machine.empty())
        files.push_back(std::move(file));
  };
  if (a.hardware.empty()) read_folder(hardware_files());
  for (const std::string& name : a.hardware) {
    if (!is_folder(name)) {
      files.push_back(correlate::read_hardware_file(find_hardware_file(name)));
      continue;
    }
    core::refuse_unreachable((std::filesystem::path(name) / ".").string());
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(name))
      if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
    std::ranges::sort(paths);
    read_folder(paths);
  }
  for (const HardwareFile& file : files)
    if (file.machine.empty() && a.config.empty())
      throw core::InputError(fmt::format(
          "{}: error: the file names no machine\n  hint: --config MACHINE (gpusim config list)", file.path));
  return files;
}

/// Keeps the runs whose name holds one of the texts of --run.
void select_runs(const CorrelateArguments& a, std::vector<HardwareFile>& files) {
  if (a.runs.empty()) return;
  size_t left = 0;
  for (HardwareFile& file : files) {
    std::erase_if(file.runs, [&](const HardwareRun& run) {
      return std::ranges::none_of(
          a.runs, [&](const std::string& text) { return run.name.find(text) != std::string::npos; });
    });
    left += file.runs.size();
  }
  std::erase_if(files, [](const HardwareFile& file) { return file.runs.empty(); });
  if (left == 0)
    throw core::InputError(fmt::format("gpusim: error: --run: no run has '{}' in its name", a.runs.front()));
}

std::vector<core::MachineConfig> machines_of(const CorrelateArguments& a, const HardwareFile& file) {
  std::vector<core::MachineConfig> machines;
  for (const HardwareRun& run : file.runs) {
    std::vector<std::string> sets = file.sets;
    sets.insert(sets.end(), run.sets.begin(), run.sets.end());
    sets.insert(sets.end(), a.sets.begin(), a.sets.end());
    core::MachineConfig machine =

        core::load_machine(a.config.empty() ? file.machine : a.config, sets, config_folders());
    core::set_clocks(machine, run.clocks, run.where);
    machines.push_back(std::move(machine));
  }
  return machines;
}

int correlate_machine(const CorrelateArguments& a) {
  std::vector<HardwareFile> files = read_files(a);
  select_runs(a, files);
  std::map<std::string, std::vector<correlate::Row>> rows;  // by machine
  bool failed = false, incomplete = false, differs = false;
  std::vector<std::vector<core::MachineConfig>> all_machines;
  all_machines.reserve(files.size());
  for (const HardwareFile& file : files) all_machines.push_back(machines_of(a, file));
  const bool list = a.json && files.size() != 1;
  if (list) fmt::print("[");
  for (size_t i = 0; i < files.size(); ++i) {
    const HardwareFile& file = files[i];
    const auto& machines = all_machines[i];
    const auto simulated = correlate::simulate_runs(file, machines, static_cast<unsigned>(a.threads));
    const correlate::Correlation c = correlate::correlate(file, simulated);
    const std::string machine = machines.empty() ? file.machine : machines.front().gpu.name;
    if (a.json)
      fmt::print("{}{}", i == 0 ? "" : ",\n", correlate::correlation_json(file, machine, c));
    else
      fmt::print("{}{}", i == 0 ? "" : "\n",
                 analysis::printable_lines(correlate::correlation_text(file, machine, c, a.counters)));
    std::fflush(stdout);
    auto& all = rows[machine];
    all.insert(all.end(), c.rows.begin(), c.rows.end());
    failed |= c.program_failed;
    incomplete |= c.incomplete;
    differs |= c.results_differ();
  }
  if (a.json) fmt::print("{}\n", list ? "]" : "");
  if (!a.json && files.size() > 1)
    for (const auto& [machine, of_machine] : rows)
      fmt::print("{}", analysis::printable_lines(correlate::summary_text(machine, of_machine)));
  if (failed) return kProgramFailed;
  if (incomplete) return kBadInput;
  return differs ? kWrongResult : kGood;
}

}  // namespace

void add_correlate_command(CLI::App& program, int& code) {
  const auto a = std::make_shared<CorrelateArguments>();
  CLI::App* correlate = program.add_subcommand(
      "correlate", "Compare machines with measurements of real GPUs, kernel by kernel");
  correlate
      ->add_option("--hardware", a->hardware,
                   "File of measurements, folder of such files, or name of one that comes with gpusim "
                   "(repeatable; default: all that come with it and name their machine; docs/correlate.md)")
      ->allow_extra_args(false);
  correlate->add_option("--config", a->config,
                        "Machine: path or name (default: the one that the file names)");
  correlate->add_option("--set", a->sets, "Configuration override section.key=value (repeatable)")
      ->allow_extra_args(false);
  correlate->add_option("--run", a->runs, "Only runs whose name holds this text (repeatable)")
      ->allow_extra_args(false);
  correlate->add_option("--threads", a->threads, "Simulations at the same time")->check(CLI::Range(1, 64));
  correlate->add_flag("--counters", a->counters, "Print the profiler's counters beside ours");
  correlate->add_flag("--json", a->json,
                      "Print one JSON object for each file, in a list if there are several");
  correlate->callback([a, &code] { code = correlate_machine(*a); });
}

}  // namespace gpusim::cli
