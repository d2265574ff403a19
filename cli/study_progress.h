// How far a study is, on standard error.
#pragma once
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include "study/run_points.h"

namespace gpusim::cli {

/// A line that is drawn over on a terminal; in a log file the first one and every tenth have a line.
class StudyProgress {
 public:
  /// `things`: "points". `parallel`: how many are done at the same time.
  StudyProgress(size_t all, std::string things, unsigned parallel, bool quiet);
  ~StudyProgress();
  StudyProgress(const StudyProgress&) = delete;
  StudyProgress& operator=(const StudyProgress&) = delete;

  /// Said once, if what is left takes longer than study::kLongStudy.
  void set_hint(std::string hint) { hint_ = std::move(hint); }
  /// When work began, if that was before this was made.
  void began(std::chrono::steady_clock::time_point start) { start_ = start; }
  /// What was there has been told.
  void begin();
  void done(const study::PointResult& result, bool was_there);
  /// So many have ended.
  void reached(size_t number);

 private:
  size_t total_, done_ = 0, known_ = 0, bad_ = 0;
  std::string things_, hint_;
  unsigned parallel_;
  bool quiet_, terminal_, drawn_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace gpusim::cli
