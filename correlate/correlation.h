// Simulated cycles against those of a real GPU: a row per kernel, and how far off the machine is in all.
// Definitions in docs/correlate.md.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "correlate/hardware_file.h"
#include "correlate/simulated_run.h"

namespace gpusim::correlate {

enum class Results : uint8_t { kUnknown, kSame, kDiffer };

/// A kernel of a run, all its launches together; or a run as a whole.
struct Row {
  std::string run, kernel;
  uint32_t launches = 1;
  std::string method;
  Role role = Role::kNone;
  double hardware = 0, simulated = 0;                  ///< core cycles
  double hardware_power_w = 0, simulated_power_w = 0;  ///< of the run; 0: not measured
  std::string stall;                                   ///< what most issue slots of the run are lost to
  struct CounterPair {
    std::string name;
    double hardware = 0, simulated = 0;
  };
  std::vector<CounterPair> counters;    ///< of the run
  double spread = 0;                    ///< (most - least) / median of the measurements
  Results results = Results::kUnknown;  ///< of the run's buffers
  std::string why_not;                  ///< not compared; empty: it was
  [[nodiscard]] bool compared() const { return why_not.empty(); }
  /// simulated / hardware - 1.
  [[nodiscard]] double error() const { return simulated / hardware - 1; }
};

/// Over rows that were compared.
struct Totals {
  size_t rows = 0;
  double bias = 0;                                     ///< mean error
  double mean_absolute = 0, median_absolute = 0;       ///< of the errors
  const Row* worst = nullptr;                          ///< largest absolute error
  std::optional<double> correlation, log_correlation;  ///< Pearson, of cycles and of their logarithms
};

struct Correlation {
  std::vector<Row> rows;
  bool incomplete = false;      ///< something that was measured is not compared
  bool program_failed = false;  ///< some simulated program failed
  [[nodiscard]] bool results_differ() const;
};

[[nodiscard]] Correlation correlate(const HardwareFile& file, const std::vector<SimulatedRun>& simulated);

/// Of the rows that were compared and that `counts` says yes to.
[[nodiscard]] Totals totals_of(const std::vector<Row>& rows, const std::function<bool(const Row&)>& counts);
/// Rows that say how good a machine is: all but microbenchmarks that it is fitted to.
[[nodiscard]] inline bool counts(const Row& row) { return row.role != Role::kFitting; }

/// Pearson's coefficient; nothing for fewer than three pairs or if one of the two does not vary.
[[nodiscard]] std::optional<double> pearson(const std::vector<double>& x, const std::vector<double>& y);

/// `counters`: with those that the file gives beside ours.
[[nodiscard]] std::string correlation_text(const HardwareFile& file, const std::string& machine,
                                           const Correlation& correlation, bool counters = false);
/// Totals of the rows of several files of one machine.
[[nodiscard]] std::string summary_text(const std::string& machine, const std::vector<Row>& rows);
/// A JSON object, without a line end.
[[nodiscard]] std::string correlation_json(const HardwareFile& file, const std::string& machine,
                                           const Correlation& correlation);

}  // namespace gpusim::correlate
