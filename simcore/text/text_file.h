// Small text files: configurations, launch files, measurements.
#pragma once
#include <cstddef>
#include <string>

namespace gpusim::core {

inline constexpr size_t kMaxDocumentBytes = 4u << 20;

/// Whole content of a small text file; throws InputError naming the reason. Folders and devices are refused.
[[nodiscard]] std::string read_text_file(const std::string& path);

}  // namespace gpusim::core
