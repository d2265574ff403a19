// The commands of the `gpusim` program. Each adds its options to a CLI11 app and returns an exit code when
// run: 0 good, 1 wrong usage or input, 2 the simulated program failed, 3 a result differs from `expect`, 4
// `--check` found something, 130 interrupted.
#pragma once
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "simcore/launch/launch.h"

namespace CLI {
class App;
}

namespace gpusim::cli {

inline constexpr int kGood = 0, kBadInput = 1, kProgramFailed = 2, kWrongResult = 3, kChecksFound = 4,
                     kInterruptedExit = 130;

/// Folders searched for machine names: $GPUSIM_CONFIG_PATH, ./configs, beside the installed program, the
/// source tree.
[[nodiscard]] std::vector<std::string> config_folders();

/// Throws core::InputError if what an option names for writing cannot be written there: it is no regular
/// file, protected against writing, or one of `inputs`.
void check_output(const std::string& option, const std::string& path, const std::vector<std::string>& inputs);

/// Prints to stderr; a stderr that is closed or full does not change what the program does.
template <class... Args>
void print_error(fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

struct RunArguments {
  std::string config, ptx, launch, kernel, grid, block, out, events = "summary", lowering = "schedule",
                                                             checks;
  std::string core_clock, interconnect_clock, dram_clock;
  std::vector<std::string> params, sets, args, dumps, linked;
  uint64_t dynamic_shared = 0, seed = 0, max_cycles = 10'000'000'000;
  uint32_t sms = 0;
  int threads = 1;
  bool functional = false, strict_target = false, quiet = false, json = false, force = false;
};
void add_run_options(CLI::App& app, RunArguments& arguments);
/// From the launch file or the options that stand for one; throws core::InputError.
[[nodiscard]] core::LaunchDescription load_launch(const RunArguments& arguments);
/// Files that such a run reads.
[[nodiscard]] std::vector<std::string> inputs_of(const RunArguments& arguments,
                                                 const core::LaunchDescription& launch);
int run_command(const RunArguments& arguments);

struct CheckArguments {
  std::vector<std::string> files;
  std::string config, lowering = "schedule";
  bool linked = false, json = false;
};
int check_command(const CheckArguments& arguments);

struct ConfigArguments {
  std::string first, second, key;
  std::vector<std::string> sets;
};
int config_show(const ConfigArguments& arguments);
int config_list();
int config_describe(const ConfigArguments& arguments);
int config_diff(const ConfigArguments& arguments);

struct OccupancyArguments {
  std::string config, ptx, kernel, block, launch;
  int threads = 0, registers = 0;
  int64_t shared = 0;
  std::vector<std::string> sets;
  bool json = false;
};
int occupancy_command(const OccupancyArguments& arguments);

/// `metrics` and `explain`: reports on a recorded file.
struct RecordingArguments {
  std::string file, kernel, metrics;
  size_t top = 5;
  bool json = false, describe = false, counters = false;
};
int metrics_command(const RecordingArguments& arguments);
int explain_command(const RecordingArguments& arguments);

struct MicrobenchArguments {
  std::string config;
  std::vector<std::string> sets, only;
  int threads = 1;
  bool json = false;
};
int microbench_command(const MicrobenchArguments& arguments);

struct TraceArguments {
  RunArguments run;
  int number = -1;     ///< launch; -1: the only one
  bool warps = false;  ///< the compact form
};
void add_trace_command(CLI::App& app, TraceArguments& arguments, int& code);
int trace_command(const TraceArguments& arguments);

struct CorrelateArguments {
  std::string hardware, config;
  std::vector<std::string> sets;
  int threads = 1;
  bool json = false;
};
int correlate_command(const CorrelateArguments& arguments);

struct ExportArguments {
  std::string ptx, launch, name, out;
  std::vector<std::string> params;
  uint64_t seed = 0;
  bool fitting = false;
};
int export_command(const ExportArguments& arguments);

struct AnalyzeArguments {
  std::vector<std::string> files, options;
  std::string model, kernel;
  bool json = false;
};
void add_analyze_command(CLI::App& app, AnalyzeArguments& arguments, int& code);
int analyze_command(const AnalyzeArguments& arguments);

struct RegressArguments {
  std::string suite = "quick", root, work;
  std::vector<std::string> only;
  unsigned parallel = 0;  ///< 0: as many as there are processors
  bool update = false, judge_again = false, json = false, quiet = false;
};
void add_regress_command(CLI::App& app, RegressArguments& arguments, int& code);
int regress_command(const RegressArguments& arguments);

struct ReuseArguments {
  std::string trace, config, size = "16K", sm;
  std::vector<std::string> sets, without, sweeps;
  uint32_t line = 128, ways = 4, mshrs = 64, latency = 100;
  double sigma = 5;
  uint64_t seed = 1;
  bool reference = false, json = false;
};
void add_reuse_command(CLI::App& app, ReuseArguments& arguments, int& code);
int reuse_command(const ReuseArguments& arguments);

int init_command(const std::string& ptx, const std::string& out, bool force);

}  // namespace gpusim::cli
