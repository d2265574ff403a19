// The reuse-distance model beside what runs recorded: miss rate of the L1 caches' global loads and
// hit rate of L2's reads.
#pragma once
#include "analysis/models/model.h"
#include "analysis/models/reuse_distance/model.h"

namespace gpusim::analysis {

/// Options: "without" (extensions left out, separated by commas), "sm" (as for modelled_sm), "plot" (an SVG
/// of the misses by kind).
[[nodiscard]] ModelReport analyze_reuse(std::span<const Recording> recordings, const ModelOptions& options);

/// Extensions but those named. Throws core::InputError with the nearest valid name.
[[nodiscard]] ReuseExtensions extensions_without(std::span<const std::string> names);

/// ReuseOptions::only_sm by its name: the number of an SM of the machine, or "auto" for kOneOfEachKind.
/// Throws core::InputError, which begins with `option`.
[[nodiscard]] int64_t modelled_sm(std::string_view name, std::string_view option,
                                  const core::MachineConfig& machine);

}  // namespace gpusim::analysis
