// Counts of the first-level data cache of an SM.
#pragma once
#include <cstdint>

namespace gpusim::comp {

/// What the look-ups of an SM found, in transactions (one line each), and the sectors of 32 bytes that went
/// on.
struct L1Stats {
  uint64_t load_hits = 0, load_misses = 0;  ///< global; a miss merged into an earlier one included
  uint64_t local_load_hits = 0, local_load_misses = 0;
  uint64_t local_store_hits = 0, local_store_misses = 0;  ///< write-back only
  uint64_t merged = 0;                                    ///< misses that joined a line on its way
  uint64_t writebacks = 0;                                ///< lines
  /// Sectors that the second level was asked for by misses and by loads that bypass the cache, and that it
  /// got from stores, write-backs and atomics.
  uint64_t fill_sectors = 0, bypass_sectors = 0, store_sectors = 0, writeback_sectors = 0, atomic_sectors = 0;
  /// Transactions that had to wait, by what there was none of when they came.
  uint64_t no_mshr = 0, no_merge = 0, no_warp_mshr = 0, no_way = 0;
};

}  // namespace gpusim::comp
