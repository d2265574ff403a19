// What the results of a study say, in a few sentences.
#pragma once
#include <string>

#include "study/findings.h"

namespace gpusim::study {

/// "l1_size=64K sms=40"
[[nodiscard]] std::string axis_values(const Study& study, const Point& point);
/// "-12.3 %", of a factor.
[[nodiscard]] std::string change(double factor);

/// Whether the axis says how much of something the machine has, or how fast it is: not what the program does,
/// nor on which data.
[[nodiscard]] bool is_of_machine(const Axis& axis);
/// Of an axis of the machine with numbers: whether a smaller value than the largest is as good, and larger
/// ones cost nothing either.
[[nodiscard]] bool some_value_suffices(const Study& study, const Effect& effect);

/// Which point is best, which axes matter, and what the best one waits less for; empty if nothing was varied.
[[nodiscard]] std::string in_short(const Outcome& outcome, const GroupFindings& findings);

}  // namespace gpusim::study
