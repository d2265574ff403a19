// Attributes of the device, by the numbers that the runtime and the driver share.
#pragma once
#include "simcore/config/machine_config.h"

namespace gpusim::runtime {

/// Where the device says that it is.
constexpr const char* kPciBusId = "0000:01:00.0";

[[nodiscard]] int device_attribute(const core::MachineConfig& machine, int which);

}  // namespace gpusim::runtime
