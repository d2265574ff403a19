#include "cli/child_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>

#include "cli/commands.h"
#include "runtime/device/environment.h"
#include "simcore/process/child_process.h"
#include "simcore/text/input_error.h"
#include "simcore/text/whole_file.h"

namespace gpusim::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::array kPassedOn = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
/// Of these, those with which a user ends a program.
constexpr std::array kInterrupts = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

[[noreturn]] void become(const std::string& file, char* const* arguments, int end) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody else knows that it runs
  setenv(runtime::kFindingsVariable, std::to_string(end).c_str(), 1);
  setenv(runtime::kOwnerVariable, std::to_string(getpid()).c_str(), 1);
  execv(file.c_str(), arguments);
  fmt::print(stderr, "{}: error: cannot be started: {}\n", file, std::strerror(errno));
  _exit(kBadInput);
}

/// The name of a recording of this program, or of one that it has started (NAME.PID.h5), that is unfinished.
bool is_unfinished(std::string_view name, const fs::path& recorded) {
  const std::string own = recorded.filename().string();
  if (core::is_temporary_of(own, name)) return true;
  const std::string stem = recorded.stem().string() + ".";
  if (!name.starts_with(stem)) return false;
  const size_t digits = std::min(name.find_first_not_of("0123456789", stem.size()), name.size());
  const std::string started = std::string(name.substr(0, digits)) + recorded.extension().string();
  return digits > stem.size() && core::is_temporary_of(started, name);
}

/// Written since `start`, and nobody writes it any more.
bool is_left_since(const fs::path& file, const timespec& start) {
  const int fd = open(file.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat status {};
  const bool is_new = fstat(fd, &status) == 0 &&
                      (status.st_mtim.tv_sec > start.tv_sec ||
                       (status.st_mtim.tv_sec == start.tv_sec && status.st_mtim.tv_nsec >= start.tv_nsec));
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  const bool is_free = fcntl(fd, F_OFD_SETLK, &range) == 0;
  close(fd);
  return is_new && is_free;
}

void remove_unfinished(const fs::path& recorded, const timespec& start) {
  std::error_code error;
  bool removed = false;
  for (const auto& entry : fs::directory_iterator(recorded.parent_path(), error))
    if (is_unfinished(entry.path().filename().string(), recorded) && is_left_since(entry.path(), start))
      removed = fs::remove(entry.path(), error) || removed;
  if (removed && fs::exists(recorded, error))
    fmt::print(stderr, "{}: note: stays as it was: the program was interrupted\n", recorded.string());
}

[[noreturn]] void end_by(int signal) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);  // the program has left its own, if any
  std::signal(signal, SIG_DFL);
  std::fflush(nullptr);
  raise(signal);
  _exit(128 + signal);  // as shells say it
}

}  // namespace

int run_and_wait(const std::string& file, char* const* arguments, const std::string& recorded) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0)
    throw core::InputError(fmt::format("gpusim: error: no socket can be made: {}", std::strerror(errno)));
  timespec start{};
  clock_gettime(CLOCK_REALTIME_COARSE, &start);  // by which files are dated
  core::SignalsGoToChild signals(kPassedOn);
  const pid_t child = fork();
  if (child == 0) {
    signals.end_in_child();
    close(ends[0]);
    become(file, arguments, ends[1]);
  }
  if (child < 0)
    throw core::InputError(fmt::format("{}: error: cannot be started: {}", file, std::strerror(errno)));
  signals.to(child);
  close(ends[1]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    if (!recorded.empty() && std::ranges::find(kInterrupts, signal) != kInterrupts.end())
      remove_unfinished(recorded, start);
    end_by(signal);
  }
  if (WEXITSTATUS(status) != kGood) return WEXITSTATUS(status);
  // What the program has started may go on and hold the other end.
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  bool found = false, in_vain = false;
  for (char what = 0; read(ends[0], &what, 1) == 1;) {
    found = found || what == runtime::kToldFindings;
    in_vain = in_vain || what == runtime::kToldInVain;
  }
  return in_vain ? kBadInput : found ? kChecksFound : kGood;
}

}  // namespace gpusim::cli
