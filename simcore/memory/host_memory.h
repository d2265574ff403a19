// How much memory this computer can still give to the program.
#pragma once
#include <cstdint>

namespace gpusim::core {

/// Bytes that can be used without the system ending a process for them: what /proc/meminfo calls available,
/// with free swap space, within the limits of the control group (version 2) and of the process (RLIMIT_AS).
/// The largest number where nothing says.
[[nodiscard]] uint64_t available_host_memory();

}  // namespace gpusim::core
