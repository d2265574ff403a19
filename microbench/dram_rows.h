// Rows of DRAM, from the time of two loads at once: two that lie in different rows of one bank take longer
// than any others, for the first row must be closed before the second opens.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "microbench/data_sheet.h"
#include "microbench/device.h"
#include "microbench/hierarchy.h"

namespace gpusim::microbench {

/// Figures dram.row (bytes of a row in one channel), .interleave (bytes of it that follow each other),
/// .channels and .bank_period (rows of a channel from one to the next in its bank: the number of banks,
/// unless hashed). `crowd`, asked for where hashes leave no regular distance: as BankMates takes it; empty if
/// there is none.
void measure_dram_rows(Device& device, const Hierarchy& hierarchy,
                       const std::function<std::vector<uint32_t>()>& crowd, DataSheet& sheet);

}  // namespace gpusim::microbench
