#include "components/occupancy_limits.h"

namespace gpusim::comp {

isa::OccupancyLimits occupancy_limits(const core::MachineConfig& m) {
  isa::OccupancyLimits limits;
  limits.max_threads_per_block = static_cast<int>(m.sm.max_threads_per_block);
  limits.threads = static_cast<int>(m.sm.max_threads);
  limits.warps = static_cast<int>(m.sm.max_warps);
  limits.blocks = static_cast<int>(m.sm.max_blocks);
  limits.registers = m.sm.registers;
  limits.register_unit = static_cast<int>(m.sm.register_alloc_unit);
  limits.register_granularity =
      m.sm.register_alloc_by_block ? isa::AllocationGranularity::kBlock : isa::AllocationGranularity::kWarp;
  limits.shared_bytes = m.shared.bytes;
  limits.shared_unit = static_cast<int>(m.sm.shared_alloc_unit);
  return limits;
}

uint32_t l1_ways_beside(const core::MachineConfig& m, uint64_t shared_bytes) {
  const auto ways = static_cast<uint64_t>(m.l1.ways);
  if (m.shared.carveout == 0 || m.l1.bytes == 0) return static_cast<uint32_t>(ways);
  const auto unit = static_cast<uint64_t>(m.shared.carveout);
  const uint64_t taken = (shared_bytes + unit - 1) / unit * unit;
  return static_cast<uint32_t>(ways - taken * ways / static_cast<uint64_t>(m.l1.bytes));
}

isa::Occupancy occupancy_on(const core::MachineConfig& machine, const KernelRun& run) {
  return isa::compute_occupancy(occupancy_limits(machine), static_cast<int>(run.threads_per_block),
                                static_cast<int>(run.image->registers), run.shared_bytes);
}

}  // namespace gpusim::comp
