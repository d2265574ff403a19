// Small helpers on what kernels write about their time.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

namespace gpusim::microbench {

/// Clocks from the first start to the last end; `pairs`: before and after, of each warp. Clock registers have
/// 32 bits and may pass zero in between.
[[nodiscard]] inline double elapsed(std::span<const uint32_t> pairs) {
  uint32_t longest = 0;
  const uint32_t origin = pairs.empty() ? 0 : pairs[0];
  int32_t first = 0;
  for (size_t i = 0; i < pairs.size(); i += 2)
    first = std::min(first, static_cast<int32_t>(pairs[i] - origin));
  for (size_t i = 1; i < pairs.size(); i += 2)
    longest = std::max(longest, pairs[i] - origin - static_cast<uint32_t>(first));
  return longest;
}

}  // namespace gpusim::microbench
