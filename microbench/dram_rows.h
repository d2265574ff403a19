// Rows of DRAM, from the time of two loads at once: two that lie in different rows of one bank take longer
// than any others, for the first row must be closed before the second opens.
#pragma once
#include "microbench/data_sheet.h"
#include "microbench/device.h"

namespace gpusim::microbench {

/// Figures dram.row (bytes of a row in one channel), .interleave (bytes of it that follow each other),
/// .channels and .bank_period (rows of a channel from one to the next in its bank: the number of banks,
/// unless hashed).
void measure_dram_rows(Device& device, DataSheet& sheet);

}  // namespace gpusim::microbench
