#include "cli/study_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/report.h"

namespace gpusim::cli {

std::string duration(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

StudyProgress::StudyProgress(size_t all, std::string things, bool quiet)
    : total_(all), things_(std::move(things)), quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

StudyProgress::~StudyProgress() {
  if (!quiet_ && terminal_ && drawn_) print_error("\r\x1b[K");
}

void StudyProgress::done(const study::PointResult& result, bool was_there) {
  known_ += was_there ? 1 : 0;
  bad_ += result.status != study::PointResult::Status::kComplete ? 1 : 0;
  reached(done_ + 1);
}

void StudyProgress::reached(size_t number) {
  done_ = number;
  if (quiet_) return;
  const size_t simulated = done_ - known_;
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const std::string left = simulated == 0 || done_ == total_
                               ? ""
                               : fmt::format(", {} left", duration(elapsed / static_cast<double>(simulated) *
                                                                   static_cast<double>(total_ - done_)));
  const std::string text = fmt::format("{}/{} {}{}{}", done_, total_, things_,
                                       bad_ == 0 ? "" : fmt::format(", {} refused or failed", bad_), left);
  if (terminal_) {
    const size_t filled = done_ * 24 / total_;
    print_error("\r\x1b[K{}", fitted(fmt::format("[{:<24}] {}", std::string(filled, '#'), text)));
    drawn_ = true;
  } else if (done_ * 10 / total_ != (done_ - 1) * 10 / total_) {
    print_error("{}\n", text);
  }
}

}  // namespace gpusim::cli
