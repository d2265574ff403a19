#include "simcore/process/child_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <memory>

#include "simcore/text/input_error.h"

namespace gpusim::core {

namespace {

constexpr char kGood = '1', kFailed = '0';  // first byte of an answer

void write_all(int file, char verdict, std::string_view text) {
  std::string all(1, verdict);
  all += text;
  for (size_t done = 0; done < all.size();) {
    const ssize_t n = ::write(file, all.data() + done, all.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(1);
    done += static_cast<size_t>(n);
  }
}

/// One child; ended if nobody waits for its answer.
class Child {
 public:
  explicit Child(const std::function<std::string()>& work) {
    int ends[2];
    if (pipe(ends) != 0) fail();
    const pid_t parent = getpid();
    id_ = fork();
    if (id_ < 0) {
      close(ends[0]), close(ends[1]);
      fail();
    }
    if (id_ != 0) {
      close(ends[1]);
      file_ = ends[0];
      return;
    }
    close(ends[0]);
    // Nobody takes the answer of a child whose parent was killed.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    try {
      write_all(ends[1], kGood, work());
    } catch (const std::exception& e) {
      write_all(ends[1], kFailed, e.what());
    }
    _exit(0);
  }
  ~Child() {
    if (file_ < 0) return;
    kill(id_, SIGKILL);
    (void)wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] int file() const { return file_; }
  /// Takes what has come of the answer; false if that was the end.
  bool read() {
    char piece[65536];
    const ssize_t n = ::read(file_, piece, sizeof piece);
    if (n > 0) answer_.append(piece, static_cast<size_t>(n));
    return n > 0 || (n < 0 && errno == EINTR);
  }
  ChildAnswer answer() {
    const int status = wait();
    if (answer_.empty() || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      if (WIFSIGNALED(status))
        return {false, fmt::format("its process ended by signal {}", WTERMSIG(status))};
      return {false, fmt::format("its process ended with status {}", WEXITSTATUS(status))};
    }
    return {answer_[0] == kGood, answer_.substr(1)};
  }

 private:
  [[noreturn]] static void fail() {
    throw InputError(fmt::format("gpusim: error: cannot start a process: {}", std::strerror(errno)));
  }
  int wait() {
    close(file_);
    file_ = -1;
    int status = 0;
    while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  pid_t id_ = 0;
  int file_ = -1;
  std::string answer_;
};

}  // namespace

std::vector<ChildAnswer> run_in_children(std::span<const std::function<std::string()>> works,
                                         unsigned parallel) {
  struct Running {
    size_t work;
    std::unique_ptr<Child> child;
  };
  std::vector<ChildAnswer> answers(works.size());
  std::vector<Running> running;
  for (size_t next = 0; next < works.size() || !running.empty();) {
    for (; running.size() < std::max(parallel, 1u) && next < works.size(); ++next)
      running.push_back({next, std::make_unique<Child>(works[next])});
    // Whichever ends first makes room for the next one.
    std::vector<pollfd> files;
    for (const Running& r : running) files.push_back({r.child->file(), POLLIN, 0});
    if (poll(files.data(), files.size(), -1) < 0) {
      if (errno == EINTR) continue;
      throw InputError(fmt::format("gpusim: error: cannot wait for a process: {}", std::strerror(errno)));
    }
    for (size_t i = 0; i < files.size(); ++i) {
      if (files[i].revents == 0 || running[i].child->read()) continue;
      answers[running[i].work] = running[i].child->answer();
      running[i].child.reset();
    }
    std::erase_if(running, [](const Running& r) { return r.child == nullptr; });
  }
  return answers;
}

}  // namespace gpusim::core
