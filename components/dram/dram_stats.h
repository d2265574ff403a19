// Counts of a DRAM channel.
#pragma once
#include "simcore/stats/counters.h"

namespace gpusim::comp {

// The three row counters add up to the number of requests (an atomic is one).
#define GPUSIM_DRAM_COUNTERS(COUNTER)                                                                  \
  COUNTER(reads, "", "1", "requests to read")                                                          \
  COUNTER(writes, "", "1", "requests to write")                                                        \
  COUNTER(read_bytes, "dram_read_bytes", "bytes", "read from DRAM")                                    \
  COUNTER(write_bytes, "dram_write_bytes", "bytes", "written to DRAM")                                 \
  COUNTER(activates, "dram_activates", "1", "rows opened")                                             \
  COUNTER(precharges, "dram_precharges", "1", "rows closed, but for refreshes")                        \
  COUNTER(row_hits, "dram_row_hits", "1", "requests served by a row that was open already")            \
  COUNTER(row_misses, "dram_row_misses", "1", "requests whose bank had no row open")                   \
  COUNTER(row_conflicts, "dram_row_conflicts", "1", "requests for which another row had to be closed") \
  COUNTER(refreshes, "dram_refreshes", "1", "refreshes, all channels")                                 \
  COUNTER(turnarounds, "dram_turnarounds", "1", "changes of the data bus between reading and writing") \
  COUNTER(busy_clocks, "", "DRAM clocks", "in which the data bus moves data")                          \
  COUNTER(row_clocks, "", "DRAM clocks", "in which it waits for a row")                                \
  COUNTER(turnaround_clocks, "", "DRAM clocks", "in which it changes its direction")                   \
  COUNTER(refresh_clocks, "", "DRAM clocks", "in which it waits for a refresh")

struct DramStats {
  GPUSIM_COUNTERS(DramStats, GPUSIM_DRAM_COUNTERS)
};

}  // namespace gpusim::comp
