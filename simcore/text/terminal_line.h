// A line of a terminal that is drawn again and again in its place.
#pragma once
#include <string>

namespace gpusim::core {

/// As much of a line as the terminal of stderr has columns for, so that it can be drawn over.
[[nodiscard]] std::string fitted(const std::string& line);

}  // namespace gpusim::core
