#include "components/launch/occupancy_limits.h"

namespace gpusim::comp {

SmShare share_of_block(const core::MachineConfig& m, const KernelLaunch& run) {
  const auto up = [](int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; };
  const isa::OccupancyLimits limits = core::occupancy_limits(m);
  const int64_t warps = run.warps_per_block, registers = run.image->registers;
  SmShare share{1, warps, run.threads_per_block, 0, 0};
  if (limits.register_granularity == isa::AllocationGranularity::kBlock)
    share.registers = up(up(warps, limits.warp_unit) * isa::kWarpSize * registers, limits.register_unit);
  else
    share.registers = warps * up(isa::kWarpSize * registers, limits.register_unit);
  share.shared = up(int64_t{run.taken_shared_bytes} + limits.reserved_shared_bytes, limits.shared_unit);
  return share;
}

SmShare whole_sm(const core::MachineConfig& m) {
  return {m.sm.max_blocks, m.sm.max_warps, m.sm.max_threads, m.sm.registers, m.shared.bytes};
}

uint32_t system_shared_bytes(const core::MachineConfig& machine, const isa::KernelImage& image) {
  return machine.shared.bytes > 0 ? image.system_shared_bytes : 0;
}

isa::Occupancy occupancy_on(const core::MachineConfig& machine, const KernelLaunch& run) {
  return isa::compute_occupancy(core::occupancy_limits(machine), static_cast<int>(run.threads_per_block),
                                static_cast<int>(run.image->registers), run.taken_shared_bytes);
}

}  // namespace gpusim::comp
