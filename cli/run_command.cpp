// `gpusim run`: a CUDA program, unmodified, on a simulated GPU.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "cli/child_program.h"
#include "cli/commands.h"
#include "cli/this_program.h"
#include "cli/version.h"
#include "components/checker/options.h"
#include "runtime/device/environment.h"
#include "runtime/program/executable.h"
#include "simcore/config/load.h"
#include "simcore/text/input_error.h"
#include "simcore/text/reachable.h"

namespace gpusim::cli {

namespace {

namespace fs = std::filesystem;

struct RunArguments {
  std::string config, out, timed, checks, export_folder, events = "summary", lowering = "schedule",
                                                         cache = "cold";
  std::vector<std::string> sets, program;
  bool functional = false, force = false, quiet = false;
  uint64_t max_cycles = 10'000'000'000;
  uint32_t sms = 0;
};

/// The program's file, as a shell finds it.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (access(name.c_str(), X_OK) == 0 && !is_folder(name)) return name;
    core::refuse_unreachable(name);
    throw core::InputError(
        fmt::format("{}: error: {}", name, is_there(name) ? "cannot be executed" : "no such program"));
  }
  const char* const path = std::getenv("PATH");
  std::string list = path == nullptr ? "" : path;
  while (!list.empty()) {
    const size_t end = std::min(list.find(':'), list.size());
    const std::string file = list.substr(0, end) + "/" + name;
    list.erase(0, end + 1);
    if (access(file.c_str(), X_OK) == 0 && !is_folder(file)) return file;
  }
  throw core::InputError(fmt::format("{}: error: no such program in $PATH\n  hint: ./{}", name, name));
}

/// Where our libcudart.so and libcuda.so are: lib of a build folder, lib/gpusim of an installed tree.
fs::path library_folder() {
  std::error_code error;
  const fs::path bin = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& folder : {bin / kRuntimeFromProgram, bin / ".." / "lib"})
    if (is_there((folder / "libgpusim.so").string())) return folder.lexically_normal();
  throw core::InputError(
      "gpusim: error: the runtime libraries are not beside the program\n  hint: ninja -C build/release "
      "runtime_libraries");
}

void set(const char* variable, const std::string& value) {
  if (value.empty())
    unsetenv(variable);
  else
    setenv(variable, value.c_str(), 1);
}

/// That library of ours, if we have it, is loaded before all that the program brings.
void preload(const std::string& folder, const std::string& name) {
  if (!is_there((fs::path(folder) / name).string())) return;
  const char* const others = std::getenv("LD_PRELOAD");
  // A space would end the name of a file; without a folder it is found by LD_LIBRARY_PATH.
  const std::string library = folder.find(' ') == std::string::npos ? folder + "/" + name : name;
  set("LD_PRELOAD", others == nullptr ? library : std::string(others) + ":" + library);
}

std::string joined(const std::vector<std::string>& items, char separator) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : std::string(1, separator)) + item;
  return text;
}

runtime::Executable check_program(const std::string& file) {
  runtime::Executable program = runtime::read_executable(file);
  if (program.kind == runtime::Executable::Kind::kOther)
    return program;  // a script: what it starts is looked at there
  if (program.kind == runtime::Executable::Kind::kForeign)
    throw core::InputError(fmt::format("{}: error: is no program of this computer ({})", file, program.what));
  if (program.has_device_code && !program.needs_runtime && !program.needs_driver)
    throw core::InputError(
        fmt::format("{}: error: was linked with the static CUDA runtime (nvcc's default), which talks to a "
                    "real driver\n  "
                    "hint: link it again with the shared runtime: nvcc -cudart shared ... (with CMake: set "
                    "CMAKE_CUDA_RUNTIME_LIBRARY to Shared)",
                    file));
  return program;
}

