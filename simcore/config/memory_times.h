// Times of DRAM that a file gives in cycles of the memory clock.
#pragma once
#include <optional>
#include <set>
#include <span>
#include <string>

#include "simcore/config/machine_config.h"

namespace gpusim::core {

/// Names of the keys of [dram] whose times follow clocks.dram, because the file gives them in memory cycles
/// ("12ck"): those that another memory clock changes. The file and `sets` are as load_machine() takes them.
[[nodiscard]] std::set<std::string> times_in_clocks(const std::string& path_or_name,
                                                    std::span<const std::string> sets,
                                                    std::span<const std::string> search_folders);

/// As show_machine() with comments, where these times stand in memory cycles, so that a file made of it
/// follows clocks.dram as the first one does.
[[nodiscard]] std::string show_machine_with_clocks(const MachineConfig& machine,
                                                   const std::set<std::string>& in_clocks);

/// In words, that bursts of different bank groups do not follow each other without a gap, as happens if the
/// memory clock is raised while their distance is a time. Empty if they do.
[[nodiscard]] std::optional<std::string> slow_bursts(const MachineConfig& machine);

}  // namespace gpusim::core
