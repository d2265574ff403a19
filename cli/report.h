// What a run prints: the table for people, the JSON object for programs, the progress bar.
#pragma once
#include <chrono>
#include <string>

#include "components/simulation/simulation.h"

namespace gpusim::cli {

/// One JSON object (README, "What it does"), with a final new line. `identity`: what was simulated, as JSON.
[[nodiscard]] std::string json_report(const comp::Simulation& simulation,
                                      const comp::SimulationResult& result, const std::string& identity);
/// The summary table.
[[nodiscard]] std::string table_report(const comp::Simulation& simulation,
                                       const comp::SimulationResult& result);

/// Progress bar on a terminal's stderr, redrawn ten times a second at most; elsewhere, such as in a log file,
/// a line a minute.
class ProgressBar {
 public:
  explicit ProgressBar(bool enabled);
  ~ProgressBar();
  void update(const comp::Progress& progress);
  void clear();

 private:
  bool enabled_, terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_, last_;
};

}  // namespace gpusim::cli