int run_program(const RunArguments& a) {
  if (a.config.empty())
    throw core::InputError(
        "gpusim: error: --config MACHINE is missing\n  hint: gpusim run --config tesla_v100 -- ./program "
        "arguments (machines: gpusim config list)");
  const std::string file = find_program(a.program.front());
  const runtime::Executable program = check_program(file);
  // What is wrong with the machine is told here, before the program has begun.
  const std::vector<std::string> folders = config_folders();
  if (!a.export_folder.empty()) {
    if (!a.functional)
      throw core::InputError(
          "gpusim: error: --export needs --functional: what is written is what the program does, and it is "
          "timed when it is run");
    if (is_there(a.export_folder))
      throw core::InputError(fmt::format("{}: error: --export: exists already", a.export_folder));
  }
  const comp::CheckOptions checks = comp::parse_checks(a.checks);
  (void)core::load_machine(a.config, a.sets, folders);
  const std::string out = a.functional || a.out == "none" ? ""
                          : a.out.empty() ? fs::absolute(fs::path(file).filename().string() + ".h5").string()
                                          : fs::absolute(a.out).string();
  if (!out.empty()) check_output("--out", out, {file});
  std::vector<std::string> absolute;
  for (const std::string& folder : folders) absolute.push_back(fs::absolute(folder).string());
  const fs::path as_file = is_there(a.config) ? fs::absolute(a.config) : fs::path(a.config);
  set("GPUSIM_CONFIG", as_file.string());
  set("GPUSIM_CONFIG_PATH", joined(absolute, ':'));
  set("GPUSIM_SET", joined(a.sets, '\n'));
  set("GPUSIM_FUNCTIONAL", a.functional ? "1" : "");
  set("GPUSIM_TIMED", a.timed);
  set("GPUSIM_OUT", out);
  set("GPUSIM_FORCE", a.force ? "1" : "");
  set("GPUSIM_EVENTS", a.events);
  set("GPUSIM_LOWERING", a.lowering);
  set("GPUSIM_CACHE", a.cache);
  set("GPUSIM_MAX_CYCLES", std::to_string(a.max_cycles));
  set("GPUSIM_SMS", a.sms == 0 ? "" : std::to_string(a.sms));
  set("GPUSIM_QUIET", a.quiet ? "1" : "");
  set("GPUSIM_VERSION", kVersion);
  set("GPUSIM_EXPORT", a.export_folder.empty() ? "" : fs::absolute(a.export_folder).string());
  set("GPUSIM_CHECK", checks.text());
  set(runtime::kOwnerVariable, std::to_string(getpid()));
  const std::string libraries = library_folder().string();
  const char* const path = std::getenv("LD_LIBRARY_PATH");
  set("LD_LIBRARY_PATH", path == nullptr || *path == '\0' ? libraries : libraries + ":" + path);
  // A program that was linked with a fixed path to another runtime gets ours all the same.
  if (!program.fixed_path.empty() && !program.needs_runtime_name.empty())
    preload(libraries, program.needs_runtime_name);
  if (runtime::may_compile(program)) preload(libraries, "libgpusim_nvrtc.so");
  std::vector<char*> arguments;
  for (const std::string& argument : a.program) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  const bool chooses = !a.timed.empty() && a.timed != "all";
  if (checks.any() || chooses || !a.export_folder.empty() || !out.empty())
    return run_and_wait(file, arguments.data(), out);
  execv(file.c_str(), arguments.data());
  throw core::InputError(fmt::format("{}: error: cannot be started: {}", file, std::strerror(errno)));
}

}  // namespace

void add_run_command(CLI::App& program, int& code) {
  const auto a = std::make_shared<RunArguments>();
  CLI::App* command = program.add_subcommand(
      "run", "Run a CUDA program, unmodified, on a simulated GPU (exit code: the program's)");
  command->add_option("--config", a->config, "Machine: a path, or a name found in configs/");
  command->add_option("--set", a->sets, "section.key=VALUE, overrides the configuration (repeatable)")
      ->allow_extra_args(false);
  command->add_flag("--functional", a->functional, "Values only, no timing, nothing recorded");
  command->add_option(
      "--timed", a->timed,
      "Launches that are simulated cycle by cycle, the others run for values only: a list of "
      "kernel names, numbers (3, 10-20) and first:N, the first N of each kernel (default: all)");
  command->add_option("--out", a->out,
                      "Recorded HDF5 file (default: PROGRAM.h5 in this folder; 'none': no file)");
  command->add_flag("--force", a->force,
                    "Replace a recorded file that holds a run of another machine or program");
  command->add_option("--events", a->events, "What is recorded: off, summary, memory, all")
      ->check(CLI::IsMember({"off", "summary", "memory", "all"}));
  command->add_option("--lowering", a->lowering, "Lowering passes: none, clean, schedule (default)")
      ->check(CLI::IsMember({"none", "clean", "schedule"}));
  command
      ->add_option("--cache", a->cache,
                   "What caches hold when a kernel begins: cold (nothing at first), flushed")
      ->check(CLI::IsMember({"cold", "flushed"}));
  command->add_option(
      "--check", a->checks,
      "Look for mistakes of the kernels: a list of memory, race, init, sync, early_exit, or 'all' "
      "(docs/checking.md); exit code 4 if the program's is 0 and something was found");
  command->add_option("--export", a->export_folder,
                      "Write what the program does to this new folder, as launch file, PTX and data: all "
                      "launches, or those of --timed (with --functional)");
  command->add_option("--sms", a->sms, "Use only the N lowest-numbered SMs")->check(CLI::Range(1, 4096));
  command->add_option("--max-cycles", a->max_cycles, "A kernel that runs longer is reported as endless")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 62));
  command->add_flag("--quiet", a->quiet, "No report at the end");
  command->add_option("program", a->program, "The program and its arguments, after --")->required();
  command->prefix_command();
  command->callback([a, &code] { code = run_program(*a); });
}

}  // namespace gpusim::cli
