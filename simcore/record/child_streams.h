// Streams of a recorded run that are no stream of its program.
#pragma once
#include <cstdint>

namespace gpusim::core {

/// Grids that kernels have launched are in streams from here on: as many as run beside each other, so that no
/// two grids of one stream overlap.
inline constexpr uint32_t kFirstChildStream = 1u << 20;

}  // namespace gpusim::core
