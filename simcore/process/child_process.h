// Work in child processes: what may crash or not come to an end, other programs, and simulations (SystemC
// elaborates once per process, so whoever simulates more than once does it in children). The calling process
// must have a single thread.
#pragma once
#include <sys/types.h>

#include <csignal>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpusim::core {

/// How a process ended: by itself with a status, or by a signal, which then is not 0.
struct ProcessEnd {
  int status = 0, signal = 0;
  [[nodiscard]] bool good() const { return status == 0 && signal == 0; }
};

/// One child, which answers through a pipe. It is killed if nobody waits for its end, and with its parent.
class ChildProcess {
 public:
  /// Runs `work` in the child; it gets the pipe's descriptor, which send_answer() writes to, and returns the
  /// exit status (an exception that leaves it is status 1). Throws InputError if there is no process to be
  /// had.
  explicit ChildProcess(const std::function<int(int pipe)>& work);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  [[nodiscard]] pid_t id() const { return id_; }
  /// Our end of the pipe, to be polled.
  [[nodiscard]] int file() const { return file_; }
  /// Takes what has come of the answer, waiting for some; false if that was the end.
  bool read();
  /// Takes the rest of the answer and waits for the end of the process.
  ProcessEnd wait();
  /// What has been taken so far.
  [[nodiscard]] const std::string& answer() const { return answer_; }

 private:
  pid_t id_ = 0;
  int file_ = -1;
  std::string answer_;
};

/// While it exists, signals that somebody sends to this process go to a child, which decides what to do; what
/// a terminal sends comes to both processes without us. What is sent to the whole process group comes to the
/// child twice, for it cannot be told from what is sent to this process alone. Signals that are ignored stay
/// so. One at a time.
class SignalsGoToChild {
 public:
  /// Before the child is started: holds the signals back until to() or end().
  explicit SignalsGoToChild(std::span<const int> signals);
  /// Signals are what they were before.
  ~SignalsGoToChild();
  SignalsGoToChild(const SignalsGoToChild&) = delete;
  SignalsGoToChild& operator=(const SignalsGoToChild&) = delete;

  /// In the child: it gets its signals.
  void end_in_child() const;
  /// In the parent.
  void to(pid_t child);

 private:
  sigset_t mask_{};
  std::vector<std::pair<int, struct sigaction>> before_;
};

/// In the child: sends all of `text`; false if nobody takes it.
bool send_answer(int pipe, std::string_view text);

/// Status of a program that is not on the PATH, as a shell has it.
inline constexpr int kNoSuchProgram = 127;
/// In the child: becomes a program of the PATH. Returns what to exit with if that cannot be.
[[nodiscard]] int become_program(const std::vector<std::string>& words);
/// Runs a program of the PATH, which reads from and writes to these descriptors.
[[nodiscard]] ProcessEnd run_program(const std::vector<std::string>& words, int input, int output);

struct ChildAnswer {
  bool ended = false;  ///< false: it was stopped, or not begun
  bool good = false;
  std::string text;  ///< what the work returned (any bytes), or why it failed: an exception's text, a signal
};

/// Called in the calling process with the number of a work that has ended.
using OnAnswer = std::function<void(size_t work, const ChildAnswer&)>;

/// Runs each work in a process of its own, at most `parallel` at the same time; answers in the order of the
/// works. `stop` is asked every half a second and after every signal: once it says true, works that have not
/// ended are killed. Throws InputError if a process cannot be started.
[[nodiscard]] std::vector<ChildAnswer> run_in_children(std::span<const std::function<std::string()>> works,
                                                       unsigned parallel, const OnAnswer& on_answer = {},
                                                       const std::function<bool()>& stop = {});

}  // namespace gpusim::core
