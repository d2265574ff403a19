#include "components/simulation/time_series.h"

#include <cstddef>

#include "components/simulation/kernel_counters.h"

namespace gpusim::comp {

namespace {

/// One row of the time series: differences since the row before.
struct SeriesRow {
  uint64_t cycle;
  uint64_t warp_instructions, inst_issued, active_warp_cycles;
  uint64_t load_bytes, store_bytes, dram_read_bytes, dram_write_bytes;
  uint64_t core_khz;
  double energy_j, power_w;
};

}  // namespace

core::TableSchema TimeSeries::schema() {
  const auto column = [](const char* name, size_t offset, const char* unit, const char* meaning) {
    return core::Column{name, core::ColumnType::kU64, static_cast<uint32_t>(offset), unit, meaning};
  };
  const auto real = [](const char* name, size_t offset, const char* unit, const char* meaning) {
    return core::Column{name, core::ColumnType::kF64, static_cast<uint32_t>(offset), unit, meaning};
  };
  return {
      "timeseries",
      "differences between samples; cycle is the end of the interval, counted from the kernel's start",
      sizeof(SeriesRow),
      {column("cycle", offsetof(SeriesRow, cycle), "core cycles", "end of the interval"),
       column("warp_instructions", offsetof(SeriesRow, warp_instructions), "1",
              "PTX instructions executed by warps"),
       column("inst_issued", offsetof(SeriesRow, inst_issued), "1",
              "machine operations issued, replays included"),
       column("active_warp_cycles", offsetof(SeriesRow, active_warp_cycles), "core cycles",
              "resident warps integrated over cycles, booked when a block starts or ends"),
       column("load_bytes", offsetof(SeriesRow, load_bytes), "bytes",
              "transferred by global and local load transactions"),
       column("store_bytes", offsetof(SeriesRow, store_bytes), "bytes",
              "transferred by global and local store transactions"),
       column("dram_read_bytes", offsetof(SeriesRow, dram_read_bytes), "bytes", "read from DRAM"),
       column("dram_write_bytes", offsetof(SeriesRow, dram_write_bytes), "bytes", "written to DRAM"),
       column("core_clock", offsetof(SeriesRow, core_khz), "kHz", "core clock at the end of the interval"),
       real("energy", offsetof(SeriesRow, energy_j), "J", "of the board; 0 on a machine without [energy]"),
       real("power", offsetof(SeriesRow, power_w), "W", "the same by the interval's time")}};
}

TimeSeries::TimeSeries(const KernelLaunch& run, const Gpu& gpu, core::EventTable* table)
    : run_(&run),
      gpu_(&gpu),
      table_(table),
      dram_(gpu.dram_stats()),
      cycle_(run.start.count()),
      time_fs_(gpu.core_domain().time_of(run.start)) {}

void TimeSeries::sample(const PowerModel& power, uint64_t now) {
  if (table_ == nullptr || now <= cycle_) return;
  const SmStats sms = total_of(*run_);
  const DramStats dram = gpu_->dram_stats();
  const core::ClockDomain& core = gpu_->core_domain();
  const core::Femtoseconds time = core.time_of(core::Cycle(now));
  const double joules = total(power.reading(*run_, time));
  const double seconds = static_cast<double>(time - time_fs_) * 1e-15;
  const SeriesRow row{now - run_->start.count(),
                      sms.warp_instructions - sms_.warp_instructions,
                      sms.inst_issued - sms_.inst_issued,
                      sms.active_warp_cycles - sms_.active_warp_cycles,
                      sms.load_bytes - sms_.load_bytes,
                      sms.store_bytes - sms_.store_bytes,
                      dram.read_bytes - dram_.read_bytes,
                      dram.write_bytes - dram_.write_bytes,
                      core.khz(),
                      joules - joules_,
                      seconds == 0 ? 0 : (joules - joules_) / seconds};
  table_->append(&row);
  sms_ = sms;
  dram_ = dram;
  cycle_ = now;
  time_fs_ = time;
  joules_ = joules;
}

}  // namespace gpusim::comp
