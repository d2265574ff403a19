// Which operations the units beyond the SMs work for. What a load finds in the L1 does not get there, a store
// that the L2 keeps is no work of DRAM, and the partition of a word on which many atomics are has these to
// do.
#pragma once
#include <cstdint>
#include <vector>

#include "analysis/recording/recording.h"

namespace gpusim::analysis {

/// For each operation, its share of what `unit`, of the interconnect or the L2, carried. The numbers have no
/// unit: they are to be compared with each other.
[[nodiscard]] std::vector<uint64_t> traffic_of(const KernelRecord& kernel, const core::MachineConfig& machine,
                                               const UnitLoad& unit);
/// The same of DRAM's data bus: what it read for loads, and what it wrote of stores.
[[nodiscard]] std::vector<uint64_t> traffic_with_dram(const KernelRecord& kernel);

}  // namespace gpusim::analysis
