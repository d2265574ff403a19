// The counters of a kernel as they are reported: what its parts counted (GPUSIM_COUNTERS), and the rates that
// follow.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "components/launch/kernel_launch.h"
#include "components/simulation/machine_stats.h"

namespace gpusim::comp {

/// Sum of `s` onto `sum`, all parts.
void add(SmStats& sum, const SmStats& s);
/// Over the SMs.
[[nodiscard]] SmStats total_of(const KernelLaunch& run);
/// Instructions that its warps would have executed in ptxas' code, if it is known: see
/// KernelImage::instructions.
[[nodiscard]] std::optional<uint64_t> machine_instructions_of(const KernelLaunch& run);

/// What a kernel's rates are computed from.
struct KernelView {
  const core::MachineConfig& machine;
  SmStats sm;                                      ///< over the SMs
  std::optional<uint64_t> machine_instructions{};  ///< that warps of ptxas' code execute (an estimate)
  bool timed = false;                              ///< else only what blocks executed is known
  double cycles = 0;                               ///< core cycles of the kernel
  double clock_hz = 0;                             ///< of the cores, average
  MachineStats shared{};               ///< what all kernels share, between the kernel's start and end
  MachineStats end{};                  ///< of the machine at the end, since the start of the simulation
  uint64_t l2_dirty_sectors = 0;       ///< at the end
  double seconds = 0, bus_clocks = 0;  ///< `bus_clocks`: of the data buses of all channels in that time
};

/// Counters of the SMs.
void report_sms(std::vector<core::Counter>& out, const KernelView& kernel);
/// Counters of what all kernels share.
void report_shared(std::vector<core::Counter>& out, const KernelView& kernel);

/// All counters that some machine has, but for energies, as docs/counters.md lists them.
[[nodiscard]] std::string describe_counters();

/// The names of these counters.
[[nodiscard]] std::vector<std::string_view> counter_names();
/// If a counter has this name on some machine, energies included.
[[nodiscard]] bool is_counter(std::string_view name);
/// False for rates, greatest values and states at a kernel's end: what several kernels have of them has no
/// sum.
[[nodiscard]] bool adds_up(std::string_view name);

}  // namespace gpusim::comp
