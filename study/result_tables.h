// The results of a study as files: results.csv, a row for each launch of each point with every counter, and
// results.h5 with the tables /points and /kernels (docs/study.md). Both depend on the results alone, not on
// who simulated what when.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "study/points.h"
#include "study/run_points.h"

namespace gpusim::study {

/// A column of numbers of a point. NaN where the point has none.
/// `name`: time_s, cycles, energy_j, energy_delay, sram_kib, warp_instructions, or a counter, which is summed
/// over the point's kernels. Rates have no sum: a point with several kernels has none of them.
[[nodiscard]] double column_value(const PointResult& result, std::string_view name);
/// Throws core::InputError if a complete point cannot be compared by the study's objective: it is a rate and
/// the point has several kernels, or the machine of a study of one machine does not count it.
void check_objective(const Study& study, const Point& point, const PointResult& result);
/// All names that column_value() knows of these results, for hints.
[[nodiscard]] std::vector<std::string> column_names(std::span<const PointResult> results);

/// A cell of a CSV file, in quotes if it needs them.
[[nodiscard]] std::string csv_text(const std::string& text);
[[nodiscard]] std::string results_csv(const Study& study, std::span<const Point> points,
                                      std::span<const PointResult> results);
/// Throws core::InputError with the reason.
void write_results_hdf5(const std::string& path, const Study& study, std::span<const Point> points,
                        std::span<const PointResult> results);

}  // namespace gpusim::study
