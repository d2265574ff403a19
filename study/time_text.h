// What is said of the time that a study will take, and of what would take less.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "study/time_estimate.h"

namespace gpusim::study {

/// "125 s", "12 min", "2.1 h"
[[nodiscard]] std::string duration(double seconds);

/// Of a study that takes more seconds it is said what would be sooner: somebody waits for it.
inline constexpr double kLongStudy = 300;

/// How many points `--guided` should simulate; 0: there are so few that it would gain little.
[[nodiscard]] size_t guided_points(const Study& study, size_t points);

/// Parameters of the launch files with their values, "spmv: ROWS=65536", of those that can be read.
[[nodiscard]] std::vector<std::string> parameters(const Study& study);

/// Lines with the estimate, and with what would be sooner if that is long.
[[nodiscard]] std::string time_text(const TimeEstimate& estimate, const Study& study, size_t points,
                                    unsigned parallel);

}  // namespace gpusim::study
