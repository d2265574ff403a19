#include "analysis/models/energy/dvfs.h"

#include "simcore/config/clock_points.h"

namespace gpusim::analysis::energy {

using core::PowerDomain;

Dvfs::Dvfs(const Run& base) : base_(base) {
  for (const KernelLaunch& k : base.kernels) parts_.push_back(clock_parts(*base.recording, k.kernel));
}

Clocks Dvfs::clocks_at(int64_t core_khz) const {
  const core::MachineConfig::Clocks& config = base_.recording->machine().clocks;
  Clocks clocks = base_.clocks;
  clocks[0] = core_khz;
  if (config.interconnect_follows) clocks[1] = base_.clocks[1] * core_khz / base_.clocks[0];
  if (const auto points = core::parse_clock_points(config.dram_follows); points && !points->empty())
    clocks[2] = core::dram_clock_beside(*points, core_khz, base_.clocks[2]);
  return clocks;
}

Beyond Dvfs::beyond_at(const KernelRecord& kernel, const Clocks& clocks) const {
  const core::MachineConfig& machine = base_.recording->machine();
  const auto slower = [&](size_t domain) {
    return static_cast<double>(base_.clocks[domain]) / static_cast<double>(clocks[domain]);
  };
  const auto counter = [&kernel](std::string_view name) {
    const auto at = kernel.counters.find(name);
    return at == kernel.counters.end() ? 0.0 : at->second;
  };
  const double network = slower(1), dram = slower(2);
  Beyond beyond;
  // Whichever of them the data wait for: the memory's buses, if these are busy for more than half of the
  // time.
  beyond.memory = counter("dram_bus_utilization") > 0.5 ? dram : network;
  if (!machine.clocks.latencies_follow) return beyond;
  const double reads = counter("l2_read_sectors");
  const double misses = reads > 0 ? 1 - counter("l2_read_hit_sectors") / reads : 1;
  const auto& net = machine.interconnect;
  const double to_l2 =
      net.request_latency_ns + net.reply_latency_ns + machine.l2.latency_ns + machine.l2.hit_latency_ns;
  const double in_dram = misses * machine.dram.latency_ns;
  if (to_l2 + in_dram > 0) beyond.latency = (to_l2 * network + in_dram * dram) / (to_l2 + in_dram);
  return beyond;
}

Forecast Dvfs::at(const Clocks& clocks) const {
  const core::MachineConfig& machine = base_.recording->machine();
  Forecast f;
  f.core_khz = clocks[0];
  for (size_t i = 0; i < base_.kernels.size(); ++i) {
    const KernelLaunch& k = base_.kernels[i];
    KernelForecast one;
    const double hz = static_cast<double>(clocks[0]) * 1e3;
    one.beyond = beyond_at(k.kernel, clocks);
    one.seconds = parts_[i].seconds_at(hz, one.beyond);
    one.bounds = parts_[i].bounds_at(hz, one.beyond);
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
