// The time series of a kernel: what has been counted between two samples.
#pragma once
#include <cstdint>

#include "components/dram/dram_stats.h"
#include "components/power/power_model.h"
#include "components/simulation/gpu.h"
#include "components/sm/sm_stats.h"
#include "simcore/record/event_table.h"

namespace gpusim::comp {

#define GPUSIM_SERIES_ROW(COLUMN)                                                              \
  COLUMN(uint64_t, cycle, "core cycles", "end of the interval")                                \
  COLUMN(uint64_t, warp_instructions, "1", "PTX instructions executed by warps")               \
  COLUMN(uint64_t, inst_issued, "1", "machine operations issued, replays included")            \
  COLUMN(uint64_t, active_warp_cycles, "core cycles",                                          \
         "resident warps integrated over cycles, booked when a block starts or ends")          \
  COLUMN(uint64_t, load_bytes, "bytes", "transferred by global and local load transactions")   \
  COLUMN(uint64_t, store_bytes, "bytes", "transferred by global and local store transactions") \
  COLUMN(uint64_t, dram_read_bytes, "bytes", "read from DRAM")                                 \
  COLUMN(uint64_t, dram_write_bytes, "bytes", "written to DRAM")                               \
  COLUMN(uint64_t, core_clock, "kHz", "core clock at the end of the interval")                 \
  COLUMN(double, energy, "J", "of the board; 0 on a machine without [energy]")                 \
  COLUMN(double, power, "W", "the same by the interval's time")
/// timeseries: one row of differences since the row before.
struct SeriesRow {
  GPUSIM_EVENT(
      SeriesRow, "timeseries",
      "differences between samples; cycle is the end of the interval, counted from the kernel's start",
      core::EventLevel::kSummary, GPUSIM_SERIES_ROW)
};

class TimeSeries {
 public:
  /// Of a kernel that begins now. `table`: null if the run does not record it.
  TimeSeries(const KernelLaunch& run, const Gpu& gpu, core::EventTable<SeriesRow>* table);

  /// One row: the interval from the last one to core cycle `now`, if that is later.
  void sample(const PowerModel& power, uint64_t now);

 private:
  const KernelLaunch* run_;
  const Gpu* gpu_;
  core::EventTable<SeriesRow>* table_;
  SmStats sms_;
  DramStats dram_;
  uint64_t cycle_;
  core::Femtoseconds time_fs_;
  double joules_ = 0;
};

}  // namespace gpusim::comp
