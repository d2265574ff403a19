// Where the program finds what it comes with: machines, workloads, suites, measurements (docs/installing.md).
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace gpusim::cli {

/// An environment variable that the program reads.
struct Variable {
  const char* name;
  const char* meaning;
};
inline constexpr Variable kEnvironment[] = {
    {"GPUSIM_CONFIG_PATH", "Folders, separated by colons, that are searched for machines before all others."},
    {"GPUSIM_DATA",
     "Folders, separated by colons, laid out as share/gpusim of the installed program (configs, workloads, "
     "regress), that are searched for machines, suites and measurements before it."}};

/// A folder that is laid out as the source tree: configs/, workloads/, regress/.
struct DataFolder {
  std::filesystem::path path;
  bool installed = false;  ///< belongs to an installed program, which never writes there
};

/// In the order in which they are searched: those that $GPUSIM_DATA lists, share/gpusim of an installed
/// program, the source tree of a program that lies in build/PRESET/bin. All are found from the program's own
/// place, so that an installed tree can be moved. Throws core::InputError if $GPUSIM_DATA names no folder.
[[nodiscard]] std::vector<DataFolder> data_folders();

/// Folders searched for machine names: $GPUSIM_CONFIG_PATH, ./configs, configs/ of the data folders.
[[nodiscard]] std::vector<std::string> config_folders();

/// `file` if it exists or is no plain name; otherwise regress/hardware/`file`.json of the first data folder
/// that has it. Throws core::InputError, with the nearest name, if none has.
[[nodiscard]] std::string find_hardware_file(const std::string& file);

/// The files of measurements that come with gpusim, by name: all of regress/hardware of the data folders.
[[nodiscard]] std::vector<std::string> hardware_files();

}  // namespace gpusim::cli
