// What `gpusim metrics` and `gpusim explain` print about one kernel: for people, or as a JSON object (without
// a new line at its end).
#pragma once
#include <span>
#include <string>

#include "analysis/profile/explain.h"
#include "analysis/profile/metrics.h"

namespace gpusim::analysis {

/// "kernel 0 name  grid 1,1,1  block 32,1,1", with a new line.
[[nodiscard]] std::string kernel_title(const KernelRecord& kernel);

/// "line 12 `ld.global ...` (k.cu:3)"; of a linked program "a.ptx:12 `ld.global ...`".
[[nodiscard]] std::string statement_place(const Table& per_pc, uint64_t pc);
/// The same of a line of the source, with how many other statements of the PTX it has.
[[nodiscard]] std::string place_words(const Table& per_pc, const CodePlace& place);
/// An access to local memory that no statement of the PTX makes: a register that was spilled.
[[nodiscard]] bool is_spill(const Table& per_pc, uint64_t pc);

[[nodiscard]] std::string metrics_text(const KernelRecord& kernel, std::span<const MetricValue> values);
[[nodiscard]] std::string metrics_json(const KernelRecord& kernel, std::span<const MetricValue> values);

/// The kernel, its time and its limiter: the first lines of explanation_text().
[[nodiscard]] std::string explanation_head(const KernelRecord& kernel, const core::MachineConfig& machine,
                                           const Explanation& explanation);
[[nodiscard]] std::string explanation_text(const KernelRecord& kernel, const core::MachineConfig& machine,
                                           const Explanation& explanation);
[[nodiscard]] std::string explanation_json(const KernelRecord& kernel, const core::MachineConfig& machine,
                                           const Explanation& explanation);

}  // namespace gpusim::analysis
