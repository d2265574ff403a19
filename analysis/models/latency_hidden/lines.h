// Lines and JSON of one kernel that a prediction with and one without a recorded run have in common.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/models/latency_hidden/advice.h"
#include "analysis/models/latency_hidden/breakdown.h"

namespace gpusim::analysis::latency_hidden {

/// "line 12 `add.f32 ...`".
[[nodiscard]] std::string place_of(const Code& code, uint32_t pc);
/// Cycles as time and as rate of `flops`; with the relative error, if there is one.
[[nodiscard]] std::string time_line(const std::string& what, double cycles, double core_hz, double flops,
                                    std::optional<double> error);
/// Blocks of an SM, rounds and segments.
[[nodiscard]] std::string rounds_lines(const Subject& subject, const Estimate& estimate, const char* counted);
/// `simulated`: with the columns of a recorded run.
[[nodiscard]] std::string segment_lines(const Code& code, const Breakdown& breakdown, bool simulated);
[[nodiscard]] std::string factor_and_changes(const Estimate& estimate, const std::vector<Change>& changes);

/// "occupancy", "rounds", "full_rounds", "segment_count", "factor", "exposed", "latency".
[[nodiscard]] std::string rounds_json(const Subject& subject, const Estimate& estimate);
/// Elements of lists.
[[nodiscard]] std::string segments_json(const Code& code, const Breakdown& breakdown, bool simulated);
[[nodiscard]] std::string changes_json(const Estimate& estimate, const std::vector<Change>& changes);

}  // namespace gpusim::analysis::latency_hidden
