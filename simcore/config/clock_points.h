// A clock that depends on another: pairs of clocks with straight lines between them (clocks.dram_follows).
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "simcore/config/machine_config.h"

namespace gpusim::core {

struct ClockPoint {
  int64_t khz = 0, other_khz = 0;
  friend bool operator==(const ClockPoint&, const ClockPoint&) = default;
};
/// "705MHz 602MHz, 900MHz 877MHz" -> two points, with clocks that rise from each to the next; nothing if it
/// reads otherwise.
[[nodiscard]] std::optional<std::vector<ClockPoint>> parse_clock_points(std::string_view text);

/// The memory's clock in kHz when the core's is `core_khz` and nobody has named the memory's: `dram_khz`, or
/// less if `points` (clocks.dram_follows) say so. Below the first point it is the first one's.
[[nodiscard]] int64_t dram_clock_beside(const std::vector<ClockPoint>& points, int64_t core_khz,
                                        int64_t dram_khz);

}  // namespace gpusim::core
