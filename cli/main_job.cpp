#include "cli/main_job.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>

#include "cli/commands.h"
#include "cli/registers_option.h"
#include "cli/report.h"
#include "cli/this_program.h"
#include "cli/version.h"
#include "components/checker/check_report.h"
#include "simcore/config/load.h"
#include "simcore/config/memory_times.h"
#include "simcore/record/command_text.h"
#include "simcore/text/text_file.h"
#include "simcore/text/units.h"
#include "simcore/text/whole_file.h"
#include "study/identity.h"

namespace gpusim::cli {

namespace {

namespace fs = std::filesystem;

std::atomic<bool> interrupt_flag{false};

void on_interrupt(int) { interrupt_flag.store(true, std::memory_order_relaxed); }

/// The command line without what does not change results (docs/file_format.md).
std::string canonical_command(const MainJobArguments& a, const std::string& config_text,
                              const comp::SimulationOptions& program, const core::LaunchDescription& launch,
                              const std::vector<std::string>& registers) {
  core::CommandText c(a.config, config_text, a.ptx, program.ptx_text);
  for (const auto& file : program.linked) c.linked(file.name, file.text);
  if (a.kernel.empty()) c.launch(launch.path, launch.text);
  c.option("--kernel", a.kernel);
  c.option("--grid", a.grid);
  c.option("--block", a.block);
  c.options("--arg", a.args);
  c.options("--param", a.params);
  c.options("--set", a.sets);
  if (a.dynamic_shared != 0) c.number("--dynamic-shared", a.dynamic_shared);
  c.option("--core-clock", a.core_clock);
  c.option("--interconnect-clock", a.interconnect_clock);
  c.option("--dram-clock", a.dram_clock);
  if (a.sms != 0) c.number("--sms", a.sms);
  if (program.checks.any()) c.plain("--check", program.checks.text());
  c.number("--seed", a.seed);
  c.plain("--events", a.events);
  if (a.sample != 0) c.number("--sample", a.sample);
  c.plain("--lowering", a.lowering);
  c.options("--registers", registers);
  c.number("--max-cycles", a.max_cycles);
  if (a.cache != "cold") c.plain("--cache", a.cache);
  return c.text();
}

/// Two keys bound what an SM has on its way: says so to whom sets one above what the other allows.
std::string mshr_note(const std::vector<std::string>& sets, const core::MachineConfig& machine) {
  if (machine.l1.bytes == 0) return "";
  const auto sets_key = [&sets](std::string_view key) {
    return std::ranges::any_of(sets, [key](const std::string& set) { return set.starts_with(key); });
  };
  const bool lines = sets_key("l1.mshrs="), transactions = sets_key("lsu.mshrs=");
  const int64_t of_l1 = machine.l1.mshrs, of_lsu = machine.lsu.mshrs;
  if (lines == transactions || (lines ? of_l1 <= of_lsu : of_lsu <= of_l1)) return "";
  return fmt::format(
      "note: {} = {} is above {} = {}, which bounds loads through the L1 as well (gpusim config explain {})",
      lines ? "l1.mshrs" : "lsu.mshrs", lines ? of_l1 : of_lsu, lines ? "lsu.mshrs" : "l1.mshrs",
      lines ? of_lsu : of_l1, lines ? "l1.mshrs" : "lsu.mshrs");
}

int64_t clock_option(const char* option, const std::string& text) {
  if (text.empty()) return 0;
  const auto khz = core::parse_khz(text);
  if (!khz || *khz < core::kLowestKhz || *khz > core::kHighestKhz)
    throw core::InputError(
        fmt::format("gpusim: error: {} '{}' is no clock\n  hint: a clock from 1MHz to 100GHz such as "
                    "1050MHz, a whole number "
                    "of kHz",
                    option, text));
  return *khz;
}

core::EventLevel event_level(const std::string& name) {
  if (name == "off") return core::EventLevel::kOff;
  if (name == "memory") return core::EventLevel::kMemory;
  if (name == "all") return core::EventLevel::kAll;
  return core::EventLevel::kSummary;
}

struct Dump {
  uint32_t buffer;
  std::string file;
};
/// A name that is no buffer of the launch file may be a variable of the PTX: it is looked up there later.
std::vector<Dump> parse_dumps(const MainJobArguments& a, core::LaunchDescription& launch) {
  std::vector<Dump> dumps;
  for (const std::string& text : a.dumps) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (equals == std::string::npos || equals + 1 == text.size())
      throw core::InputError(fmt::format("gpusim: error: --dump '{}' is not NAME=FILE.npy", text));
    const fs::path folder = fs::path(text.substr(equals + 1)).parent_path();
    if (access(folder.empty() ? "." : folder.c_str(), W_OK) != 0)
      throw core::InputError(
          fmt::format("{}: error: --dump: the folder cannot be written to", text.substr(equals + 1)));
    const core::BufferSpec* buffer = launch.find_buffer(name);
    const uint32_t index = buffer != nullptr
                               ? static_cast<uint32_t>(buffer - launch.buffers.data())
                               : launch.request_variable(name, {"--dump"}, std::string(core::kDumpOption));
    dumps.push_back({index, text.substr(equals + 1)});
  }
  return dumps;
}

/// The file that `path` names, links followed. Outputs never replace an input or each other.
std::string output_file(const std::string& option, const std::string& path, const MainJobArguments& a,
                        const core::LaunchDescription& launch, std::vector<std::string>& outputs) {
  if (option == "--dump")
    check_output(option, path, inputs_of(a, launch), {"\x93NUMPY", "an array"}, a.force);
  else
    check_output(option, path, inputs_of(a, launch));
  std::string file = core::follow_links(path);
  std::error_code error;
  const std::string name = fs::weakly_canonical(fs::absolute(file), error).string();
  if (std::find(outputs.begin(), outputs.end(), name) != outputs.end())
    throw core::InputError(fmt::format("{}: error: {}: another output has this name", path, option));
  outputs.push_back(name);
  return file;
}

/// What is simulated, as a point of a study would have it.
std::string identity_of(const MainJobArguments& a, const comp::SimulationOptions& o,
                        const std::vector<std::string>& registers) {
  study::Identity id;
  id.program = program_identity();
  id.machine = fs::path(a.config).filename().string();
  id.sets = a.sets;
  id.params = a.params;
  id.sms = a.sms;
  id.core_clock = a.core_clock;
  id.interconnect_clock = a.interconnect_clock;
  id.dram_clock = a.dram_clock;
  id.lowering = a.lowering;
  id.registers = registers;
  id.cache = a.cache;
  id.seed = a.seed;
  id.max_cycles = a.max_cycles;
  id.functional = a.functional;
  study::complete(id, o);
  return study::identity_json(id);
}

int exit_code(const comp::SimulationResult& r) {
  switch (r.status) {
    case comp::SimulationResult::Status::kInterrupted:
      return kInterruptedExit;
    case comp::SimulationResult::Status::kFailed:
      return kProgramFailed;
    case comp::SimulationResult::Status::kUnrecorded:
      return kBadInput;
    case comp::SimulationResult::Status::kComplete:
      break;
  }
  if (!r.findings.empty()) return kChecksFound;
  return r.expectations_met() ? kGood : kWrongResult;
}

}  // namespace

