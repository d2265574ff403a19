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
#include "simcore/text/input_error.h"

namespace gpusim::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::array kPassedOn = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
/// Of these, those with which a user ends a program.
constexpr std::array kInterrupts = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

volatile pid_t child = 0;

/// What a terminal sends comes to both without us. What somebody sends to the whole process group comes to
/// the program twice, for it cannot be told from what is sent to this process alone.
void pass_on(int signal, siginfo_t* info, void*) {
  if (info->si_code <= 0) kill(child, signal);
}

void pass_signals_on() {
  for (const int signal : kPassedOn) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;  // as nohup wants
    action = {};
    action.sa_sigaction = pass_on;
    action.sa_flags = static_cast<int>(SA_SIGINFO | SA_RESTART);
    sigaction(signal, &action, nullptr);
  }
}

[[noreturn]] void become(const std::string& file, char* const* arguments, int end) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody else knows that it runs
  setenv(runtime::kFindingsVariable, std::to_string(end).c_str(), 1);
  setenv(runtime::kOwnerVariable, std::to_string(getpid()).c_str(), 1);
  execv(file.c_str(), arguments);
  fmt::print(stderr, "{}: error: cannot be started: {}\n", file, std::strerror(errno));
  _exit(kBadInput);
}

/// Takes digits, at least one, from the front.
bool take_number(std::string_view& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(digits);
  return digits != 0;
}

bool take(std::string_view& text, std::string_view part) {
  if (!text.starts_with(part)) return false;
  text.remove_prefix(part.size());
  return true;
}

/// The name of a recording of this program, or of one that it has started (NAME.PID.h5), that is unfinished.
bool is_unfinished(std::string_view name, const fs::path& recorded) {
  const std::string stem = recorded.stem().string(), extension = recorded.extension().string();
  if (!take(name, stem)) return false;
  if (std::string_view rest = name; take(rest, ".") && take_number(rest) && rest.starts_with(extension + "."))
    name = rest;
  return take(name, extension) && take(name, ".") && take_number(name) && take(name, "-") &&
         take_number(name) && name == ".tmp";
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
  sigset_t passed, before;
  sigemptyset(&passed);
  for (const int signal : kPassedOn) sigaddset(&passed, signal);
  sigprocmask(SIG_BLOCK, &passed, &before);
  child = fork();
  if (child == 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    close(ends[0]);
    become(file, arguments, ends[1]);
  }
  if (child > 0) pass_signals_on();
  sigprocmask(SIG_SETMASK, &before, nullptr);
  close(ends[1]);
  if (child < 0)
    throw core::InputError(fmt::format("{}: error: cannot be started: {}", file, std::strerror(errno)));
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
