// Counts of the L2 cache. Sectors are of 32 bytes; a hit is a sector that was there when its request was
// taken.
#pragma once
#include "simcore/stats/counters.h"

namespace gpusim::comp {

#define GPUSIM_L2_COUNTERS(COUNTER)                                                                          \
  COUNTER(reads, "l2_read_sectors", "1", "32-byte sectors that SMs read through the L2")                     \
  COUNTER(read_hits, "l2_read_hit_sectors", "1", "of these, those that were there")                          \
  COUNTER(writes, "l2_write_sectors", "1", "sectors that SMs wrote to the L2")                               \
  COUNTER(write_hits, "l2_write_hit_sectors", "1", "of these, those whose line was there")                   \
  COUNTER(atomics, "l2_atomic_sectors", "1", "sectors of atomic operations at the L2")                       \
  COUNTER(atomic_hits, "l2_atomic_hit_sectors", "1", "of these, those that were there")                      \
  COUNTER(constants, "l2_constant_sectors", "1",                                                             \
          "sectors that the third-level constant cache asked the L2 for")                                    \
  COUNTER(constant_hits, "l2_constant_hit_sectors", "1", "of these, those that were there")                  \
  COUNTER(textures, "l2_texture_sectors", "1", "sectors that texture caches asked the L2 for")               \
  COUNTER(texture_hits, "l2_texture_hit_sectors", "1", "of these, those that were there")                    \
  COUNTER(far, "l2_far_replies", "1", "replies to SMs of the other half of the chip")                        \
  COUNTER(merged, "l2_merged_misses", "1", "requests that waited for a line already on its way from DRAM")   \
  COUNTER(fills, "l2_fill_sectors", "1", "sectors read from DRAM into the L2")                               \
  COUNTER(writebacks, "l2_writeback_sectors", "1",                                                           \
          "dirty sectors that were sent to DRAM: they lost their place, or too many of a set were modified") \
  COUNTER(no_mshr, "l2_wait_mshr", "1", "requests that waited for a free MSHR")                              \
  COUNTER(no_merge, "l2_wait_merge", "1",                                                                    \
          "requests that waited because their line's MSHR had no room for one more")                         \
  COUNTER(no_way, "l2_wait_way", "1",                                                                        \
          "requests that waited because all lines of their set were on their way")                           \
  COUNTER(no_queue, "l2_wait_dram_queue", "1", "requests that waited for room in the queue to DRAM")         \
  COUNTER(no_reply, "l2_wait_reply", "1", "hits that waited because replies could not leave")                \
  COUNTER(no_atomic_unit, "l2_wait_atomic_unit", "1", "atomics that waited for those before them")           \
  COUNTER(no_data, "l2_wait_data", "1", "hits and writes that waited for the port of the slice's data")      \
  COUNTER(written, "", "1", "of the sectors sent to DRAM, those acknowledged")

struct L2Stats {
  GPUSIM_COUNTERS(L2Stats, GPUSIM_L2_COUNTERS)
};

}  // namespace gpusim::comp
