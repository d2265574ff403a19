// A recorded run as it can be simulated again: its machine, program and launches from the file, the other
// options from its canonical command line.
#pragma once
#include <string>

#include "analysis/recording/recording.h"
#include "components/simulation/simulation_options.h"
#include "study/prove.h"

namespace gpusim::cli {

/// `launch_file` stands for the recorded launch file where that names other files, which a recording does not
/// hold; empty: they are looked for in the present folder. Throws core::InputError if the run cannot be
/// repeated.
[[nodiscard]] comp::SimulationOptions recorded_run(const analysis::Recording& recording,
                                                   const std::string& launch_file);

/// study::prove() of a recorded run of `cycles` with its progress on standard error. `threads` 0: as many as
/// there are processors. Ctrl-C ends it with what there is.
[[nodiscard]] study::Proof proved(const comp::SimulationOptions& run, unsigned threads, uint64_t cycles);

}  // namespace gpusim::cli
