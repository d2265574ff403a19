#include "components/power/governor.h"

#include <algorithm>
#include <cmath>

#include "simcore/config/voltage_curve.h"

namespace gpusim::comp {

namespace {

uint64_t cycles_of(double ns, int64_t khz) {
  return std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(ns * static_cast<double>(khz) / 1e6)));
}

}  // namespace

void SlotUse::add(const SmStats& stats) {
  const auto slots = [&stats](StallCause cause) { return stats.slots[cause]; };
  issued += slots(StallCause::kIssued);
  for (const StallCause cause : kAwaitedCauses) memory += slots(cause);
  memory += slots(StallCause::kMemoryThrottle) + slots(StallCause::kTextureThrottle);
}

Governor::Governor(const sc_core::sc_module_name& name, core::ClockDomain& core, PowerModel& power,
                   const core::MachineConfig& machine, double slots_per_cycle, std::function<SlotUse()> use)
    : sc_module(name),
      power_(power),
      by_memory_(machine.dvfs.governor == core::Governor::kMemoryStall),
      low_(machine.dvfs.low),
      high_(machine.dvfs.high),
      period_ns_(machine.dvfs.period_ns),
      slots_per_cycle_(slots_per_cycle),
      clocks_(core::governor_clocks(machine)),
      use_(std::move(use)) {
  // It begins at its clock next to that of the run.
  const int64_t now = machine.clocks.core_khz;
  for (size_t i = 1; i < clocks_.size(); ++i)
    if (std::abs(clocks_[i] - now) <= std::abs(clocks_[level_] - now)) level_ = i;
  core.set_alarm(core::Cycle(cycles_of(period_ns_, now)), [this](core::Cycle c) { return decide(c); });
}

size_t Governor::next_level(size_t level, size_t levels, double share, bool by_memory, double low,
                            double high) {
  const bool much = share >= high, little = share < low;
  if (by_memory ? little : much) return std::min(level + 1, levels - 1);
  if (by_memory ? much : little) return level == 0 ? 0 : level - 1;
  return level;
}

core::Cycle Governor::decide(core::Cycle now) {
  const SlotUse use = use_();
  const double slots = slots_per_cycle_ * static_cast<double>(now - last_cycle_);
  const uint64_t counted = by_memory_ ? use.memory - last_.memory : use.issued - last_.issued;
  if (use.kernels != 0) {
    level_ =
        next_level(level_, clocks_.size(), static_cast<double>(counted) / slots, by_memory_, low_, high_);
    power_.set_core_clock(clocks_[level_]);
  }
  last_ = use;
  last_cycle_ = now;
  return now + cycles_of(period_ns_, power_.core_clock());
}

}  // namespace gpusim::comp
