#include "components/simulation/time_series.h"

#include "components/simulation/kernel_counters.h"

namespace gpusim::comp {

TimeSeries::TimeSeries(const KernelLaunch& run, const Gpu& gpu, core::EventTable<SeriesRow>* table)
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
  table_->append({.cycle = now - run_->start.count(),
                  .warp_instructions = sms.warp_instructions - sms_.warp_instructions,
                  .inst_issued = sms.inst_issued - sms_.inst_issued,
                  .active_warp_cycles = sms.active_warp_cycles - sms_.active_warp_cycles,
                  .load_bytes = sms.load_bytes - sms_.load_bytes,
                  .store_bytes = sms.store_bytes - sms_.store_bytes,
                  .dram_read_bytes = dram.read_bytes - dram_.read_bytes,
                  .dram_write_bytes = dram.write_bytes - dram_.write_bytes,
                  .core_clock = core.khz(),
                  .energy = joules - joules_,
                  .power = seconds == 0 ? 0 : (joules - joules_) / seconds});
  sms_ = sms;
  dram_ = dram;
  cycle_ = now;
  time_fs_ = time;
  joules_ = joules;
}

}  // namespace gpusim::comp
