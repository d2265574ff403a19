// Kernels of workloads/ with counts as a run would have recorded them, for tests.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "analysis/models/latency_hidden/code.h"
#include "analysis/models/latency_hidden/extended.h"
#include "analysis/models/latency_hidden/parameters.h"

namespace gpusim::analysis::latency_hidden::test {

/// The first kernel of a PTX text, lowered for compute capability 1.3; `executed` says how often a warp
/// executes the operation of a PTX line. Memory operations move 128 bytes in two transactions.
[[nodiscard]] Code code_of(const std::string& ptx, const std::function<double(uint32_t line)>& executed,
                           uint32_t registers = 0);
[[nodiscard]] std::string workload_text(const std::string& path);
/// Of the Tesla C1060, from its data sheet.
[[nodiscard]] Parameters c1060();
/// Of round numbers, with one unit.
[[nodiscard]] Parameters plain_machine();
/// Of segments that follow each other.
[[nodiscard]] Workload workload(std::vector<Segment> segments, uint64_t blocks, uint32_t warps,
                                uint32_t per_sm);

}  // namespace gpusim::analysis::latency_hidden::test
