// The points of a study: each workload on each machine with each combination of the axes' values that the
// constraints allow.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "components/simulation/simulation_options.h"
#include "simcore/config/machine_config.h"
#include "study/identity.h"
#include "study/study_file.h"

namespace gpusim::study {

inline constexpr size_t kMostPoints = 1'000'000;

/// A place in the study: indices into its lists.
struct Point {
  uint32_t machine = 0, workload = 0;
  std::vector<uint32_t> values;  ///< of each axis
  friend bool operator==(const Point&, const Point&) = default;
};
/// In the order of machines, workloads, first axis, ...; the last axis changes fastest. Throws
/// core::InputError if there are none, more than kMostPoints, or a constraint cannot be computed.
[[nodiscard]] std::vector<Point> points_of(const Study& study);

/// "spmv on tesla_v100, l1_size=32K, mshrs=64"
[[nodiscard]] std::string point_text(const Study& study, const Point& point);

/// A point with its inputs read, ready to be simulated.
struct PreparedPoint {
  comp::SimulationOptions options;
  Identity identity;
  double sram_kib = 0;  ///< registers, first-level caches with shared memory, L2 of the whole chip
};
/// Throws core::InputError if the machine, program or launch file is wrong at this point.
[[nodiscard]] PreparedPoint prepare(const Study& study, const Point& point,
                                    std::span<const std::string> config_folders, const std::string& program);

/// The machine of a point, at its clocks. Throws core::InputError if there is no such machine, or if it has
/// fewer SMs than the point asks for.
[[nodiscard]] core::MachineConfig machine_at(const Study& study, const Point& point,
                                             std::span<const std::string> config_folders);

/// The launch file of a workload: beside its PTX where none is named.
[[nodiscard]] std::string launch_file_of(const Workload& workload);

/// KiB of SRAM on the chip, as a proxy of area.
[[nodiscard]] double sram_kib(const core::MachineConfig& machine, uint32_t sms);

}  // namespace gpusim::study
