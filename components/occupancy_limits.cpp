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

SmShare share_of_block(const core::MachineConfig& m, const KernelRun& run) {
  const auto up = [](int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; };
  const isa::OccupancyLimits limits = occupancy_limits(m);
  const int64_t warps = run.warps_per_block, registers = run.image->registers;
  SmShare share{1, warps, run.threads_per_block, 0, 0};
  if (limits.register_granularity == isa::AllocationGranularity::kBlock)
    share.registers = up(up(warps, limits.warp_unit) * isa::kWarpSize * registers, limits.register_unit);
  else
    share.registers = warps * up(isa::kWarpSize * registers, limits.register_unit);
  share.shared = up(int64_t{run.shared_bytes} + limits.reserved_shared_bytes, limits.shared_unit);
  return share;
}

SmShare whole_sm(const core::MachineConfig& m) {
  return {m.sm.max_blocks, m.sm.max_warps, m.sm.max_threads, m.sm.registers, m.shared.bytes};
}

uint64_t carved_shared(const core::MachineConfig& m, uint64_t shared_bytes) {
  if (m.shared.carveout == 0 || m.l1.bytes == 0) return static_cast<uint64_t>(m.shared.bytes);
  const auto unit = static_cast<uint64_t>(m.shared.carveout);
  return (shared_bytes + unit - 1) / unit * unit;
}

uint32_t l1_ways_beside(const core::MachineConfig& m, uint64_t shared_bytes) {
  const auto ways = static_cast<uint64_t>(m.l1.ways);
  if (m.shared.carveout == 0 || m.l1.bytes == 0) return static_cast<uint32_t>(ways);
  const uint64_t taken = carved_shared(m, shared_bytes);
  return static_cast<uint32_t>(ways - taken * ways / static_cast<uint64_t>(m.l1.bytes));
}

isa::Occupancy occupancy_on(const core::MachineConfig& machine, const KernelRun& run) {
  return isa::compute_occupancy(occupancy_limits(machine), static_cast<int>(run.threads_per_block),
                                static_cast<int>(run.image->registers), run.shared_bytes);
}

}  // namespace gpusim::comp
