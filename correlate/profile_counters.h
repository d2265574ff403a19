// Counters that published profiles of real GPUs have, and what they are of ours. Units are those of the
// profilers: sectors of 32 bytes at L2 and DRAM, and for the L1 of 7.0 and later.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "simcore/record/recorder.h"

namespace gpusim::correlate {

/// In the order of reports: "l1_read_hits", ...
[[nodiscard]] std::span<const std::string_view> profile_counter_names();
[[nodiscard]] bool is_profile_counter(std::string_view name);
/// The value that the profiler would show for a kernel with these counters.
[[nodiscard]] double profile_counter(std::string_view name, const std::vector<core::Counter>& counters);

}  // namespace gpusim::correlate
