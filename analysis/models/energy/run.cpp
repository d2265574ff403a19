#include "analysis/models/energy/run.h"

#include <fmt/format.h>

#include <cmath>

#include "analysis/profile/quantities.h"
#include "simcore/config/load.h"
#include "simcore/text/input_error.h"

namespace gpusim::analysis::energy {
namespace {

[[noreturn]] void fail(const Recording& recording, const std::string& what) {
  throw core::RecordError(fmt::format("'{}': {}", recording.path(), what));
}

/// The configuration holds the clocks that the command line set.
void read_clocks(const Recording& recording, Run& run) {
  const core::MachineConfig& machine = recording.machine();
  for (const KernelLaunch& k : run.kernels)
    if (!ran_at_own_clock(k.kernel, machine))
      fail(recording, fmt::format("kernel {} ran at other core clocks than the run's; give the run one clock "
                                  "with --core-clock",
                                  k.kernel.index));
  run.clocks = {machine.clocks.core_khz, machine.clocks.interconnect_khz, machine.clocks.dram_khz};
}

double elapsed_of(const Recording& recording, const Run& run) {
  const Table timeline = recording.timeline();
  if (timeline.rows == 0) return run.kernel_seconds();
  uint64_t first = UINT64_MAX, last = 0;
  for (uint64_t i = 0; i < timeline.rows; ++i) {
    first = std::min(first, timeline["start"][i]);
    last = std::max(last, timeline["end"][i]);
  }
  return std::max(run.kernel_seconds(),
                  static_cast<double>(last - first) / (static_cast<double>(run.clocks[0]) * 1e3));
}

}  // namespace

double Run::kernel_seconds() const {
  double sum = 0;
  for (const KernelLaunch& k : kernels) sum += k.seconds;
  return sum;
}

double Run::kernel_energy() const {
  double sum = 0;
  for (const KernelLaunch& k : kernels) sum += k.energy();
  return sum;
}

Run read_run(const Recording& recording, const std::string& selection) {
  Run run;
  run.recording = &recording;
  const std::vector<uint64_t> selected = recording.select(selection);
  run.whole = recording.complete() && selected.size() == recording.launches().size();
  run.has_memory_events = true;
  for (const uint64_t index : selected) {
    if (recording.attribute(index, "kernels_beside") != 0)
      fail(recording, fmt::format("kernel {} ran beside others, and their energy is one", index));
    KernelLaunch k;
    k.kernel = recording.kernel(index);
    k.seconds = kernel_seconds(k.kernel, recording.machine());
    if (k.kernel.cycles == 0 || !(k.seconds > 0))
      fail(recording, fmt::format("kernel {} took no time", index));
    k.joules = recorded_energy(k.kernel);
    for (const uint64_t blocks : k.kernel.per_sm["blocks"]) k.blocks += blocks;
    run.has_memory_events = run.has_memory_events && recording.has_events(index, "memory");
    run.kernels.push_back(std::move(k));
  }
  read_clocks(recording, run);
  run.elapsed = elapsed_of(recording, run);
  return run;
}

namespace {

/// The same but for the core clock, and for what follows it.
bool same_machine(const core::MachineConfig& a, const core::MachineConfig& b) {
  core::MachineConfig x = a, y = b;
  x.clocks.core_khz = y.clocks.core_khz = 0;
  if (x == y) return true;
  x = a;
  try {
    core::set_clocks(x, {b.clocks.core_khz, 0, 0}, {});
  } catch (const core::InputError&) {
    return false;
  }
  return x == b;
}

}  // namespace

bool same_work(const Run& a, const Run& b) {
  if (!same_machine(a.recording->machine(), b.recording->machine()) || a.kernels.size() != b.kernels.size())
    return false;
  for (size_t i = 0; i < a.kernels.size(); ++i) {
    const KernelRecord &one = a.kernels[i].kernel, &other = b.kernels[i].kernel;
    if (one.per_sm.rows != other.per_sm.rows || one.name != other.name || one.grid != other.grid ||
        one.block != other.block || one.warp_instructions != other.warp_instructions)
      return false;
  }
  return true;
}

double system_energy(const core::MachineConfig& machine, double kernel_energy, double kernel_seconds,
                     double elapsed) {
  return kernel_energy + machine.host.idle_power_w * elapsed +
         machine.host.gpu_idle_power_w * (elapsed - kernel_seconds);
}

IdleSide idle_beside(double host_seconds, double gpu_seconds, const core::MachineConfig& machine) {
  IdleSide side;
  side.host = host_seconds < gpu_seconds;
  side.seconds = std::fabs(host_seconds - gpu_seconds);
  side.joules = side.seconds * (side.host ? machine.host.idle_power_w : machine.host.gpu_idle_power_w);
  return side;
}

}  // namespace gpusim::analysis::energy
