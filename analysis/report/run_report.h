// Recorded runs as one HTML page that needs nothing else: what the runs were, their kernels, and of those
// that took most time where the issue slots went, over time and over SMs, the source with its costs, the
// roofline, what the analytical models say, and the machine.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analysis/recording/recording.h"
#include "analysis/source/annotated_source.h"

namespace gpusim::analysis {

/// A section that others have made, behind those of the runs.
struct ReportSection {
  std::string id, title;  ///< of its heading, for the page's links
  std::string html;
};

struct RunReportOptions {
  size_t kernels = 5;       ///< of each run that are shown in detail: those that took most time
  size_t statements = 40;   ///< and lines of the source of each, those with most slots
  SourceTexts sources{{}};  ///< where the text of source lines is looked for
  /// HTML that follows the kernels of a run: what was found by simulating again; may be empty.
  std::function<std::string(const Recording&)> proof;
  std::vector<ReportSection> further;
};

[[nodiscard]] std::string run_report(std::span<const Recording> recordings, const RunReportOptions& options);

}  // namespace gpusim::analysis
