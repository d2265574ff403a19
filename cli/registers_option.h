// --registers: what a real compiler's code takes, in place of our estimate.
#pragma once
#include <string>
#include <vector>

#include "components/simulation/simulation_options.h"

namespace gpusim::cli {

/// Gives the launches as many registers per thread as the values say, each `ptxas` (NVIDIA's assembler on the
/// PATH is asked, for the machine's compute capability) or KERNEL=N, which goes before what ptxas says. A
/// launch whose launch file gives registers keeps them. Returns the values as KERNEL=N, without ptxas, so
/// that another run does not need it. Throws core::InputError.
std::vector<std::string> take_registers(const std::vector<std::string>& values, comp::SimulationOptions& run);

}  // namespace gpusim::cli
