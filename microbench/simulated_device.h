// A Device that is a simulated machine. SystemC elaborates once per process, so each program runs in a child
// process of its own, which answers through a pipe. The calling process must have a single thread.
#pragma once
#include "microbench/device.h"
#include "simcore/config/machine_config.h"

namespace gpusim::microbench {

class SimulatedDevice : public Device {
 public:
  /// `parallel`: children that run at the same time, at least 1.
  SimulatedDevice(core::MachineConfig machine, unsigned parallel);

  [[nodiscard]] const DeviceProperties& properties() const override { return properties_; }
  [[nodiscard]] std::vector<Outcome> run(std::span<const Program> programs) override;
  /// Programs that were run.
  [[nodiscard]] uint64_t runs() const { return runs_; }

 private:
  core::MachineConfig machine_;
  DeviceProperties properties_;
  unsigned parallel_;
  uint64_t runs_ = 0;
};

}  // namespace gpusim::microbench
