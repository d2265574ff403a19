// What --check found, for people and as JSON (docs/checking.md).
#pragma once
#include <string>

#include "components/simulation/simulation.h"

namespace gpusim::cli {

/// One message per finding, the first 100 of them, and a summary line.
[[nodiscard]] std::string check_report(const comp::Simulation& simulation,
                                       const comp::SimulationResult& result);
/// The value of "checks" in the JSON report.
[[nodiscard]] std::string check_json(const comp::Simulation& simulation,
                                     const comp::SimulationResult& result);

}  // namespace gpusim::cli
