// Which levels of caches a machine has, how long a hit in each takes, and how much each holds.
#pragma once
#include <cstdint>
#include <functional>

#include "microbench/device.h"
#include "microbench/probe.h"

namespace gpusim::microbench {

/// A level as the probe sees it.
struct Level {
  bool present = false;
  uint32_t hit = 0;       ///< clocks of one load that hits
  uint32_t limit = 0;     ///< one thread: what takes longer missed
  uint64_t capacity = 0;  ///< bytes
};

struct Hierarchy {
  Level l1, l2;
  uint32_t memory = 0;  ///< clocks of one load from DRAM, the fastest seen
};

/// Whether two capacities, in bytes, are one to who asks, and then all between them.
using Alike = std::function<bool(uint64_t least, uint64_t most)>;

/// Finds the levels of global memory. `l1` is what ld.global hits and ld.volatile.global does not. `alike`:
/// how exactly the capacity of `l2` is wanted; null: exactly, which takes several times as long for a large
/// one.
[[nodiscard]] Hierarchy find_hierarchy(Device& device, const Alike& alike = {});

/// Largest footprint, in steps of stride * threads bytes, all of whose loads hit in the last lap; at most
/// `most`, which it returns too if everything hits up to there. `stride` bytes between loads. `filled`: by
/// stores before the first lap, which need no memory; of a level that keeps what is stored.
struct Footprint {
  uint32_t stride = 32;
  uint32_t threads = 1;
  uint32_t laps = 2;
  uint32_t limit = 0;
  uint64_t most = 0;
  bool filled = false;
};
[[nodiscard]] uint64_t largest_that_hits(const Probe& probe, const Footprint& footprint,
                                         const Alike& alike = {});

}  // namespace gpusim::microbench
