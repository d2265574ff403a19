// Banks of shared memory: their number and width, and how many lanes are served together, from the time that
// patterns of addresses take.
#pragma once
#include "microbench/data_sheet.h"
#include "microbench/device.h"

namespace gpusim::microbench {

/// Figures shared.banks, .bank_bytes, .lanes_per_access and .conflict_cycles (of one more word in a bank).
void measure_shared_banks(Device& device, DataSheet& sheet);

}  // namespace gpusim::microbench
