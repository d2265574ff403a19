// Counts of the second-level cache.
#pragma once
#include <cstdint>
#include <vector>

#include "simcore/record/recorder.h"

namespace gpusim::comp {

/// Sectors are of 32 bytes; a hit is a sector that was there when its request was taken.
struct L2Stats {
  uint64_t reads = 0, read_hits = 0;
  uint64_t writes = 0, write_hits = 0;  ///< a hit: its line was there
  uint64_t atomics = 0, atomic_hits = 0;
  uint64_t constants = 0, constant_hits = 0;
  uint64_t textures = 0, texture_hits = 0;
  uint64_t far = 0;         ///< replies to the other half of the chip
  uint64_t merged = 0;      ///< requests that joined a line on its way
  uint64_t fills = 0;       ///< sectors that came from DRAM
  uint64_t writebacks = 0;  ///< sectors sent to DRAM ...
  uint64_t written = 0;     ///< ... and acknowledged
  /// Requests that had to wait, by what there was none of when they came.
  uint64_t no_mshr = 0, no_merge = 0, no_way = 0, no_queue = 0, no_reply = 0, no_atomic_unit = 0;
};

/// Sum of `s` onto `sum`.
void add(L2Stats& sum, const L2Stats& s);
/// What happened from `then` to `now`, and what is dirty in the end.
void add_l2_counters(std::vector<core::Counter>& counters, const L2Stats& now, const L2Stats& then,
                     uint64_t dirty_sectors);

}  // namespace gpusim::comp
