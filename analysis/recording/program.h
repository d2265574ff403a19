// What a recorded run still knows of the program that it ran: its launch file's name, parameters and
// operation counts.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/recording/recording.h"

namespace gpusim::analysis {

struct Program {
  std::string name;  ///< of the launch file without ".toml", else of the PTX
  std::vector<std::pair<std::string, double>> params;  ///< --param applied
  std::vector<std::pair<std::string, double>> flops;   ///< [flops]: "total", or of a kernel

  /// The application's own count of floating-point operations; 0: not stated.
  [[nodiscard]] double stated_flops(std::string_view key) const;
  /// Throws core::RecordError with the nearest name.
  [[nodiscard]] double param(std::string_view key, const Recording& recording) const;
};

/// Throws core::RecordError if the recorded texts are damaged.
[[nodiscard]] Program program_of(const Recording& recording);

}  // namespace gpusim::analysis
