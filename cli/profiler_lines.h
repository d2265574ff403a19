// The run summary's profiler metrics, by nvprof's names and definitions (analysis/profile/metric_table.cpp),
// computed from the file that the run has just recorded.
#pragma once
#include <string>
#include <vector>

namespace gpusim::cli {

/// The values for each of the first `kernels` launches, in lines of at most `width` characters of which the
/// first `indent` are taken already (spaces, from the second line on); metrics without a value for the
/// machine or kernel are left out. Throws core::RecordError if the file cannot be read.
[[nodiscard]] std::vector<std::string> profiler_lines(const std::string& file, size_t kernels, size_t width,
                                                      size_t indent);

}  // namespace gpusim::cli
