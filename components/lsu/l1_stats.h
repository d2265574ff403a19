// Counts of the L1 data cache of an SM: what look-ups found, in transactions (one line each), and the sectors
// of 32 bytes that went on to the L2.
#pragma once
#include "simcore/stats/counters.h"

namespace gpusim::comp {

#define GPUSIM_L1_COUNTERS(COUNTER)                                                                          \
  COUNTER(load_hits, "l1_global_load_hit", "1", "lines of global loads found in the L1",                     \
          {.reference = "nvprof", .per_sm = "l1_global_load_hit"})                                           \
  COUNTER(load_misses, "l1_global_load_miss", "1", "lines of global loads not found there, or not whole",    \
          {.reference = "nvprof", .per_sm = "l1_global_load_miss"})                                          \
  COUNTER(local_load_hits, "l1_local_load_hit", "1", "lines of local loads found in the L1",                 \
          {.reference = "nvprof"})                                                                           \
  COUNTER(local_load_misses, "l1_local_load_miss", "1",                                                      \
          "lines of local loads not found there, or not whole", {.reference = "nvprof"})                     \
  COUNTER(local_store_hits, "l1_local_store_hit", "1",                                                       \
          "lines of local stores found there, of those that stay", {.reference = "nvprof"})                  \
  COUNTER(local_store_misses, "l1_local_store_miss", "1",                                                    \
          "lines of local stores not found there, of those that stay", {.reference = "nvprof"})              \
  COUNTER(merged, "l1_merged_misses", "1", "of these misses, those on a line that was on its way")           \
  COUNTER(writebacks, "l1_writebacks", "1", "dirty lines replaced")                                          \
  COUNTER(fill_sectors, "l1_fill_sectors", "1", "32-byte sectors asked of the L2 by these misses")           \
  COUNTER(bypass_sectors, "l1_bypass_sectors", "1", "sectors asked of it by loads that bypass the L1")       \
  COUNTER(store_sectors, "l1_store_sectors", "1", "sectors of stores that went on to it")                    \
  COUNTER(writeback_sectors, "l1_writeback_sectors", "1", "sectors of dirty lines that went to it")          \
  COUNTER(atomic_sectors, "l1_atomic_sectors", "1", "sectors of atomics that it performs")                   \
  COUNTER(no_mshr, "l1_wait_mshr", "1", "misses that waited for a free MSHR")                                \
  COUNTER(no_merge, "l1_wait_merge", "1",                                                                    \
          "misses that waited because their line's MSHR had no room for one more")                           \
  COUNTER(no_warp_mshr, "l1_wait_warp_mshr", "1", "misses that waited because their warp had all its MSHRs") \
  COUNTER(no_way, "l1_wait_way", "1", "misses that waited because all lines of their set were on their way")

struct L1Stats {
  GPUSIM_COUNTERS(L1Stats, GPUSIM_L1_COUNTERS)
};

}  // namespace gpusim::comp
