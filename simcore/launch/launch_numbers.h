// Parameters, operation counts and arguments of a launch file without the rest of it: what a recorded run
// still knows of its launch file when the files that it named are gone.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simcore/launch/launch.h"

namespace gpusim::core {

/// Only `params` and `flops` are filled in. Throws InputError as parse_launch does.
[[nodiscard]] LaunchDescription parse_launch_numbers(std::string_view text, const std::string& path,
                                                     std::span<const std::string> param_overrides);

/// A [[launch]] as it is written.
struct WrittenLaunch {
  std::string kernel;  ///< empty: the only one of the program
  /// In the order of the kernel: a buffer's name, an expression, a number. A structure is empty; buffers that
  /// the host swaps have one name.
  std::vector<std::string> arguments;
};

/// In the order of the file. Throws InputError if the text is no TOML.
[[nodiscard]] std::vector<WrittenLaunch> written_launches(std::string_view text, const std::string& path);

}  // namespace gpusim::core
