#include "components/launch/occupancy_limits.h"

#include <algorithm>

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
  return {m.sm.max_blocks, m.sm.max_warps, m.sm.max_threads, m.sm.registers,
          core::occupancy_limits(m).shared_bytes};
}

uint32_t system_shared_bytes(const core::MachineConfig& machine, const isa::KernelImage& image) {
  return machine.shared.bytes > 0 ? image.system_shared_bytes : 0;
}

std::vector<uint32_t> used_sms(const core::MachineConfig& machine, uint32_t sms) {
  const uint32_t per_cluster = machine.gpu.sms_per_cluster;
  const uint32_t clusters = (machine.gpu.sms + per_cluster - 1) / per_cluster;
  std::vector<uint32_t> numbers;
  if (machine.gpu.sms_spread) {
    for (uint32_t k = 0; k < per_cluster; ++k)
      for (uint32_t c = 0; c < clusters; ++c)
        if (numbers.size() < sms && c * per_cluster + k < machine.gpu.sms)
          numbers.push_back(c * per_cluster + k);
    std::sort(numbers.begin(), numbers.end());
  } else {
    for (uint32_t i = 0; i < sms; ++i) numbers.push_back(i);
  }
  return numbers;
}

uint32_t gpc_of(const core::MachineConfig& machine, uint32_t sm) {
  const uint32_t per_cluster = machine.gpu.sms_per_cluster;
  return sm / per_cluster * machine.clusters.gpcs / (machine.gpu.sms / per_cluster);
}

std::vector<uint32_t> sms_in_parts(const core::MachineConfig& machine) {
  constexpr uint32_t kTogether = 8;
  std::vector<std::vector<uint32_t>> chip(std::max<uint32_t>(machine.clusters.gpcs, 1));
  for (uint32_t sm = 0; sm < machine.gpu.sms; ++sm)
    chip[machine.clusters.gpcs == 0 ? 0 : gpc_of(machine, sm)].push_back(sm);
  std::vector<uint32_t> order, rest;
  for (const std::vector<uint32_t>& part : chip) {
    const auto whole = static_cast<std::ptrdiff_t>(part.size() / kTogether * kTogether);
    order.insert(order.end(), part.begin(), part.begin() + whole);
    rest.insert(rest.end(), part.begin() + whole, part.end());
  }
  order.insert(order.end(), rest.begin(), rest.end());
  return order;
}

uint64_t clusters_together(const core::MachineConfig& machine, uint32_t sms, uint32_t blocks_per_sm,
                           uint32_t blocks) {
  return clusters_together(machine, used_sms(machine, sms), blocks_per_sm, blocks);
}

uint64_t clusters_together(const core::MachineConfig& machine, std::span<const uint32_t> sms,
                           uint32_t blocks_per_sm, uint32_t blocks) {
  std::vector<uint64_t> room(machine.clusters.gpcs);
  for (const uint32_t sm : room.empty() ? std::span<const uint32_t>() : sms)
    room[gpc_of(machine, sm)] += blocks_per_sm;
  uint64_t clusters = 0;
  for (const uint64_t held : room) clusters += held / blocks;
  return clusters;
}

isa::Occupancy occupancy_on(const core::MachineConfig& machine, const KernelLaunch& run) {
  return isa::compute_occupancy(core::occupancy_limits(machine), static_cast<int>(run.threads_per_block),
                                static_cast<int>(run.image->registers), run.taken_shared_bytes);
}

}  // namespace gpusim::comp
