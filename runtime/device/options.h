// What a device inside a program is: its machine, and how its kernels run.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gpusim::runtime {

struct DeviceOptions {
  std::string config;             ///< machine: a path, or a name found in `config_folders`
  std::vector<std::string> sets;  ///< section.key=value
  std::vector<std::string> config_folders;
  bool functional = false;  ///< values only
  /// Which launches are simulated cycle by cycle; the others run for values only. Empty: all. Else a list,
  /// separated by commas, of kernel names, of numbers of launches ("3", "10-20"), or of "first:N": the first
  /// N launches of each kernel.
  std::string timed;
  std::string out;  ///< recorded HDF5 file; empty: none
  bool replace_other_runs = false;
  std::string events = "summary";     ///< off, summary, memory, all
  std::string lowering = "schedule";  ///< none, clean, schedule
  std::string cache = "cold";         ///< cold, flushed
  uint64_t max_cycles = 10'000'000'000;
  uint32_t sms = 0;         ///< 0: all
  bool keep_times = false;  ///< timed_kernels() has every launch, so that memory grows with them
  bool quiet = false;       ///< no report at the end
  bool progress = false;    ///< a line on standard error while a launch takes long
  /// Folder to which what the program does is written as a launch file (export.h); empty: none. Needs
  /// `functional`; `timed` says which launches.
  std::string export_folder;
  std::string check;  ///< a list of checks (docs/checking.md); empty: none
  std::string program_version, command_line;
  std::function<void(std::string_view)> print;   ///< what kernels print; stdout if not given
  std::function<void(const std::string&)> warn;  ///< stderr if not given
};

/// From the environment variables that `gpusim run` sets (docs/running_programs.md). Throws Failure, and says
/// why on stderr, if no machine is named.
[[nodiscard]] DeviceOptions options_from_environment();

}  // namespace gpusim::runtime
