// How far a study is, on standard error.
#pragma once
#include <chrono>
#include <cstddef>
#include <string>

#include "study/run_points.h"

namespace gpusim::cli {

/// "125 s", "12 min", "2.1 h"
[[nodiscard]] std::string duration(double seconds);

/// A line that is drawn over on a terminal; every tenth has a line in a log file.
class StudyProgress {
 public:
  /// `things`: "points"
  StudyProgress(size_t all, std::string things, bool quiet);
  ~StudyProgress();
  StudyProgress(const StudyProgress&) = delete;
  StudyProgress& operator=(const StudyProgress&) = delete;

  void done(const study::PointResult& result, bool was_there);
  /// So many have ended.
  void reached(size_t number);

 private:
  size_t total_, done_ = 0, known_ = 0, bad_ = 0;
  std::string things_;
  bool quiet_, terminal_, drawn_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace gpusim::cli
