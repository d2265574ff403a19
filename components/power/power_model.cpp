#include "components/power/power_model.h"

#include <algorithm>

#include "components/dram/refresh/dram_refresh.h"

namespace gpusim::comp {

namespace {

uint64_t refreshes_per_interval(Gpu& gpu, const core::MachineConfig::Dram& config) {
  return make_dram_refresh(config, DramTiming(config, gpu.dram_domain()))->per_interval();
}

}  // namespace

PowerModel::PowerModel(Gpu& gpu, const core::MachineConfig& machine)
    : domains_{&gpu.core_domain(), &gpu.interconnect_domain(), &gpu.dram_domain()},
      of_run_{machine.clocks.core_khz, machine.clocks.interconnect_khz, machine.clocks.dram_khz},
      wanted_(of_run_),
      follows_(machine.clocks.interconnect_follows),
      dram_points_(
          core::parse_clock_points(machine.clocks.dram_follows).value_or(std::vector<core::ClockPoint>{})),
      governed_(machine.dvfs.governor != core::Governor::kFixed),
      meter_(machine, refreshes_per_interval(gpu, machine.dram)),
      counts_(gpu, machine) {
  for (size_t d = 0; d < kClocks; ++d)
    domains_[d]->on_change([this, d] {
      ++changes_[d];
      if (!active()) return;
      const auto khz = static_cast<int64_t>(domains_[d]->khz());
      const core::Femtoseconds now = domains_[d]->engine().now_fs();
      meter_.set_clock(static_cast<PowerDomain>(d), khz, now, {});
      for (Open& kernel : open_)
        kernel.meter.set_clock(static_cast<PowerDomain>(d), khz, now, counts_.events(*kernel.run));
    });
}

bool PowerModel::want(size_t domain, int64_t khz) {
  if (wanted_[domain] == khz) return false;
  wanted_[domain] = khz;
  domains_[domain]->change_frequency(static_cast<uint64_t>(khz));
  return true;
}

bool PowerModel::set_clocks(const core::ClockChoice& choice) {
  const auto or_of_run = [this](size_t d, int64_t khz) { return khz == 0 ? of_run_[d] : khz; };
  const int64_t core = governed_ ? wanted_[0] : or_of_run(0, choice.core_khz);
  want(1, choice.interconnect_khz != 0 ? choice.interconnect_khz : interconnect_beside(core));
  want(2, choice.dram_khz != 0 ? choice.dram_khz : dram_beside(core));
  return !governed_ && want(0, or_of_run(0, choice.core_khz));
}

void PowerModel::set_core_clock(int64_t khz) {
  if (follows_) want(1, interconnect_beside(khz));
  want(2, dram_beside(khz));
  want(0, khz);
}

void PowerModel::begin_kernel(const KernelLaunch& run, core::Femtoseconds t) {
  if (!active()) return;
  counts_.begin_kernel(run);
  open_.push_back({&run, meter_});
  open_.back().meter.start(t, counts_.events(run));
}

EnergyAmounts PowerModel::end_kernel(const KernelLaunch& run, core::Femtoseconds t) {
  if (!active()) return {};
  const EnergyAmounts joules = reading(run, t);
  counts_.end_kernel(run);
  open_.erase(std::ranges::find(open_, &run, &Open::run));
  return joules;
}

EnergyAmounts PowerModel::reading(const KernelLaunch& run, core::Femtoseconds t) const {
  if (!active()) return {};
  return std::ranges::find(open_, &run, &Open::run)->meter.reading(t, counts_.events(run));
}

}  // namespace gpusim::comp
