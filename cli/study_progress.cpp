#include "cli/study_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/commands.h"
#include "simcore/text/terminal_line.h"
#include "study/time_text.h"

namespace gpusim::cli {

StudyProgress::StudyProgress(size_t all, std::string things, unsigned parallel, bool quiet)
    : total_(all),
      things_(std::move(things)),
      parallel_(parallel),
      quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) != 0) {}

StudyProgress::~StudyProgress() {
  if (!quiet_ && terminal_ && drawn_) write_error(kEmptyLine);
}

void StudyProgress::begin() {
  start_ = std::chrono::steady_clock::now();
  if (done_ < total_) reached(done_);
}

void StudyProgress::done(const study::PointResult& result, bool was_there) {
  known_ += was_there ? 1 : 0;
  bad_ += result.status != study::PointResult::Status::kComplete ? 1 : 0;
  reached(done_ + 1);
}

void StudyProgress::reached(size_t number) {
  const size_t before = std::exchange(done_, number);
  if (quiet_) return;
  const size_t simulated = done_ - known_;
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  // When the first one ends, others that began with it are about as far.
  const double left = simulated == 0 ? 0
                                     : elapsed / static_cast<double>(std::max<size_t>(simulated, parallel_)) *
                                           static_cast<double>(total_ - done_);
  const std::string text = fmt::format(
      "{}/{} {}{}{}", done_, total_, things_, bad_ == 0 ? "" : fmt::format(", {} refused or failed", bad_),
      simulated == 0 || done_ == total_ ? "" : fmt::format(", {} left", study::duration(left)));
  if (terminal_) {
    const size_t filled = done_ * 24 / total_;
    const std::string line = fmt::format("[{:<24}] {}", std::string(filled, '#'), text);
    write_error(fmt::format("{}{}", kEmptyLine, core::fitted(line)));
    drawn_ = true;
  } else if (simulated <= 1 || done_ * 10 / total_ != before * 10 / total_) {
    print_error("{}\n", text);
  }
  if (left > study::kLongStudy && !hint_.empty()) {
    if (terminal_) write_error(kEmptyLine);
    print_error("{}\n", std::exchange(hint_, {}));
  }
}

}  // namespace gpusim::cli
