#include "simcore/record/event_schema.h"

#include <array>

namespace gpusim::core {
std::string_view memory_level_name(MemoryLevel level) {
  static constexpr std::array<std::string_view, 10> kNames{
      "shared",     "constant_l1", "constant_l2", "constant_l3", "texture_l1",
      "texture_l2", "l1",          "l2",          "dram",        "none"};
  const auto index = static_cast<size_t>(level);
  return index < kNames.size() ? kNames[index] : "?";
}

}  // namespace gpusim::core
