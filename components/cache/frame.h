// What a cache knows of the line in one of its frames.
#pragma once
#include <cstdint>

namespace gpusim::comp {

/// One bit per sector of a line, the lowest address first.
using SectorMask = uint32_t;

struct Frame {
  SectorMask valid = 0;
  SectorMask dirty = 0;
  SectorMask pending = 0;  ///< asked for; a line with any is not replaced
  [[nodiscard]] bool replaceable() const { return pending == 0; }
};

}  // namespace gpusim::comp