std::vector<std::string> inputs_of(const MainJobArguments& a, const core::LaunchDescription& launch) {
  std::vector<std::string> inputs{a.ptx, launch.path, a.config};
  inputs.insert(inputs.end(), launch.link.begin(), launch.link.end());
  for (std::string& file : launch.data_files()) inputs.push_back(std::move(file));
  for (const core::ExpectSpec& e : launch.expects) inputs.push_back(e.file);
  return inputs;
}

core::LaunchDescription load_launch(const MainJobArguments& a) {
  if (!a.kernel.empty() || !a.grid.empty() || !a.block.empty() || !a.args.empty() || a.dynamic_shared != 0) {
    if (!a.launch.empty())
      throw core::InputError(
          "gpusim: error: --launch cannot be combined with --kernel, --grid, --block or --arg");
    if (a.grid.empty() || a.block.empty())
      throw core::InputError("gpusim: error: a launch from the command line needs --grid and --block");
    core::CommandLineLaunch command;
    command.kernel = a.kernel;
    command.grid = a.grid;
    command.block = a.block;
    command.args = a.args;
    command.dynamic_shared = a.dynamic_shared;
    command.params = a.params;
    return core::launch_from_arguments(command, a.seed);
  }
  std::string path = a.launch;
  if (path.empty()) {
    path = fs::path(a.ptx).replace_extension(".toml").string();
    if (!is_there(path))
      throw core::InputError(fmt::format(
          "{}: error: no launch file '{}' beside it, and no --kernel, --grid, --block\n  hint: `gpusim init "
          "{}` writes a launch file to fill in; or give --launch FILE, or --kernel NAME --grid X --block X "
          "--arg V ...",
          a.ptx, path, a.ptx));
  }
  return core::load_launch(path, a.params, a.seed);
}

