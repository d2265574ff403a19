// Figures of a machine as `gpusim microbench --json` prints them: what microbenchmarks found, not what the
// configuration says. Those in data_sheets/ are built into the program.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simcore/config/machine_config.h"

namespace gpusim::analysis::latency_hidden {

struct DataSheet {
  std::string path;
  std::string machine;                                 ///< name of the machine, as in [gpu] name
  std::map<std::string, double, std::less<>> figures;  ///< those that were found
  [[nodiscard]] std::optional<double> find(std::string_view name) const;
  /// Throws core::InputError that names file, figure and the section of `gpusim microbench` that has it.
  [[nodiscard]] double require(std::string_view name) const;
};

/// Throws core::InputError with file and place for what is no data sheet.
[[nodiscard]] DataSheet parse_data_sheet(std::string_view text, const std::string& path);
[[nodiscard]] DataSheet read_data_sheet(const std::string& path);
/// A machine as the built-in sheet with its name was measured on it; there must be one.
[[nodiscard]] core::MachineConfig machine_of_known_sheet(const std::string& machine);
/// What differs between the machine of a run and that of the built-in sheet with its name, as a note; empty
/// if nothing does.
[[nodiscard]] std::string note_of_known_sheet(const core::MachineConfig& machine);
/// That a sheet is of another machine, by its name; empty if it is of this one.
[[nodiscard]] std::string note_of_sheet(const DataSheet& sheet, const core::MachineConfig& machine);
/// The sheet of a machine that is built in; throws core::RecordError that says how to make one if there is
/// none.
[[nodiscard]] DataSheet known_data_sheet(const std::string& machine);

}  // namespace gpusim::analysis::latency_hidden
