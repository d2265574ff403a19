#include "simcore/process/child_process.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <exception>

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

  ChildAnswer answer() {
    std::string all;
    char piece[65536];
    for (;;) {
      const ssize_t n = ::read(file_, piece, sizeof piece);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      all.append(piece, static_cast<size_t>(n));
    }
    const int status = wait();
    if (all.empty() || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      if (WIFSIGNALED(status))
        return {false, fmt::format("its process ended by signal {}", WTERMSIG(status))};
      return {false, fmt::format("its process ended with status {}", WEXITSTATUS(status))};
    }
    return {all[0] == kGood, all.substr(1)};
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
};

}  // namespace

std::vector<ChildAnswer> run_in_children(std::span<const std::function<std::string()>> works,
                                         unsigned parallel) {
  std::vector<ChildAnswer> answers;
  std::deque<Child> children;
  size_t next = 0;
  while (answers.size() < works.size()) {
    while (children.size() < std::max(parallel, 1u) && next < works.size())
      children.emplace_back(works[next++]);
    answers.push_back(children.front().answer());
    children.pop_front();
  }
  return answers;
}

}  // namespace gpusim::core
