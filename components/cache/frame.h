// What a cache knows of the line in one of its frames.
#pragma once
#include <bit>
#include <cstdint>

namespace gpusim::comp {

/// One bit per sector of a line, the lowest address first.
using SectorMask = uint32_t;
/// How many sectors that is.
[[nodiscard]] constexpr uint32_t sectors_in(SectorMask mask) {
  return static_cast<uint32_t>(std::popcount(mask));
}
/// What a message moves for sectors of 32 bytes.
[[nodiscard]] constexpr uint16_t bytes_of(SectorMask mask) {
  return static_cast<uint16_t>(32 * std::popcount(mask));
}

struct Frame {
  SectorMask valid = 0;
  SectorMask dirty = 0;
  SectorMask pending = 0;  ///< asked for; a line with any is not replaced
  [[nodiscard]] bool replaceable() const { return pending == 0; }
};

}  // namespace gpusim::comp