void add_main_job(CLI::App& program, MainJobArguments& a) {
  program.add_option("--config", a.config, "Machine: a path, or a name found in configs/");
  program.add_option("ptx", a.ptx, "PTX file to run");
  program.add_option("--launch", a.launch, "Launch file (default: the .toml beside the PTX)");
  program.add_option("--link", a.linked, "A further PTX file of the program (repeatable)")
      ->allow_extra_args(false);
  program.add_option("--param", a.params, "NAME=VALUE, overrides [params] of the launch file (repeatable)")
      ->allow_extra_args(false);
  program.add_option("--set", a.sets, "section.key=VALUE, overrides the configuration (repeatable)")
      ->allow_extra_args(false);
  program.add_option("--kernel", a.kernel, "Kernel to launch without a launch file");
  program.add_option("--grid", a.grid, "Grid X[,Y[,Z]]");
  program.add_option("--block", a.block, "Block X[,Y[,Z]]");
  program
      .add_option("--arg", a.args,
                  "Kernel argument: a number, or a buffer such as 'f32[1024]=uniform(-1,1)' (repeatable)")
      ->allow_extra_args(false);
  program.add_option("--dynamic-shared", a.dynamic_shared, "Dynamic shared memory in bytes, with --kernel")
      ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 24));
  program.add_flag("--functional", a.functional, "Values only, no timing, nothing recorded");
  program.add_option(
      "--check", a.checks,
      "Look for mistakes of the program: memory, race, init, sync (a list), or all; and early_exit");
  program.add_option("--lowering", a.lowering, "Lowering passes: none, clean, schedule (default)")
      ->check(CLI::IsMember({"none", "clean", "schedule"}));
  program
      .add_option("--registers", a.registers,
                  "Registers per thread of a real compiler's code, in place of our estimate: ptxas (it is "
                  "asked, if it is on the PATH), or KERNEL=N (repeatable)")
      ->allow_extra_args(false);
  program.add_option("--events", a.events, "What is recorded: off, summary, memory, all")
      ->check(CLI::IsMember({"off", "summary", "memory", "all"}));
  program
      .add_option("--sample", a.sample,
                  "Core cycles between two rows of the time series, also of each SM (default: 64 to 128 rows "
                  "for a kernel of 1024 to 262144 cycles, every 4096 for a longer one; no rows of SMs)")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40));
  program.add_option("--out", a.out, "Recorded HDF5 file (default: NAME.h5 in this folder; 'none': no file)");
  program.add_flag(
      "--force", a.force,
      "Replace a recorded file that holds a run of another machine or program, and files of --dump that "
      "are something else");
  program.add_option("--core-clock", a.core_clock, "Clock of the SMs in this run, such as 1050MHz");
  program.add_option("--interconnect-clock", a.interconnect_clock,
                     "Clock of interconnect and L2 in this run");
  program.add_option("--dram-clock", a.dram_clock, "Clock of the memory in this run");
  program
      .add_option(
          "--cache", a.cache,
          "What caches hold when a kernel begins: cold (default: nothing at first), warm (the program "
          "has run once before), flushed (nothing at any launch)")
      ->check(CLI::IsMember({"cold", "warm", "flushed"}));
  program.add_option("--sms", a.sms, "Use only the N lowest-numbered SMs")->check(CLI::Range(1, 4096));
  const CLI::Validator natural(
      [](const std::string& text) {
        const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
        return digits && text.size() < 20 ? std::string()
                                          : "'" + text + "' is not a natural number below 10^19";
      },
      "");
  program.add_option("--seed", a.seed, "Seed of the generated buffers")->check(natural);
  program.add_option("--max-cycles", a.max_cycles, "A kernel that runs longer is reported as endless")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 62));
  program
      .add_option(
          "--dump", a.dumps,
          "NAME=FILE.npy: write the final content of a buffer, or of a variable of the PTX (repeatable)")
      ->allow_extra_args(false);
  program.add_option("--threads", a.threads, "Helper threads for writing and compression")
      ->check(CLI::Range(0, 64));
  program.add_flag("--strict-target", a.strict_target,
                   "Refuse a module whose target is above the machine's capability");
  program.add_flag("--quiet", a.quiet, "No progress bar, no table");
  program.add_flag("--json", a.json, "Print one JSON object on stdout instead of the table");
}

