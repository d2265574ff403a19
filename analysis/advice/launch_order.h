// Whether launches of one kernel need each other's results, as far as their arguments and the program say.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "analysis/advice/facts.h"

namespace gpusim::analysis::advice {

/// The argument that one of these launches reads and one before it has written; empty if there is none, or if
/// it is not known. `arguments`: of each launch, the buffers' names.
[[nodiscard]] std::string handed_on(const std::vector<std::vector<std::string>>& arguments,
                                    const Facts& facts, std::string_view ptx);
/// The same of launches of a recording.
[[nodiscard]] std::string handed_on(const Recording& recording, const std::vector<uint64_t>& launches,
                                    const Facts& facts, std::string_view ptx);

}  // namespace gpusim::analysis::advice
