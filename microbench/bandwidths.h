// Bandwidth of each level of memory. Two lengths of each run are timed and their difference taken, so that
// the launch does not count.
#pragma once
#include "microbench/data_sheet.h"
#include "microbench/device.h"
#include "microbench/hierarchy.h"

namespace gpusim::microbench {

/// Figures bandwidth.l1 and .shared (bytes per core cycle and SM), .l2 (bytes/s), .read, .copy and .triad of
/// DRAM (bytes/s that the kernels name, as STREAM counts).
void measure_bandwidths(Device& device, const Hierarchy& hierarchy, DataSheet& sheet);

}  // namespace gpusim::microbench
