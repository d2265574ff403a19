// PTX of the microbenchmarks: the files of workloads/micro, built into the program, and kernels that are
// written for the question at hand (chains of an operation, chases through constant memory).
#pragma once
#include <string>
#include <string_view>

#include "microbench/device.h"

namespace gpusim::microbench {

/// The text of workloads/micro/NAME.ptx, retargeted to the device's own compute capability (2.0 and later),
/// so that operations are those that a compiler would choose for it. `name` is one of the files that
/// CMakeLists.txt lists.
[[nodiscard]] std::string kernel_file(std::string_view name, const DeviceProperties& device);

/// Compute capability x 10 from which on the compiler of a real driver may see what is written here, and must
/// not find a shorter way. Machines before that are only simulated, some with few registers.
inline constexpr int kFirstCompiled = 70;

/// `.version` and `.target` lines for the device.
[[nodiscard]] std::string module_header(const DeviceProperties& device);

}  // namespace gpusim::microbench
