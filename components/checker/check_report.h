// What --check found, for people and as JSON (docs/checking.md).
#pragma once
#include <span>
#include <string>
#include <vector>

#include "components/checker/finding.h"
#include "components/checker/options.h"

namespace gpusim::comp {

/// One finding, in several lines.
[[nodiscard]] std::string finding_text(const Finding& finding);
/// Of these findings the first of each line of the source, with how many others of its kind are there: copies
/// of a statement that a compiler has unrolled.
[[nodiscard]] std::vector<std::string> finding_texts(std::span<const Finding> findings);
/// "check memory: 2 findings, 1048 occurrences".
[[nodiscard]] std::string check_summary(const CheckOptions& checks, size_t findings,
                                        const CheckCounts& counts);
/// One message per line with findings, the first 100 of them, and the summary line.
[[nodiscard]] std::string check_report(const CheckOptions& checks, std::span<const Finding> findings,
                                       const CheckCounts& counts);
/// The value of "checks" in the JSON report.
[[nodiscard]] std::string check_json(const CheckOptions& checks, std::span<const Finding> findings,
                                     const CheckCounts& counts);

}  // namespace gpusim::comp
