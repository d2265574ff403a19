// The time series of a kernel: what has been counted between two samples.
#pragma once
#include <cstdint>

#include "components/dram/dram_stats.h"
#include "components/power/power_model.h"
#include "components/simulation/gpu.h"
#include "components/sm/sm_stats.h"
#include "simcore/record/recorder.h"

namespace gpusim::comp {

class TimeSeries {
 public:
  /// Of a kernel that begins now. `table`: null if the run does not record it.
  TimeSeries(const KernelLaunch& run, const Gpu& gpu, core::EventTable* table);

  /// One row: the interval from the last one to core cycle `now`, if that is later.
  void sample(const PowerModel& power, uint64_t now);
  [[nodiscard]] static core::TableSchema schema();

 private:
  const KernelLaunch* run_;
  const Gpu* gpu_;
  core::EventTable* table_;
  SmStats sms_;
  DramStats dram_;
  uint64_t cycle_;
  core::Femtoseconds time_fs_;
  double joules_ = 0;
};

}  // namespace gpusim::comp
