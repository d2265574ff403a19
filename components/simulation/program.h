// The program of a run: its PTX files, read, verified and linked.
#pragma once
#include <string>
#include <vector>

#include "components/simulation/simulation_options.h"
#include "isa/ptx/diagnostics.h"
#include "isa/ptx/module.h"

namespace gpusim::comp {

/// Tells the warnings of a list of diagnostics; throws its errors as a core::InputError. `files`: names by
/// SourceLoc::file.
void report_diagnostics(const isa::Diagnostics& diagnostics, const std::vector<std::string>& files,
                        const SimulationOptions& options);

/// Throws core::InputError for what is wrong with the text, and for a program that the machine cannot run.
[[nodiscard]] isa::Module load_program(const SimulationOptions& options);

}  // namespace gpusim::comp
