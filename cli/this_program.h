// What commands that keep results need to know of the running program.
#pragma once
#include <string>

namespace gpusim::cli {

/// Version and the linker's hash of the program (or SHA-256 of its file): another build may give other
/// results.
[[nodiscard]] std::string program_identity();

/// Processors of this computer, at least 1.
[[nodiscard]] unsigned processors();

}  // namespace gpusim::cli
