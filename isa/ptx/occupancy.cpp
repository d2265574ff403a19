#include "isa/ptx/occupancy.h"

#include <algorithm>
#include <iterator>

namespace gpusim::isa {
namespace {

constexpr int kThreadsPerWarp = 32;
using enum AllocationGranularity;

struct CapabilityRow {
  int capability;
  OccupancyLimits limits;
};

constexpr int64_t kKi = 1024;
// {threads/block, threads, warps, blocks, registers, unit, granularity, warp unit, shared, unit, reserved}
constexpr CapabilityRow kCapabilities[] = {
    {10, {512, 768, 24, 8, 8 * kKi, 256, kBlock, 2, 16 * kKi, 512, 0}},
    {11, {512, 768, 24, 8, 8 * kKi, 256, kBlock, 2, 16 * kKi, 512, 0}},
    {12, {512, 1024, 32, 8, 16 * kKi, 512, kBlock, 2, 16 * kKi, 512, 0}},
    {13, {512, 1024, 32, 8, 16 * kKi, 512, kBlock, 2, 16 * kKi, 512, 0}},
    {20, {1024, 1536, 48, 8, 32 * kKi, 64, kWarp, 2, 48 * kKi, 128, 0}},
    {21, {1024, 1536, 48, 8, 32 * kKi, 64, kWarp, 2, 48 * kKi, 128, 0}},
    {30, {1024, 2048, 64, 16, 64 * kKi, 256, kWarp, 4, 48 * kKi, 256, 0}},
    {32, {1024, 2048, 64, 16, 64 * kKi, 256, kWarp, 4, 48 * kKi, 256, 0}},
    {35, {1024, 2048, 64, 16, 64 * kKi, 256, kWarp, 4, 48 * kKi, 256, 0}},
    {37, {1024, 2048, 64, 16, 128 * kKi, 256, kWarp, 4, 112 * kKi, 256, 0}},
    {50, {1024, 2048, 64, 32, 64 * kKi, 256, kWarp, 4, 64 * kKi, 256, 0}},
    {52, {1024, 2048, 64, 32, 64 * kKi, 256, kWarp, 4, 96 * kKi, 256, 0}},
    {53, {1024, 2048, 64, 32, 64 * kKi, 256, kWarp, 4, 64 * kKi, 256, 0}},
    {60, {1024, 2048, 64, 32, 64 * kKi, 256, kWarp, 2, 64 * kKi, 256, 0}},
    {61, {1024, 2048, 64, 32, 64 * kKi, 256, kWarp, 4, 96 * kKi, 256, 0}},
    {62, {1024, 2048, 64, 32, 64 * kKi, 256, kWarp, 4, 64 * kKi, 256, 0}},
    {70, {1024, 2048, 64, 32, 64 * kKi, 256, kWarp, 4, 96 * kKi, 256, 0}},
    {72, {1024, 2048, 64, 32, 64 * kKi, 256, kWarp, 4, 96 * kKi, 256, 0}},
    {75, {1024, 1024, 32, 16, 64 * kKi, 256, kWarp, 4, 64 * kKi, 256, 0}},
    {80, {1024, 2048, 64, 32, 64 * kKi, 256, kWarp, 4, 164 * kKi, 128, 1 * kKi}},
    {86, {1024, 1536, 48, 16, 64 * kKi, 256, kWarp, 4, 100 * kKi, 128, 1 * kKi}},
    {87, {1024, 1536, 48, 16, 64 * kKi, 256, kWarp, 4, 164 * kKi, 128, 1 * kKi}},
    {89, {1024, 1536, 48, 24, 64 * kKi, 256, kWarp, 4, 100 * kKi, 128, 1 * kKi}},
    {90, {1024, 2048, 64, 32, 64 * kKi, 256, kWarp, 4, 228 * kKi, 128, 1 * kKi}},
    {100, {1024, 2048, 64, 32, 64 * kKi, 256, kWarp, 4, 228 * kKi, 128, 1 * kKi}},
    {120, {1024, 1536, 48, 24, 64 * kKi, 256, kWarp, 4, 100 * kKi, 128, 1 * kKi}},
};

constexpr int64_t round_up(int64_t value, int64_t unit) {
  return unit > 1 ? (value + unit - 1) / unit * unit : value;
}

int blocks_by_registers(const OccupancyLimits& l, int64_t warps_per_block, int registers) {
  if (registers <= 0) return l.blocks;
  const int64_t warp_unit = std::max(1, l.warp_unit);
  int64_t blocks = 0;
  if (l.register_granularity == kBlock) {
    const int64_t warps = round_up(warps_per_block, warp_unit);
    blocks = l.registers / round_up(warps * kThreadsPerWarp * registers, l.register_unit);
  } else {
    const int64_t warps = l.registers / round_up(int64_t{kThreadsPerWarp} * registers, l.register_unit);
    blocks = warps / warp_unit * warp_unit / warps_per_block;
  }
  return static_cast<int>(std::min<int64_t>(blocks, l.blocks));
}

int blocks_by_shared(const OccupancyLimits& l, int64_t shared_bytes) {
  const int64_t bytes = round_up(std::max<int64_t>(0, shared_bytes) + l.reserved_shared_bytes, l.shared_unit);
  if (bytes == 0) return l.blocks;
  return static_cast<int>(std::min<int64_t>(l.shared_bytes / bytes, l.blocks));
}

}  // namespace

std::optional<OccupancyLimits> occupancy_limits(int capability) {
  const auto row = std::find_if(std::begin(kCapabilities), std::end(kCapabilities),
                                [&](const CapabilityRow& r) { return r.capability == capability; });
  if (row == std::end(kCapabilities)) return std::nullopt;
  return row->limits;
}

Occupancy compute_occupancy(const OccupancyLimits& limits, int threads_per_block, int registers,
                            int64_t shared_bytes) {
  Occupancy result;
  if (threads_per_block <= 0 || threads_per_block > limits.max_threads_per_block) {
    result.limiter = "threads";
    return result;
  }
  const int warps_per_block = (threads_per_block + kThreadsPerWarp - 1) / kThreadsPerWarp;
  result.blocks_by_blocks = limits.blocks;
  result.blocks_by_warps = std::min(limits.blocks, limits.warps / warps_per_block);
  result.blocks_by_threads = std::min(limits.blocks, limits.threads / threads_per_block);
  result.blocks_by_registers = blocks_by_registers(limits, warps_per_block, registers);
  result.blocks_by_shared = blocks_by_shared(limits, shared_bytes);
  result.blocks_per_sm = result.blocks_by_blocks;
  result.limiter = "blocks";
  const auto limit = [&](int blocks, const char* name) {
    if (blocks >= result.blocks_per_sm) return;
    result.blocks_per_sm = blocks;
    result.limiter = name;
  };
  limit(result.blocks_by_warps, "warps");
  limit(result.blocks_by_threads, "threads");
  limit(result.blocks_by_registers, "registers");
  limit(result.blocks_by_shared, "shared memory");
  result.warps = result.blocks_per_sm * warps_per_block;
  result.fraction = limits.warps > 0 ? static_cast<double>(result.warps) / limits.warps : 0.0;
  return result;
}

}  // namespace gpusim::isa
