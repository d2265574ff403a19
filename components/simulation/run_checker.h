// --check in a whole run: what the checks know of device memory, and what they found.
#pragma once
#include <memory>

#include "components/checker/checker.h"
#include "components/simulation/device_contents.h"
#include "components/simulation/simulation_options.h"
#include "components/simulation/simulation_result.h"

namespace gpusim::comp {

/// Null for a run without --check.
[[nodiscard]] std::unique_ptr<Checker> make_checker(const SimulationOptions& options,
                                                    const DeviceContents& contents);
/// The host has written these bytes of device memory; `checker` may be null.
void note_written(Checker* checker, uint64_t address, uint64_t bytes);
/// Bytes of device memory have been copied to others: those that had no value have none there.
void note_copied(Checker* checker, uint64_t from, uint64_t to, uint64_t bytes);
void collect_findings(const Checker& checker, SimulationResult& result);

}  // namespace gpusim::comp
