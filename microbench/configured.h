// What a machine's configuration says about the figures of a data sheet. The only place of microbench/ that
// looks at a configuration, and only after everything was measured.
#pragma once
#include "microbench/data_sheet.h"
#include "simcore/config/machine_config.h"

namespace gpusim::microbench {

/// Fills `configured` (and `tolerance`) of the figures that the configuration has a value for.
void add_configured(const core::MachineConfig& machine, DataSheet& sheet);

}  // namespace gpusim::microbench
