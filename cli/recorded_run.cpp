#include "cli/recorded_run.h"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <vector>

#include "cli/registers_option.h"
#include "cli/study_progress.h"
#include "cli/this_program.h"
#include "simcore/text/text_file.h"

namespace gpusim::cli {

namespace {

/// Options of a canonical command line: "--param 'N=4'", "--sms 3" (simcore/record/command_text.h).
struct RecordedOptions {
  std::vector<std::pair<std::string, std::string>> all;

  explicit RecordedOptions(const std::string& command) {
    for (size_t at = command.find(" --"); at != std::string::npos;) {
      const size_t name = at + 1, name_end = std::min(command.find(' ', name), command.size());
      size_t value = std::min(name_end + 1, command.size()), end = 0;
      if (value < command.size() && command[value] == '\'') {
        // A value may hold quotes: it ends with one that another option or nothing follows.
        for (end = command.find('\'', ++value);
             end != std::string::npos && end + 1 < command.size() && command.compare(end, 4, "' --") != 0;)
          end = command.find('\'', end + 1);
        end = std::min(end, command.size());
        at = command.find(" --", end);
      } else {
        at = command.find(" --", name_end);
        end = std::min(at, command.size());
      }
      all.emplace_back(command.substr(name, name_end - name), command.substr(value, end - value));
    }
  }
  [[nodiscard]] std::string one(std::string_view name) const {
    for (const auto& [option, value] : all)
      if (option == name) return value;
    return {};
  }
  [[nodiscard]] std::vector<std::string> values(std::string_view name) const {
    std::vector<std::string> found;
    for (const auto& [option, value] : all)
      if (option == name) found.push_back(value);
    return found;
  }
  [[nodiscard]] uint64_t number(std::string_view name, uint64_t otherwise) const {
    const std::string text = one(name);
    if (text.empty() || text.size() > 19 || text.find_first_not_of("0123456789") != std::string::npos)
      return otherwise;
    return std::stoull(text);
  }
};

/// "vecadd.toml#0123..." -> "vecadd.toml"
std::string file_name(const std::string& with_hash) { return with_hash.substr(0, with_hash.rfind('#')); }

}  // namespace

comp::SimulationOptions recorded_run(const analysis::Recording& recording, const std::string& launch_file) {
  const std::string command = recording.command_line();
  const RecordedOptions given(command);
  if (command.substr(0, command.find(" --", command.find("--config") + 1)).find(" + ") != std::string::npos)
    throw core::InputError(
        fmt::format("{}: error: the program has several PTX files, of which a recording holds the first\n  "
                    "hint: gpusim study run varies what you want to know",
                    recording.path()));
  if (recording.of_program())
    throw core::InputError(fmt::format(
        "{}: error: it is the recording of a program that gpusim run ran, whose launches cannot be "
        "simulated again\n  hint: gpusim run --functional --export FOLDER -- PROGRAM writes them "
        "as launch files; record one of these",
        recording.path()));
  comp::SimulationOptions o;
  o.machine = recording.machine();
  o.ptx_name = recording.path() + ": PTX";
  o.ptx_text = recording.ptx();
  const std::vector<std::string> params = given.values("--param");
  const uint64_t seed = given.number("--seed", 0);
  if (!given.one("--grid").empty()) {
    core::CommandLineLaunch launch;
    launch.kernel = given.one("--kernel");
    launch.grid = given.one("--grid");
    launch.block = given.one("--block");
    launch.args = given.values("--arg");
    launch.dynamic_shared = given.number("--dynamic-shared", 0);
    launch.params = params;
    o.launch = core::launch_from_arguments(launch, seed);
  } else if (!launch_file.empty()) {
    o.launch = core::load_launch(launch_file, params, seed);
    if (o.launch.text != recording.launch_text())
      throw core::InputError(fmt::format("{}: error: is not the launch file that was recorded in {}",
                                         launch_file, recording.path()));
  } else {
    const std::string name = file_name(given.one("--launch"));
    try {
      o.launch = core::parse_launch(recording.launch_text(), name, params, seed);
    } catch (const core::InputError& error) {
      // What was recorded ran: what it lacks now are the files that it names, beside it.
      throw core::InputError(
          fmt::format("{}\n  hint: --launch FOLDER/{} says where the recorded launch file lies, and the "
                      "files that it names",
                      error.what(), name));
    }
  }
  if (!o.launch.link.empty()) {
    for (const std::string& file : o.launch.link)
      o.linked.push_back({file, core::read_text_file(file, core::kMaxPtxBytes)});
  }
  o.sms = static_cast<uint32_t>(given.number("--sms", 0));
  o.max_cycles = given.number("--max-cycles", o.max_cycles);
  o.lowering = isa::lowering_level(given.one("--lowering"));
  static_cast<void>(take_registers(given.values("--registers"), o));
  o.caches = comp::cache_state(given.one("--cache")).value_or(comp::CacheState::kCold);
  return o;
}

namespace {
volatile std::sig_atomic_t interrupted = 0;
}

study::Proof proved(const comp::SimulationOptions& run, unsigned threads, uint64_t cycles) {
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) { interrupted = 1; };
  sigaction(SIGINT, nullptr, &before);
  if (before.sa_handler != SIG_IGN) sigaction(SIGINT, &action, nullptr);
  std::optional<StudyProgress> progress;
  const auto start = std::chrono::steady_clock::now();
  const unsigned parallel = threads == 0 ? processors() : threads;
  study::Proof proof = study::prove(
      run, parallel, cycles,
      [&](size_t done, size_t all) {
        if (!progress) progress.emplace(all, "simulations of --prove", parallel, false).began(start);
        progress->reached(done);
      },
      [] { return interrupted != 0; });
  // The same interrupt may come twice (core::SignalsGoToChild), and what there is has yet to be printed.
  if (interrupted == 0) sigaction(SIGINT, &before, nullptr);
  return proof;
}

}  // namespace gpusim::cli
