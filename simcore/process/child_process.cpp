#include "simcore/process/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <memory>

#include "simcore/text/input_error.h"

namespace gpusim::core {

namespace {

[[noreturn]] void fail(const char* what) {
  throw InputError(fmt::format("gpusim: error: cannot {} a process: {}", what, std::strerror(errno)));
}

/// In the child: does the work and ends, without what the parent does at its end.
[[noreturn]] void run_child(const std::function<int(int)>& work, int pipe, pid_t parent) {
  // Nobody takes the answer of a child whose parent was killed.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  try {
    _exit(work(pipe));
  } catch (...) {
    _exit(1);
  }
}

}  // namespace

ChildProcess::ChildProcess(const std::function<int(int)>& work) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("start");
  const pid_t parent = getpid();
  id_ = fork();
  if (id_ == 0) {
    close(ends[0]);
    run_child(work, ends[1], parent);
  }
  close(ends[1]);
  if (id_ < 0) {
    const int reason = errno;
    close(ends[0]);
    errno = reason;
    fail("start");
  }
  file_ = ends[0];
}

ChildProcess::~ChildProcess() {
  if (file_ < 0) return;
  kill(id_, SIGKILL);
  (void)wait();
}

bool ChildProcess::read() {
  std::array<char, 65536> piece;
  const ssize_t n = ::read(file_, piece.data(), piece.size());
  if (n > 0) answer_.append(piece.data(), static_cast<size_t>(n));
  return n > 0 || (n < 0 && errno == EINTR);
}

ProcessEnd ChildProcess::wait() {
  while (read()) {
  }
  close(file_);
  file_ = -1;
  int status = 0;
  while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0};
}

namespace {

volatile pid_t signalled = 0;

void pass_on(int signal, siginfo_t* info, void*) {
  if (info->si_code <= 0) kill(signalled, signal);
}

}  // namespace

SignalsGoToChild::SignalsGoToChild(std::span<const int> signals) {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : signals) {
    sigaddset(&held, signal);
    struct sigaction now {};
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) before_.emplace_back(signal, now);
  }
  sigprocmask(SIG_BLOCK, &held, &mask_);
}

SignalsGoToChild::~SignalsGoToChild() {
  for (const auto& [signal, action] : before_) sigaction(signal, &action, nullptr);
  sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

void SignalsGoToChild::end_in_child() const { sigprocmask(SIG_SETMASK, &mask_, nullptr); }

void SignalsGoToChild::to(pid_t child) {
  signalled = child;
  struct sigaction action {};
  action.sa_sigaction = pass_on;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_RESTART);
  for (const auto& [signal, before] : before_) sigaction(signal, &action, nullptr);
  sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

bool send_answer(int pipe, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(pipe, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

int become_program(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  return errno == ENOENT ? kNoSuchProgram : 126;
}

ProcessEnd run_program(const std::vector<std::string>& words, int input, int output) {
  return ChildProcess([&](int) {
           dup2(input, STDIN_FILENO);
           dup2(output, STDOUT_FILENO);
           return become_program(words);
         })
      .wait();
}

namespace {

constexpr std::string_view kGood = "1", kFailed = "0";  // what an answer begins with
constexpr int kAskAgainMs = 500;

/// In the child.
int answer(int pipe, const std::function<std::string()>& work) {
  std::string text;
  try {
    text = std::string(kGood).append(work());
  } catch (const std::exception& e) {
    text = std::string(kFailed).append(e.what());
  }
  return send_answer(pipe, text) ? 0 : 1;
}

ChildAnswer take_answer(ChildProcess& child) {
  const ProcessEnd end = child.wait();
  const std::string& text = child.answer();
  if (end.signal != 0) return {true, false, fmt::format("its process ended by signal {}", end.signal)};
  if (!end.good() || text.empty())
    return {true, false, fmt::format("its process ended with status {}", end.status)};
  return {true, text.starts_with(kGood), text.substr(1)};
}

}  // namespace

std::vector<ChildAnswer> run_in_children(std::span<const std::function<std::string()>> works,
                                         unsigned parallel, const OnAnswer& on_answer,
                                         const std::function<bool()>& stop) {
  struct Running {
    size_t work;
    std::unique_ptr<ChildProcess> child;
  };
  std::vector<ChildAnswer> answers(works.size());
  std::vector<Running> running;
  for (size_t next = 0; next < works.size() || !running.empty();) {
    if (stop && stop()) break;
    for (; running.size() < std::max(parallel, 1u) && next < works.size(); ++next)
      running.push_back({next, std::make_unique<ChildProcess>(
                                   [&work = works[next]](int pipe) { return answer(pipe, work); })});
    // Whichever ends first makes room for the next one.
    std::vector<pollfd> files;
    files.reserve(running.size());
    for (const Running& r : running) files.push_back({r.child->file(), POLLIN, 0});
    if (poll(files.data(), files.size(), stop ? kAskAgainMs : -1) < 0) {
      if (errno == EINTR) continue;
      fail("wait for");
    }
    for (size_t i = 0; i < files.size(); ++i) {
      if (files[i].revents == 0 || running[i].child->read()) continue;
      answers[running[i].work] = take_answer(*running[i].child);
      running[i].child.reset();
      if (on_answer) on_answer(running[i].work, answers[running[i].work]);
    }
    std::erase_if(running, [](const Running& r) { return r.child == nullptr; });
  }
  return answers;
}

}  // namespace gpusim::core
