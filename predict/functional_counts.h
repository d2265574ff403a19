// Counts of a program's kernels without a timed run, for the latency-hidden factor model: a functional run
// says what each warp executes and which addresses it asks for, the machine's rules make transactions of
// them, and the reuse-distance model follows them through pages, caches, partitions and rows of DRAM in the
// order of its own clock.
#pragma once
#include <vector>

#include "analysis/models/latency_hidden/functional.h"
#include "components/simulation/simulation_options.h"
#include "simcore/text/input_error.h"

namespace gpusim::predict {

/// Of a kernel's accesses so many warp accesses are followed through memory, in its first blocks.
inline constexpr uint64_t kMostFollowed = 1'000'000;

/// The program has failed, or does not end.
struct ProgramFailed : core::InputError {
  using core::InputError::InputError;
};

/// Runs `options` for values only; `most_followed` as kMostFollowed. Throws ProgramFailed with the reason if
/// the program fails, another core::InputError if it cannot be run.
[[nodiscard]] std::vector<analysis::latency_hidden::FunctionalKernel> functional_counts(
    comp::SimulationOptions options, uint64_t most_followed = kMostFollowed);

}  // namespace gpusim::predict
