// Tables of the whole run in the recorded file (docs/file_format.md).
#pragma once
#include "components/simulation/simulation_result.h"
#include "simcore/config/machine_config.h"
#include "simcore/record/recorder.h"

namespace gpusim::comp {

/// What ran when, once nothing does any more.
void write_timeline(core::Recorder& recorder, const SimulationResult& result);
/// What the run has left in device memory.
void write_fingerprints(core::Recorder& recorder, const SimulationResult& result);
/// What the whole system drew, where that is known.
void write_system(core::Recorder& recorder, const SimulationResult& result,
                  const core::MachineConfig& machine);

}  // namespace gpusim::comp