int run_main_job(const MainJobArguments& a) {
  if (a.config.empty() || a.ptx.empty())
    throw core::InputError(
        fmt::format("gpusim: error: {} is missing\n  hint: gpusim --config tesla_c1060.cfg workload.ptx "
                    "(gpusim --help; machines: gpusim config list)",
                    a.config.empty() ? "--config MACHINE" : "the PTX file"));
  refuse_what_is_no_ptx(a.ptx);
  if (a.cache != "cold" && (a.functional || !a.checks.empty()))
    throw core::InputError(
        fmt::format("gpusim: error: --cache {} and {} do not go together\n  hint: {}", a.cache,
                    a.functional ? "--functional" : "--check",
                    a.functional ? "a functional run has no caches" : "the checks look at each launch once"));
  ProgressBar bar(!a.quiet && !a.json);
  comp::SimulationOptions o;
  o.machine = core::load_machine(a.config, a.sets, config_folders());
  if (const std::string note = mshr_note(a.sets, o.machine); !note.empty() && !a.quiet)
    print_error("{}\n", note);
  core::set_clocks(
      o.machine,
      {clock_option("--core-clock", a.core_clock), clock_option("--interconnect-clock", a.interconnect_clock),
       clock_option("--dram-clock", a.dram_clock)},
      {a.config});
  if (a.sms > o.machine.gpu.sms)
    throw core::InputError(
        fmt::format("gpusim: error: --sms {}: machine '{}' has {} SMs", a.sms, a.config, o.machine.gpu.sms));
  o.ptx_name = a.ptx;
  o.ptx_text = core::read_text_file(a.ptx, core::kMaxPtxBytes);
  o.launch = load_launch(a);
  o.launch.link.insert(o.launch.link.end(), a.linked.begin(), a.linked.end());
  for (const std::string& file : o.launch.link)
    o.linked.push_back({file, core::read_text_file(file, core::kMaxPtxBytes)});
  const std::vector<std::string> registers = take_registers(a.registers, o);
  for (const std::string& w : o.launch.warnings) print_error("{}\n", w);
  if (const std::optional<std::string> slow = core::slow_bursts(o.machine))
    print_error("gpusim: warning: {}\n", *slow);
  std::vector<Dump> dumps = parse_dumps(a, o.launch);
  std::vector<std::string> outputs;
  for (Dump& d : dumps) d.file = output_file("--dump", d.file, a, o.launch, outputs);
  o.sms = a.sms;
  o.caches = comp::cache_state(a.cache).value_or(comp::CacheState::kCold);
  o.max_cycles = a.max_cycles;
  o.functional = a.functional;
  o.strict_target = a.strict_target;
  o.checks = comp::parse_checks(a.checks);
  o.lowering = isa::lowering_level(a.lowering);
  o.events = event_level(a.events);
  o.sample_cycles = a.sample;
  o.threads = a.threads;
  o.program_version = kVersion;
  if (a.out != "none" && !a.functional)
    o.out = output_file("--out", a.out.empty() ? fs::path(a.ptx).stem().string() + ".h5" : a.out, a, o.launch,
                        outputs);
  o.keep_other_runs = !a.force;
  o.command_line = canonical_command(a, core::show_machine(o.machine, false), o, o.launch, registers);
  o.interrupt = &interrupt_flag;
  o.on_progress = [&bar](const comp::Progress& p) { bar.update(p); };
  o.on_warning = [](const std::string& text) { print_error("{}\n", text); };

  o.on_print = [&a, &bar](std::string_view text) {
    bar.clear();
    // One JSON object is all that stdout gets.
    std::FILE* const out = a.json ? stderr : stdout;
    std::fwrite(text.data(), 1, text.size(), out);
    std::fflush(out);
  };

  const std::string identity = a.json ? identity_of(a, o, registers) : "";
  comp::Simulation simulation(std::move(o));
  // From here on, for while the buffers are filled nothing is written yet: a signal ends the program at once.
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second Ctrl-C ends the program at once
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  const comp::SimulationResult result = simulation.run();
  bar.clear();
  // A .npy cannot say that its run did not end.
  using Status = comp::SimulationResult::Status;
  const bool cut_short =
      result.status == Status::kInterrupted || (result.status == Status::kUnrecorded && !result.ended);
  if (cut_short && !dumps.empty()) print_error("{}: note: the run has not ended: nothing is dumped\n", a.ptx);
  for (const Dump& d : dumps)
    if (!cut_short)
      core::write_npy(d.file, simulation.options().launch.buffers[d.buffer].type,
                      simulation.buffer(d.buffer));
  if (a.json)
    fmt::print("{}", json_report(simulation, result, identity));
  else if (!a.quiet)
    fmt::print("{}", table_report(simulation, result));
  if (result.status != Status::kComplete)  // a file that cannot be written is not the program's fault
    print_error("{}: error: {}\n", result.status == Status::kUnrecorded ? "gpusim" : a.ptx, result.reason);
  for (const core::ExpectResult& e : result.expects)
    if (!e.pass) print_error("{}: error: {}\n", a.ptx, e.message);
  const auto has_atomics = [](const comp::KernelResult& k) { return k.total.atomics != 0; };
  if (exit_code(result) == kWrongResult && std::ranges::any_of(result.kernels, has_atomics))
    print_error(
        "{}: note: the kernels use atomics. A result that depends on their order, such as a sum of floats or "
        "the place of an element in a list, may differ between machines, and between a timed run and one for "
        "values only; expected values that gpusim run --export has written come from such a run\n",
        a.ptx);
  if (simulation.options().checks.any())
    print_error("{}", comp::check_report(simulation.options().checks, result.findings, result.check_counts));
  return exit_code(result);
}

}  // namespace gpusim::cli
