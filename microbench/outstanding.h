// How many lines of misses can be on their way from an SM, and how many loads that miss from one warp of it:
// with one more, the time of a burst jumps, for one of them starts only when another has come back.
#pragma once
#include "microbench/data_sheet.h"
#include "microbench/device.h"

namespace gpusim::microbench {

/// Figures mshrs.sm and mshrs.warp. `line`: bytes that a miss stands for.
void measure_outstanding(Device& device, uint32_t line, DataSheet& sheet);

/// Index of the first jump in times that otherwise grow slowly; 0 if there is none. `one`: time of one load.
[[nodiscard]] uint32_t first_jump(const std::vector<double>& times, double one);

}  // namespace gpusim::microbench
