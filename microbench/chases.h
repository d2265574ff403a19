// Latency of each level of memory by pointer chase of one warp: 128 dependent loads between two clock reads.
#pragma once
#include "microbench/data_sheet.h"
#include "microbench/device.h"
#include "microbench/hierarchy.h"

namespace gpusim::microbench {

/// Figures latency.l1, latency.l2, latency.dram, latency.shared, latency.barrier.
void measure_chases(Device& device, const Hierarchy& hierarchy, DataSheet& sheet);
/// Whether the chases are the same whatever the capacity of L2 between these is (Alike).
[[nodiscard]] bool alike_to_chases(uint64_t least, uint64_t most);

}  // namespace gpusim::microbench
