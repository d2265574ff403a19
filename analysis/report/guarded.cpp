#include "analysis/report/guarded.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>
#include <system_error>

#include "analysis/report/text.h"
#include "simcore/memory/address_sanitizer.h"
#include "simcore/process/child_process.h"
#include "simcore/record/recorder.h"
#include "simcore/text/input_error.h"

namespace gpusim::analysis {
namespace {

// How the work ended, as the first byte of the child's answer; the message follows. An exit code is sent as
// itself.
enum Ending : char { kReturned = 'r', kRecordError = 'f', kInputError = 'i' };

std::string message(Ending ending, std::string_view text) { return std::string(1, ending).append(text); }

/// In the child.
std::string message_of(const std::function<int()>& work) {
  try {
    const int code = work();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      return message(kRecordError, lost_output(std::strerror(errno)));
    return message(kReturned, std::string(1, static_cast<char>(code)));
  } catch (const core::InputError& e) {
    return message(kInputError, e.what());
  } catch (const std::bad_alloc&) {
    return message(kRecordError, "out of memory");
  } catch (const std::system_error& e) {
    return message(kRecordError, std::ferror(stdout) != 0 ? lost_output(e.code().message()) : e.what());
  } catch (const std::exception& e) {
    return message(kRecordError, e.what());
  }
}

int run_child(const std::function<int()>& work, int pipe, std::optional<unsigned> cpu_seconds) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (cpu_seconds) {
    const rlimit time{*cpu_seconds, *cpu_seconds + 1};
    setrlimit(RLIMIT_CPU, &time);
#ifndef GPUSIM_ADDRESS_SANITIZER
    // The C library has its own words for a damaged heap; ours follow.
    if (const int null = open("/dev/null", O_WRONLY); null >= 0 && null != STDERR_FILENO) {
      dup2(null, STDERR_FILENO);
      close(null);
    }
#endif
  }
  for (const int crash : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) (void)std::signal(crash, SIG_DFL);
  return core::send_answer(pipe, message_of(work)) ? 0 : 1;
}

/// Without `cpu_seconds` the work simulates.
int run_guarded(const std::string& file, const std::function<int()>& work,
                std::optional<unsigned> cpu_seconds) {
  std::fflush(stdout);
  constexpr std::array kInterrupt = {SIGINT};
  std::optional<core::SignalsGoToChild> interrupt;
  if (!cpu_seconds) interrupt.emplace(kInterrupt);
  core::ChildProcess child([&](int pipe) {
    if (interrupt) interrupt->end_in_child();
    return run_child(work, pipe, cpu_seconds);
  });
  if (interrupt) interrupt->to(child.id());
  const int signal = child.wait().signal;
  interrupt.reset();
  const std::string& message = child.answer();
  std::string text = message.empty() ? "" : message.substr(1);
  if (!message.empty() && message[0] == kReturned && !text.empty())
    return static_cast<unsigned char>(text[0]);
  // Words of a damaged file may be in it.
  text = printable_lines(text);
  if (!message.empty() && message[0] == kInputError) throw core::InputError(text);
  if (!message.empty() && message[0] == kRecordError) throw core::RecordError(text);
  // Not about the file: a reader of our output that went away, or somebody who ends us.
  if (signal == SIGPIPE || signal == SIGINT || signal == SIGTERM) {
    (void)std::signal(signal, SIG_DFL);
    (void)raise(signal);
  }
  const char* how = signal == SIGXCPU   ? "it does not come to an end"
                    : signal == SIGKILL ? "it was killed, perhaps for using too much memory"
                                        : "it crashes";
  throw core::RecordError(fmt::format("'{}': reading it fails ({}): the file is damaged", file, how));
}

}  // namespace

std::string lost_output(const std::string& why) {
  return fmt::format("cannot write to standard output: {}", why);
}

int guarded(const std::string& file, const std::function<int()>& work, unsigned cpu_seconds) {
  return run_guarded(file, work, cpu_seconds);
}

int guarded_simulations(const std::string& file, const std::function<int()>& work) {
  return run_guarded(file, work, std::nullopt);
}

}  // namespace gpusim::analysis
