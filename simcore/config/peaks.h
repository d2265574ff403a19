// What a machine can do at most, derived from its configuration: arithmetic per second by type, bytes per
// second of each level of memory, at the clocks of [clocks]. A wrong key shows here first.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "simcore/config/machine_config.h"

namespace gpusim::core {

struct Peak {
  std::string name;  ///< "FP32", "DRAM"
  double value = 0;  ///< in `unit`
  const char* unit;  ///< "FLOP/s", "OP/s" or "B/s"
  std::string how;   ///< "80 SMs x 64 multiply-adds a cycle at 1380 MHz"
};

/// In the order in which they are printed: arithmetic, then memory from the SM outwards. A type or a level
/// that the machine has not is left out.
[[nodiscard]] std::vector<Peak> machine_peaks(const MachineConfig& machine);

/// Bytes per second of all data buses to DRAM.
[[nodiscard]] double dram_peak(const MachineConfig& machine);

/// The peaks as comment lines of a .cfg file.
[[nodiscard]] std::string describe_peaks(const MachineConfig& machine);

}  // namespace gpusim::core
