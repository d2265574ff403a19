// How large the buffers of a launch file have to be, found out by running it for values only (`gpusim init`).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpusim::cli {

/// Elements up to the last one that any kernel reaches, by buffer of the launch file `text`, whose buffers
/// must be large enough. Nothing if a kernel fails, takes more than `most_operations` warp operations, or if
/// the file cannot be run.
[[nodiscard]] std::optional<std::vector<uint64_t>> reached_elements(const std::string& ptx,
                                                                    const std::string& ptx_text,
                                                                    const std::string& text,
                                                                    uint64_t most_operations);

}  // namespace gpusim::cli
