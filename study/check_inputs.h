// What can be known of a study before its first point runs: that its programs and machines are there, that
// keys and parameters exist, and that each value of an axis is possible at one of its points.
#pragma once
#include <span>
#include <string>

#include "study/points.h"

namespace gpusim::study {

/// Throws core::InputError with every problem and its place. A combination of values that no machine can have
/// is none: such points are refused one by one.
void check_inputs(const Study& study, std::span<const Point> points,
                  std::span<const std::string> config_folders);

}  // namespace gpusim::study
