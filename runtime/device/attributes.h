// Attributes of the device, by the numbers that the runtime and the driver share.
#pragma once
#include "simcore/config/machine_config.h"

namespace gpusim::runtime {

[[nodiscard]] int device_attribute(const core::MachineConfig& machine, int which);

}  // namespace gpusim::runtime
