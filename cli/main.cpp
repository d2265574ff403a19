// gpusim: parses the command line and calls the layers. See README.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>

#include "cli/commands.h"
#include "cli/version.h"
#include "simcore/record/recorder.h"
#include "simcore/text/input_error.h"

namespace {

using namespace gpusim;
using namespace gpusim::cli;

void add_config_commands(CLI::App& app, ConfigArguments& a, int& code) {
  CLI::App* config = app.add_subcommand("config", "Show, list, explain and compare machine configurations");
  config->require_subcommand(1);
  CLI::App* show = config->add_subcommand("show", "Print a machine's complete, resolved configuration");
  show->add_option("machine", a.first, "Path or name")->required();
  show->add_option("--set", a.sets, "section.key=value, applied last")->allow_extra_args(false);
  show->callback([&a, &code] { code = config_show(a); });
  config->add_subcommand("list", "List the machines that can be named")->callback([&code] {
    code = config_list();
  });
  CLI::App* describe = config->add_subcommand("describe", "Explain every key: unit, default, range, meaning");
  describe->add_option("key", a.key, "A section or one key");
  describe->callback([&a, &code] { code = config_describe(a); });
  CLI::App* diff = config->add_subcommand("diff", "Compare two machines key by key");
  diff->add_option("machine", a.first, "Path or name")->required();
  diff->add_option("other_machine", a.second, "Path or name")->required();
  diff->callback([&a, &code] { code = config_diff(a); });
}

void add_occupancy_command(CLI::App& app, OccupancyArguments& a, int& code) {
  CLI::App* occupancy = app.add_subcommand(
      "occupancy", "How many blocks and warps of a kernel fit an SM, and what limits them");
  occupancy->add_option("--config", a.config, "Machine: path or name")->required();
  occupancy->add_option("ptx", a.ptx, "PTX file: registers and shared memory are taken from the kernel");
  occupancy->add_option("--kernel", a.kernel, "Kernel of the PTX file (default: all)");
  occupancy->add_option("--block", a.block, "Block dimensions X[,Y[,Z]]");
  occupancy->add_option("--threads", a.threads, "Threads per block, instead of --block")
      ->check(CLI::Range(1, 1024));
  occupancy->add_option(
      "--launch", a.launch,
      "Launch file that sets a kernel's registers (default: the .toml beside the PTX, if any)");
  occupancy
      ->add_option("--registers", a.registers, "Registers per thread (overrides launch file and estimate)")
      ->check(CLI::Range(1, 1024));
  occupancy->add_option("--shared", a.shared, "Shared memory per block in bytes (added to the kernel's own)")
      ->check(CLI::Range(0, 1 << 20));
  occupancy->add_option("--set", a.sets, "Configuration override section.key=value (repeatable)")
      ->allow_extra_args(false);
  occupancy->add_flag("--json", a.json, "Print one JSON object");
  occupancy->callback([&a, &code] { code = occupancy_command(a); });
}

CLI::App* add_recording_command(CLI::App& app, const std::string& name, const std::string& what,
                                RecordingArguments& a) {
  CLI::App* command = app.add_subcommand(name, what);
  command->add_option("file", a.file, "Recorded file (--out of a run)");
  command->add_option("--kernel", a.kernel, "Number of the launch, or name of the kernel (default: all)");
  command->add_flag("--json", a.json, "Print one JSON object");
  return command;
}

void add_recording_commands(CLI::App& app, RecordingArguments& a, int& code) {
  CLI::App* metrics = add_recording_command(app, "metrics", "Profiler metrics of a recorded run", a);
  metrics->add_option("--metrics", a.metrics, "Names, separated by commas (default: all)");
  metrics->add_flag("--describe", a.describe, "Print the definitions");
  metrics->add_flag("--counters", a.counters, "Print what the counters of a run mean (docs/counters.md)");
  metrics->callback([&a, &code] { code = metrics_command(a); });
  CLI::App* explain =
      add_recording_command(app, "explain", "Where the cycles of a recorded run went, exactly, and why", a);
  explain->add_option("--top", a.top, "Causes, statements of each, and operations shown")
      ->check(CLI::Range(1, 100000));
  explain->add_flag("--describe", a.describe, "Print what each cause means");
  explain->callback([&a, &code] { code = explain_command(a); });
}

void add_microbench_command(CLI::App& app, MicrobenchArguments& a, int& code) {
  CLI::App* command = app.add_subcommand(
      "microbench", "Run microbenchmarks on a machine and print what they find out about it");
  command->add_option("--config", a.config, "Machine: path or name")->required();
  command->add_option("--set", a.sets, "Configuration override section.key=value (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--only", a.only, "Sections to measure, separated by commas (default: all)")
      ->delimiter(',');
  command->add_option("--threads", a.threads, "Simulations at the same time")->check(CLI::Range(1, 64));
  command->add_flag("--json", a.json, "Print one JSON object");
  command->callback([&a, &code] { code = microbench_command(a); });
}

void add_correlate_commands(CLI::App& app, CorrelateArguments& c, ExportArguments& e, int& code) {
  CLI::App* correlate =
      app.add_subcommand("correlate", "Compare a machine with measurements of a real GPU, kernel by kernel");
  correlate->add_option("--hardware", c.hardware, "File of measurements (docs/correlate.md)")->required();
  correlate->add_option("--config", c.config, "Machine: path or name")->required();
  correlate->add_option("--set", c.sets, "Configuration override section.key=value (repeatable)")
      ->allow_extra_args(false);
  correlate->add_option("--threads", c.threads, "Simulations at the same time")->check(CLI::Range(1, 64));
  correlate->add_flag("--json", c.json, "Print one JSON object");
  correlate->callback([&c, &code] { code = correlate_command(c); });
  CLI::App* plan = app.add_subcommand(
      "export", "Write what a real GPU needs to run a PTX file: its data and launches (docs/correlate.md)");
  plan->add_option("ptx", e.ptx, "PTX file")->required();
  plan->add_option("--out", e.out, "Folder to write (made if it is not there)")->required();
  plan->add_option("--launch", e.launch, "Launch file (default: the .toml beside the PTX)");
  plan->add_option("--param", e.params, "NAME=VALUE, overrides [params] of the launch file (repeatable)")
      ->allow_extra_args(false);
  plan->add_option("--seed", e.seed, "Seed of the generated buffers")
      ->check(CLI::Range(int64_t{0}, std::numeric_limits<int64_t>::max()));
  plan->add_option("--name", e.name, "Of the run (default: the PTX file's)");
  plan->add_flag("--fitting", e.fitting, "Configurations are fitted to it: it does not judge them");
  plan->callback([&e, &code] { code = export_command(e); });
}

/// Of every option and command: an empty value, such as an unset variable of a script gives, is a mistake and
/// does not mean that nothing was given.
void refuse_empty_values(CLI::App& app) {
  const CLI::Validator given(
      [](const std::string& text) {
        return std::string(text.empty() ? "is empty; give a value or leave it out" : "");
      },
      "");
  for (CLI::Option* option : app.get_options())
    if (option->get_items_expected_max() > 0)
      option->transform(given);  // before other checks, which say other things
  for (CLI::App* command : app.get_subcommands(nullptr)) refuse_empty_values(*command);
}

int guarded_main(int argc, char** argv) {
  CLI::App app{"gpusim: a cycle-level GPU simulator that executes PTX", "gpusim"};
  app.set_version_flag("--version", std::string(kVersion));
  app.footer(
      "Exit codes: 0 good, 1 wrong usage or input, 2 simulated program failed, 3 result differs from expect, "
      "4 --check found something, 130 interrupted.");
  RunArguments run;
  add_run_options(app, run);
  int code = kGood;
  CheckArguments checked;
  std::string init_ptx, init_out;
  bool init_force = false;
  CLI::App* check =
      app.add_subcommand("check", "Parse, verify and lower PTX files; list what is not supported");
  check->add_option("files", checked.files, "PTX files")->required();
  check->add_option("--config", checked.config, "Lower for this machine (default: the module's own target)");
  check->add_option("--lowering", checked.lowering, "Lowering passes: none, clean, schedule (default)")
      ->check(CLI::IsMember({"none", "clean", "schedule"}));
  check->add_flag("--link", checked.linked, "The files are one program: link them");
  check->add_flag("--json", checked.json, "Print each kernel's registers and size as a JSON object");
  check->callback([&] { code = check_command(checked); });
  ConfigArguments config;
  add_config_commands(app, config, code);
  OccupancyArguments occupancy;
  add_occupancy_command(app, occupancy, code);
  RecordingArguments recording;
  add_recording_commands(app, recording, code);
  MicrobenchArguments microbench;
  add_microbench_command(app, microbench, code);
  TraceArguments trace;
  add_trace_command(app, trace, code);
  CorrelateArguments correlated;
  ExportArguments exported;
  add_correlate_commands(app, correlated, exported, code);
  AnalyzeArguments analyze;
  ReuseArguments reuse;
  add_analyze_command(app, analyze, code);
  RegressArguments regressed;
  add_regress_command(app, regressed, code);
  add_reuse_command(app, reuse, code);
  CLI::App* init = app.add_subcommand("init", "Write a launch file to fill in for a PTX file");
  init->add_option("ptx", init_ptx, "PTX file")->required();
  init->add_option("--out", init_out, "Launch file (default: beside the PTX)");
  init->add_flag("--force", init_force, "Overwrite an existing file");
  init->callback([&] { code = init_command(init_ptx, init_out, init_force); });
  refuse_empty_values(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kGood : kBadInput;
  }
  if (!app.get_subcommands().empty()) return code;
  return run_command(run);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace gpusim::cli;
  try {
    const int code = guarded_main(argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    print_error("gpusim: error: cannot write to standard output: {}\n", std::strerror(errno));
    return code == kGood ? kBadInput : code;
  } catch (const core::InputError& e) {
    print_error("{}\n", e.what());
  } catch (const core::RecordError& e) {
    print_error("gpusim: error: {}\n", e.what());
  } catch (const std::bad_alloc&) {
    print_error("gpusim: error: out of memory\n");
  } catch (const std::exception& e) {
    print_error("gpusim: error: {}\n", e.what());
  }
  return kBadInput;
}
