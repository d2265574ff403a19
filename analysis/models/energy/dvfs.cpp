#include "analysis/models/energy/dvfs.h"

namespace gpusim::analysis::energy {

using core::PowerDomain;

Dvfs::Dvfs(const Run& base) : base_(base) {
  for (const KernelLaunch& k : base.kernels) parts_.push_back(clock_parts(*base.recording, k.kernel));
}

Forecast Dvfs::at(int64_t core_khz) const {
  const core::MachineConfig& machine = base_.recording->machine();
  Forecast f;
  f.core_khz = core_khz;
  Clocks clocks = base_.clocks;
  clocks[0] = core_khz;
  for (size_t i = 0; i < base_.kernels.size(); ++i) {
    const KernelLaunch& k = base_.kernels[i];
    KernelForecast one;
    one.seconds = parts_[i].seconds_at(static_cast<double>(core_khz) * 1e3);
    one.joules = scaled_energy(k.joules, machine, {base_.clocks, k.seconds}, {clocks, one.seconds});
    f.kernel_seconds += one.seconds;
    f.kernel_energy += core::total(one.joules);
    f.kernels.push_back(one);
  }
  f.elapsed = base_.elapsed - base_.kernel_seconds() + f.kernel_seconds;
  f.system_energy = system_energy(machine, f.kernel_energy, f.kernel_seconds, f.elapsed);
  return f;
}

PemKernel pem_kernel(const Run& base, size_t kernel) {
  const KernelLaunch& k = base.kernels[kernel];
  PemKernel p;
  p.path = critical_path(*base.recording, k.kernel);
  p.steps = {p.path.computing, p.path.accesses, p.path.barriers};
  p.machine.core_hz = static_cast<double>(base.clocks[0]) * 1e3;
  const double waits = p.steps.memory + p.steps.barriers;
  p.machine.access_cycles = waits > 0 ? p.path.waiting / waits : 0;
  if (p.steps.computing > 0)
    p.machine.cycle_energy = core::total(k.joules, PowerDomain::kCore) / p.steps.computing;
  if (p.steps.memory > 0)
    p.machine.access_energy = (k.energy() - core::total(k.joules, PowerDomain::kCore)) / p.steps.memory;
  p.machine.idle_power = base.recording->machine().host.idle_power_w;
  return p;
}

}  // namespace gpusim::analysis::energy
