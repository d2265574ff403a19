// How many blocks of a kernel fit one SM: the CUDA occupancy calculation, with the allocation rules of every
// compute capability (by block on 1.x, by warp from 2.0). Used by the block dispatcher and by the analytical
// models. Figures: CUDA programming guide, "Technical specifications per compute capability", and the CUDA
// occupancy calculator.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace gpusim::isa {

enum class AllocationGranularity : uint8_t { kBlock, kWarp };

/// Limits of one SM.
struct OccupancyLimits {
  int max_threads_per_block = 512;
  int threads = 1024;  ///< resident
  int warps = 32;
  int blocks = 8;
  int64_t registers = 16384;  ///< 32-bit
  int register_unit = 512;    ///< registers are handed out in multiples of this, per block or per warp
  AllocationGranularity register_granularity = AllocationGranularity::kBlock;
  int warp_unit = 2;  ///< warps count in multiples of this when registers are handed out
  int64_t shared_bytes = 16384;
  int shared_unit = 512;          ///< bytes
  int reserved_shared_bytes = 0;  ///< the system takes these from each block's share (1 KiB from 8.0)
};

/// Result; a limit that does not apply (no shared memory used, ...) counts as the SM's block limit.
struct Occupancy {
  int blocks_per_sm = 0;  ///< 0: the block cannot run at all
  int warps = 0;          ///< resident warps
  double fraction = 0;    ///< resident warps / the SM's warps
  std::string
      limiter;  ///< "blocks", "warps", "threads", "registers", "shared memory"; first of these on a tie
  int blocks_by_blocks = 0, blocks_by_warps = 0, blocks_by_threads = 0, blocks_by_registers = 0,
      blocks_by_shared = 0;
};

/// Limits of a compute capability given as 10 x major + minor (13 is 1.3); nothing if it is not known.
[[nodiscard]] std::optional<OccupancyLimits> occupancy_limits(int capability);

/// `threads_per_block` threads, `registers` 32-bit registers per thread, `shared_bytes` static + dynamic
/// bytes per block. Negative or zero threads, and blocks that exceed a limit, give 0 blocks.
[[nodiscard]] Occupancy compute_occupancy(const OccupancyLimits& limits, int threads_per_block, int registers,
                                          int64_t shared_bytes);

}  // namespace gpusim::isa
