// Text files as a whole: configurations, launch files, measurements, PTX, traces.
#pragma once
#include <cstddef>
#include <string>

namespace gpusim::core {

inline constexpr size_t kMaxDocumentBytes = 4u << 20;

inline constexpr size_t kMaxPtxBytes = 256u << 20;
inline constexpr size_t kMaxTraceBytes = size_t{4} << 30;

/// Whole content of a regular file of at most so many bytes; throws InputError naming the reason. Folders,
/// devices and pipes are refused before they are opened, for they may have no end.
[[nodiscard]] std::string read_text_file(const std::string& path, size_t most_bytes = kMaxDocumentBytes);

}  // namespace gpusim::core
