// Parameters and operation counts of a launch file without the rest of it: what a recorded run still knows
// of its launch file when the files that it named are gone.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "simcore/launch/launch.h"

namespace gpusim::core {

/// Only `params` and `flops` are filled in. Throws InputError as parse_launch does.
[[nodiscard]] LaunchDescription parse_launch_numbers(std::string_view text, const std::string& path,
                                                     std::span<const std::string> param_overrides);

}  // namespace gpusim::core
