// Simulates the points of a study, each in a process of its own, and keeps each result in a file named after
// the point's key: what is there is never simulated again, by this study or another one that uses the same
// folder. A run that is killed loses the points that were running and nothing else.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "study/points.h"

namespace gpusim::study {

/// What is kept of a kernel's launch.
struct KernelRow {
  std::string name;
  std::string grid, block;  ///< "18x18x1"
  uint64_t cycles = 0;
  double time_s = 0;
  std::vector<std::pair<std::string, double>> counters;  ///< in the simulator's order
};

/// How a point came out.
struct PointResult {
  enum class Status : uint8_t {
    kMissing,   ///< not simulated yet
    kComplete,  ///< its kernels ended, and its results are right as far as the launch file says
    kWrong,     ///< its results differ from what the launch file expects
    kFailed,    ///< the simulated program failed, or the simulation's process died
    kRefused,   ///< machine, program or launch file are wrong at this point
  };
  Status status = Status::kMissing;
  std::string reason;    ///< of the last three
  std::string key;       ///< empty where the identity could not be made
  std::string verified;  ///< "yes", "no", or "not verified" without an [[expect]]
  double sram_kib = 0;
  double time_s = 0;    ///< simulated, of all kernels
  uint64_t cycles = 0;  ///< in which a kernel ran
  double energy_j = 0;  ///< of all kernels; 0 on a machine without energies
  uint64_t warp_instructions = 0;
  std::vector<KernelRow> kernels;
};
[[nodiscard]] std::string_view status_name(PointResult::Status status);

/// Text that is stored, without its identity's line; and back. read_result() throws core::InputError if it is
/// not what result_json() wrote.
[[nodiscard]] std::string result_json(const PointResult& result);
[[nodiscard]] PointResult read_result(const std::string& text, const std::string& name);

struct RunOptions {
  std::string store;  ///< folder of the results; made if it is not there
  std::string program;
  std::vector<std::string> config_folders;
  unsigned parallel = 1;
  bool again = false;              ///< points that failed are simulated again
  std::function<void()> on_start;  ///< called when all that was there has been told, and simulations begin
  /// Called in this process when a point has ended, also if it was there before.
  std::function<void(size_t point, const PointResult&)> on_done;
  /// Called for a stored point that cannot be read, which is as good as none.
  std::function<void(const std::string& file)> on_damaged;
};

/// Results of `which` (indices into `points`), in that order. Throws core::InputError if the store cannot be
/// used.
std::vector<PointResult> run_points(const Study& study, std::span<const Point> points,
                                    std::span<const size_t> which, const RunOptions& options);

/// Results that are in the store already; the others are kMissing.
[[nodiscard]] std::vector<PointResult> stored_results(const Study& study, std::span<const Point> points,
                                                      const RunOptions& options);

/// Warp operations of a kernel after which count_warp_instructions() counts no further.
inline constexpr uint64_t kMostCounted = 100'000'000;
struct Counted {
  uint64_t warp_instructions = 0;
  bool whole =
      true;  ///< false: there are more, for a kernel has too many to be counted or the program failed
};
/// Warp instructions of a point's kernels, by a functional run in this process. Throws core::InputError.
[[nodiscard]] Counted count_warp_instructions(PreparedPoint point);

}  // namespace gpusim::study
