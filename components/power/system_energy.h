// What the whole system draws over a run: the board while kernels run (their counter `energy`), the idle
// board while only copies do, and the host, which waits all the time ([host] of the configuration).
#pragma once
#include <optional>

#include "components/simulation/simulation_result.h"
#include "simcore/config/machine_config.h"

namespace gpusim::comp {

struct SystemEnergy {
  double elapsed_s = 0;  ///< from the first launch or transfer to the end of the last
  double kernels_j = 0, idle_board_j = 0, host_j = 0;
  [[nodiscard]] double total() const { return kernels_j + idle_board_j + host_j; }
  /// W, average.
  [[nodiscard]] double power() const { return elapsed_s == 0 ? 0 : total() / elapsed_s; }
};

/// None if the machine has no [energy], the run did not end, or kernels ran at the same time (what they share
/// is in the energy of each).
[[nodiscard]] std::optional<SystemEnergy> system_energy(const SimulationResult& result,
                                                        const core::MachineConfig& machine);

}  // namespace gpusim::comp
