// How many pages the translation look-aside buffers know: loads of more pages than that, round and round,
// take longer, though their lines stay in the second level (or, where there is none, though all come from
// rows of DRAM that are not open).
#pragma once
#include "microbench/data_sheet.h"
#include "microbench/device.h"
#include "microbench/hierarchy.h"

namespace gpusim::microbench {

/// Figures tlb.l1_entries and .l2_entries (pages), tlb.page (bytes) and latency.tlb_l1_miss, .tlb_l2_miss
/// (core cycles more).
void measure_tlb(Device& device, const Hierarchy& hierarchy, DataSheet& sheet);

}  // namespace gpusim::microbench
