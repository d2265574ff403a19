// The work of a hardware run, simulated.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "correlate/hardware_file.h"
#include "simcore/config/machine_config.h"

namespace gpusim::correlate {

/// One launch.
struct SimulatedKernel {
  std::string name;
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  double cycles = 0;         ///< core cycles, launch included
  double clock_buffer = -1;  ///< what its own clock reads say; -1: it has none
};

struct SimulatedRun {
  std::string failure;          ///< why there is nothing else; empty: it ran
  bool program_failed = false;  ///< it started, and the simulated program failed
  double flops = 0;             ///< the application's, as its launch file says
  double core_hz = 0;           ///< clock in which its cycles are counted
  double empty_cycles = 0;      ///< of the machine: a kernel of one block that does nothing
  double gap_cycles = 0;        ///< and what passes between a kernel and the next of its stream
  /// Average over its kernels' time, and over what was measured between them; 0: the machine has no energies.
  double power_w = 0;
  std::string stall;  ///< of the kernel that takes most time: what most issue slots are lost to
  std::vector<std::pair<std::string, double>> counters;  ///< those that the hardware run has
  std::vector<SimulatedKernel> kernels;
  std::vector<BufferHash> buffers;
};

/// Simulates each run that has something to compare with, on the machine of its place in `machines`, at most
/// `parallel` at the same time; the others stay empty. Throws nothing for a run that cannot be simulated: its
/// `failure` says why.
[[nodiscard]] std::vector<SimulatedRun> simulate_runs(const HardwareFile& file,
                                                      const std::vector<core::MachineConfig>& machines,
                                                      unsigned parallel);

}  // namespace gpusim::correlate
