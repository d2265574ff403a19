#include "simcore/occupancy/machine_limits.h"

namespace gpusim::core {

uint32_t reserved_shared_bytes(const MachineConfig& m) {
  constexpr uint32_t kReservedFrom = 80, kBytes = 1024;
  return m.gpu.compute_capability >= kReservedFrom && m.shared.bytes != 0 ? kBytes : 0;
}

isa::OccupancyLimits occupancy_limits(const MachineConfig& m) {
  isa::OccupancyLimits limits;
  limits.max_threads_per_block = static_cast<int>(m.sm.max_threads_per_block);
  limits.threads = static_cast<int>(m.sm.max_threads);
  limits.warps = static_cast<int>(m.sm.max_warps);
  limits.blocks = static_cast<int>(m.sm.max_blocks);
  limits.registers = m.sm.registers;
  limits.register_unit = static_cast<int>(m.sm.register_alloc_unit);
  limits.register_granularity =
      m.sm.register_alloc_by_block ? isa::AllocationGranularity::kBlock : isa::AllocationGranularity::kWarp;
  limits.reserved_shared_bytes = static_cast<int>(reserved_shared_bytes(m));
  limits.shared_bytes = m.shared.bytes + limits.reserved_shared_bytes;
  limits.shared_unit = static_cast<int>(m.sm.shared_alloc_unit);
  return limits;
}

uint64_t carved_shared(const MachineConfig& m, uint64_t shared_bytes) {
  if (m.shared.carveout == 0 || m.l1.bytes == 0) return m.shared.bytes;
  const uint64_t unit = m.shared.carveout;
  return (shared_bytes + unit - 1) / unit * unit;
}

uint32_t l1_ways_beside(const MachineConfig& m, uint64_t shared_bytes) {
  const auto ways = static_cast<uint64_t>(m.l1.ways);
  if (m.shared.carveout == 0 || m.l1.bytes == 0) return static_cast<uint32_t>(ways);
  const uint64_t taken = carved_shared(m, shared_bytes);
  return static_cast<uint32_t>(ways - taken * ways / static_cast<uint64_t>(m.l1.bytes));
}

}  // namespace gpusim::core
