#include "analysis/report/guarded.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>

#include "analysis/report/text.h"
#include "simcore/record/recorder.h"
#include "simcore/text/input_error.h"

namespace gpusim::analysis {
namespace {

// How the child ended, as the first byte that it sends; the message follows. An exit code is sent as itself.
enum Ending : char { kReturned = 'r', kRecordError = 'f', kInputError = 'i' };

void send(int pipe, Ending ending, std::string_view text) {
  const std::string message = std::string(1, ending) + std::string(text);
  size_t sent = 0;
  while (sent < message.size()) {
    const ssize_t n = write(pipe, message.data() + sent, message.size() - sent);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) sent += static_cast<size_t>(n);
  }
}

[[noreturn]] void run_child(const std::function<int()>& work, int pipe, unsigned cpu_seconds) {
  const rlimit no_core{0, 0}, time{cpu_seconds, cpu_seconds + 1};
  setrlimit(RLIMIT_CORE, &no_core);
  setrlimit(RLIMIT_CPU, &time);
#ifndef __SANITIZE_ADDRESS__
  // The C library has its own words for a damaged heap; ours follow.
  if (const int null = open("/dev/null", O_WRONLY); null >= 0) dup2(null, STDERR_FILENO);
#endif
  for (const int crash : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) std::signal(crash, SIG_DFL);
  try {
    const int code = work();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      send(pipe, kRecordError, "cannot write to standard output");
    else
      send(pipe, kReturned, std::string(1, static_cast<char>(code)));
  } catch (const core::InputError& e) {
    send(pipe, kInputError, e.what());
  } catch (const std::bad_alloc&) {
    send(pipe, kRecordError, "out of memory");
  } catch (const std::exception& e) {
    send(pipe, kRecordError, e.what());
  }
  _exit(0);
}

std::string receive(int pipe) {
  std::string message;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t n = read(pipe, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return message;
    message.append(buffer.data(), static_cast<size_t>(n));
  }
}

}  // namespace

int guarded(const std::string& file, const std::function<int()>& work, unsigned cpu_seconds) {
  std::fflush(stdout);
  int ends[2];
  if (pipe(ends) != 0) throw core::RecordError("cannot make a pipe");
  const pid_t child = fork();
  if (child < 0) throw core::RecordError("cannot start a process");
  if (child == 0) {
    close(ends[0]);
    run_child(work, ends[1], cpu_seconds);
  }
  close(ends[1]);
  const std::string message = receive(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::string text = message.empty() ? "" : message.substr(1);
  if (!message.empty() && message[0] == kReturned && !text.empty())
    return static_cast<unsigned char>(text[0]);
  // Words of a damaged file may be in it.
  text = printable_lines(text);
  if (!message.empty() && message[0] == kInputError) throw core::InputError(text);
  if (!message.empty() && message[0] == kRecordError) throw core::RecordError(text);
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  // Not about the file: a reader of our output that went away, or somebody who ends us.
  if (signal == SIGPIPE || signal == SIGINT || signal == SIGTERM) {
    std::signal(signal, SIG_DFL);
    raise(signal);
  }
  const char* how = signal == SIGXCPU   ? "it does not come to an end"
                    : signal == SIGKILL ? "it was killed, perhaps for using too much memory"
                                        : "it crashes";
  throw core::RecordError(fmt::format("'{}': reading it fails ({}): the file is damaged", file, how));
}

}  // namespace gpusim::analysis
