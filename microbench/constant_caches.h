// The caches in front of constant memory: how much each level holds and how long it takes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "microbench/data_sheet.h"
#include "microbench/device.h"

namespace gpusim::microbench {

/// Figures constant.l1_size, .l2_size, ... as far as 64 KB of constants show them, and latency.constant_l1,
/// ... by pointer chase.
void measure_constant_caches(Device& device, DataSheet& sheet);

/// A module with `chase_constant`: 128 dependent loads of a ring of `elements` constants, after going round
/// it once. Parameter: out (clock before and after).
[[nodiscard]] std::string constant_chase(const DeviceProperties& device, uint32_t elements, uint32_t stride);

}  // namespace gpusim::microbench
