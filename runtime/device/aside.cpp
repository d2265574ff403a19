// Kernels of a run for values that wait for the host, or for work that is submitted later.
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include "runtime/device/children.h"
#include "runtime/device/work.h"

namespace gpusim::runtime {

namespace {
using Clock = std::chrono::steady_clock;
using Outcome = comp::FunctionalRunner::Outcome;

/// So long nothing may happen while the program waits for a kernel that waits: on a GPU it would wait for
/// ever.
constexpr std::chrono::seconds kPatience{3};
constexpr std::chrono::milliseconds kPause{1};
constexpr std::chrono::microseconds kPauseBeside{100};
}  // namespace

bool Device::may_put_aside() const {
  // An export takes launch after launch.
  return options_.functional && export_ == nullptr && runner_->waits_for_memory();
}

void Device::put_aside(std::unique_ptr<Work> launch, Stream& stream) {
  open_.insert(take_number(*launch, stream));
  aside_.push_back(std::move(launch));
  begin_beside();
}

void Device::begin_beside() {
  if (goes_on_beside_) return;
  beside_process_ = getpid();
  // The program's signals are not for this thread, but for what it does itself: a program may give access to
  // its memory when it is touched.
  sigset_t others, before;
  sigfillset(&others);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&others, own);
  pthread_sigmask(SIG_SETMASK, &others, &before);
  try {
    beside_ = std::jthread([this](const std::stop_token& stop) { go_on_beside(stop); });
    goes_on_beside_ = true;
  } catch (const std::system_error&) {
    // Without a thread it goes on when the program asks.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// The program may wait for such work by looking at memory alone. The mutex is tried only: who holds it
/// may be waiting for this thread's end.
void Device::go_on_beside(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Clock::duration took{};
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) {
      if (open_.empty() || fault_) {
        goes_on_beside_ = false;
        return;
      }
      const Clock::time_point begin = Clock::now();
      try {
        (void)go_on();
      } catch (const Failure& failure) {
        if (!fault_) note_fault(failure.code(), failure.what());
      } catch (const std::exception& error) {
        note_fault(Code::kUnknown, error.what());
      }
      took = Clock::now() - begin;
    }
    std::this_thread::sleep_for(std::max<Clock::duration>(kPauseBeside, took));
  }
}

void Device::stop_beside() {
  if (!beside_.joinable() || beside_.get_id() == std::this_thread::get_id()) return;
  // A process that was forked has only the thread that forked.
  if (beside_process_ != getpid()) return beside_.detach();
  beside_ = {};
  goes_on_beside_ = false;
}

bool Device::has_to_wait(const Work& work) const {
  // The checks follow one launch at a time.
  if (checker_ != nullptr && !aside_.empty()) return true;
  if (work.kind == Work::Kind::kWait && !work.ready()) return true;
  return std::ranges::any_of(work.after, [this](uint64_t n) { return open_.contains(n); });
}

bool Device::is_waiting(const Stream& stream) const {
  if (open_.contains(stream.last_work)) return true;
  if (std::ranges::any_of(stream.waits, [this](uint64_t n) { return open_.contains(n); })) return true;
  if (&stream == &legacy_)
    return std::ranges::any_of(streams_, [this](const auto& s) {
      return s.second->blocking && open_.contains(s.second->last_work);
    });
  return stream.blocking && open_.contains(legacy_barrier_);
}

bool Device::go_on() {
  bool moved = false;
  const auto moves = [&] {
    moved = true;
    moved_at_ = Clock::now();
  };
  for (size_t i = 0; i < aside_.size();) {
    Work& work = *aside_[i];
    const Outcome outcome = work.runner->resume(*work.launch.run);
    if (outcome == Outcome::kDeadlock && work.runner->waits_for_memory()) {
      if (work.runner->has_moved()) moves();
      ++i;
      continue;
    }
    const std::unique_ptr<Work> ended = std::move(aside_[i]);
    aside_.erase(aside_.begin() + static_cast<std::ptrdiff_t>(i));
    open_.erase(ended->number);
    moves();
    end_values(*ended->launch.run, *ended->runner, outcome);
  }
  for (size_t i = 0; i < pending_.size();) {
    if (has_to_wait(*pending_[i])) {
      ++i;
      continue;
    }
    std::unique_ptr<Work> work = std::move(pending_[i]);
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
    moves();
    if (work->kind != Work::Kind::kLaunch) {
      carry_out(*work);
      open_.erase(work->number);
      continue;
    }
    if (Children::may_launch(*work->launch.run->image)) {
      open_.erase(work->number);
      children_->run_for_values(*work->kernel, *work->launch.run, work->spec.stream);
      continue;
    }
    work->runner = make_runner();
    const Outcome outcome = work->runner->run(*work->launch.run);
    if (outcome == Outcome::kDeadlock && work->runner->waits_for_memory()) {
      aside_.push_back(std::move(work));
      continue;
    }
    open_.erase(work->number);
    end_values(*work->launch.run, *work->runner, outcome);
  }
  return moved;
}

void Device::go_on_until(const std::function<bool()>& done) {
  moved_at_ = Clock::now();
  while (!done()) {
    check();
    if (go_on()) continue;
    // Something may have happened in the thread beside.
    const bool is_over = Clock::now() - moved_at_ > kPatience;
    if (is_over && !aside_.empty()) {
      const std::unique_ptr<Work> stuck = std::move(aside_.front());
      aside_.clear(), pending_.clear(), open_.clear();
      end_values(*stuck->launch.run, *stuck->runner, Outcome::kDeadlock);
    }
    if (is_over && aside_.empty()) {
      pending_.clear(), open_.clear();
      fail(Code::kLaunchTimeout, "a stream waits for a value in memory that nothing writes");
    }
    // Other threads may submit, or write to memory, what the kernel waits for.
    mutex_.unlock();
    std::this_thread::sleep_for(kPause);
    mutex_.lock();
  }
}

}  // namespace gpusim::runtime
