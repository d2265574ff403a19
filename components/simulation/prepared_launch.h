// A launch of the launch file, checked against machine and kernel and ready to run.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "components/launch/kernel_launch.h"
#include "components/simulation/device_contents.h"
#include "components/simulation/kernel_images.h"
#include "components/simulation/simulation_options.h"

namespace gpusim::comp {

struct PreparedLaunch {
  std::unique_ptr<KernelLaunch> run;
  std::string occupancy_limiter;           ///< what keeps further blocks off an SM
  const core::LaunchSpec* spec = nullptr;  ///< of the launch file
  std::optional<uint32_t> parent;          ///< launch whose kernel has launched it
};

/// The launch with number `id`. Throws core::InputError for what the machine or the kernel does not allow.
[[nodiscard]] PreparedLaunch prepare_launch(const SimulationOptions& options, const core::LaunchSpec& spec,
                                            uint32_t id, const KernelImages::LoweredKernel& kernel,
                                            const DeviceContents& contents);
/// A launch whose parameter block a host program has filled; `spec` must outlive it. One that is not `timed`
/// runs for values only. `sms`: that the run uses; 0: all. Throws core::InputError.
[[nodiscard]] PreparedLaunch prepare_launch(const core::MachineConfig& machine, const core::LaunchSpec& spec,
                                            uint32_t id, const KernelImages::LoweredKernel& kernel,
                                            std::vector<std::byte> params, bool timed, uint32_t sms = 0);
/// The parameter block of a launch, and the values that the image takes from it.
void set_parameters(KernelLaunch& run, std::vector<std::byte> params);

}  // namespace gpusim::comp
