#include "runtime/device/host_functions.h"

#include <unistd.h>

#include <csignal>
#include <system_error>
#include <utility>

namespace gpusim::runtime {

std::jthread thread_without_signals(std::function<void(const std::stop_token&)> body) {
  // A program may give access to its memory when it is touched.
  sigset_t others, before;
  sigfillset(&others);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&others, own);
  pthread_sigmask(SIG_SETMASK, &others, &before);
  struct Restore {
    const sigset_t& mask;
    ~Restore() { pthread_sigmask(SIG_SETMASK, &mask, nullptr); }
  } const restore{before};
  return std::jthread([body = std::move(body)](const std::stop_token& stop) { body(stop); });
}

HostFunctions::~HostFunctions() {
  // A process that was forked has only the thread that forked.
  if (thread_.joinable() && process_ != getpid()) thread_.detach();
}

HostFunctions::Handle HostFunctions::call(std::function<void()> function) {
  auto made = std::make_shared<Call>();
  made->function = std::move(function);
  {
    const std::lock_guard lock(mutex_);
    calls_.push_back(made);
  }
  try {
    if (!thread_.joinable()) {
      thread_ = thread_without_signals([this](const std::stop_token& stop) { run(stop); });
      process_ = getpid();
    }
  } catch (const std::system_error&) {
    // Without a thread of its own it runs in the caller's, and what it throws is told as otherwise.
    {
      const std::lock_guard lock(mutex_);
      calls_.clear();
    }
    try {
      made->function();
    } catch (...) {
      made->thrown = std::current_exception();
    }
    made->done = true;
  }
  changed_.notify_all();
  return made;
}

bool HostFunctions::wait_for(const Call& call, std::chrono::microseconds most) const {
  std::unique_lock lock(mutex_);
  const bool done = changed_.wait_for(lock, most, [&call] { return call.done; });
  if (done && call.thrown != nullptr) std::rethrow_exception(call.thrown);
  return done;
}

bool HostFunctions::runs() const {
  const std::lock_guard lock(mutex_);
  return !calls_.empty();
}

void HostFunctions::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !calls_.empty(); })) {
    const Handle first = calls_.front();
    lock.unlock();
    try {
      first->function();
    } catch (...) {
      first->thrown = std::current_exception();
    }
    lock.lock();
    first->done = true;
    calls_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace gpusim::runtime
