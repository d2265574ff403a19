// Attributes of the device, by the numbers that the runtime and the driver share.
#pragma once
#include <cstdint>
#include <optional>

#include "simcore/config/machine_config.h"

namespace gpusim::runtime {

/// Where the device says that it is.
constexpr const char* kPciBusId = "0000:01:00.0";

/// As a program writes it: "domain:bus:device.function", the domain and the function may be missing.
[[nodiscard]] bool is_pci_bus_id(const char* text);

/// Texels of a texture of linear memory; 0 if there are none of so many bits.
[[nodiscard]] size_t linear_texture_width(const core::MachineConfig& machine, int bits);

/// Nothing: there is no attribute of that number.
[[nodiscard]] std::optional<int> device_attribute(const core::MachineConfig& machine, int which);

/// Shared memory of an SM, with what the system takes of it for each block.
[[nodiscard]] uint64_t shared_of_sm(const core::MachineConfig& machine);

// Limits (cudaLimit), by their numbers.
[[nodiscard]] bool has_limit(const core::MachineConfig& machine, int limit);
/// Before the program sets it; nothing: as on every machine.
[[nodiscard]] std::optional<uint64_t> first_limit(const core::MachineConfig& machine, int limit);
/// What it becomes if the program asks for `value`; nothing: that cannot be.
[[nodiscard]] std::optional<uint64_t> limit_value(const core::MachineConfig& machine, int limit,
                                                  uint64_t value);

}  // namespace gpusim::runtime
