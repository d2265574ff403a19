// The reuse-distance model beside what runs recorded: miss rate of the first-level caches' global loads and
// hit rate of the second level's reads.
#pragma once
#include "analysis/model.h"
#include "analysis/reuse_model.h"

namespace gpusim::analysis {

/// Options: "without" (extensions left out, separated by commas), "sm" (the only one modelled), "plot" (an
/// SVG of the misses by kind).
[[nodiscard]] ModelReport analyze_reuse(std::span<const Recording> recordings, const ModelOptions& options);

/// Extensions but those named. Throws core::InputError with the nearest valid name.
[[nodiscard]] ReuseExtensions extensions_without(std::span<const std::string> names);

}  // namespace gpusim::analysis
