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

isa::Occupancy occupancy_on(const core::MachineConfig& machine, const KernelRun& run) {
  return isa::compute_occupancy(occupancy_limits(machine), static_cast<int>(run.threads_per_block),
                                static_cast<int>(run.image->registers), run.shared_bytes);
}

}  // namespace gpusim::comp
