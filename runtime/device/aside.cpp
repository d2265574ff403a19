// Kernels of a run for values that wait for the host, or for work that is submitted later.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include "runtime/device/children.h"
#include "runtime/device/work.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::runtime {

namespace {
using Clock = std::chrono::steady_clock;
using Outcome = comp::FunctionalRunner::Outcome;

/// So long nothing may happen while the program waits for a kernel that waits: on a GPU it would wait for
/// ever.
constexpr std::chrono::seconds kPatience{3};
constexpr std::chrono::milliseconds kPause{1};
/// When the program ends it may still have threads that do something for a kernel.
constexpr std::chrono::milliseconds kPatienceAtEnd{50};
/// So long the call that submits a function of the program waits for it: most are short.
constexpr std::chrono::milliseconds kShortFunction{5};
/// Operations of warps after which a kernel's launch is over, and of a turn of such a kernel: what waits for
/// the host by more than a load seems to work. The latter is some milliseconds, in which nobody else may call
/// the device.
constexpr uint64_t kAtOnce = uint64_t{1} << 24, kTurn = uint64_t{1} << 18;
constexpr std::chrono::microseconds kPauseBeside{100};
}  // namespace

bool Device::may_put_aside(const comp::FunctionalRunner& runner, Outcome outcome) const {
  // An export takes launch after launch.
  if (!options_.functional || export_ != nullptr) return false;
  return outcome == Outcome::kPaused || (outcome == Outcome::kDeadlock && runner.waits_for_memory());
}

uint64_t Device::operations_at_once() const {
  return options_.functional && export_ == nullptr ? kAtOnce : comp::FunctionalRunner::kNoPause;
}

void Device::put_aside(std::unique_ptr<Work> launch, Stream& stream) {
  open_.insert(take_number(*launch, stream));
  aside_.push_back(std::move(launch));
  begin_beside();
}

void Device::begin_beside() {
  if (goes_on_beside_) return;
  beside_process_ = getpid();
  try {
    beside_ = thread_without_signals([this](const std::stop_token& stop) { go_on_beside(stop); });
    goes_on_beside_ = true;
  } catch (const std::system_error&) {
    // Without a thread it goes on when the program asks.
  }
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
        fault_is_known_ = false;
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

bool Device::call_back(Work& work) {
  const bool is_new = work.called == nullptr;
  work.after_failure = {};
  if (is_new) work.called = host_functions_.call(std::move(work.function));
  try {
    return host_functions_.wait_for(*work.called, is_new ? kShortFunction : std::chrono::milliseconds(0));
  } catch (const std::exception& error) {
    fail(Code::kUnknown, error.what());
  } catch (...) {
    fail(Code::kUnknown, "a function of the program that a stream calls has thrown something");
  }
}

void Device::call_back_and_wait(Work& work) {
  while (!call_back(work)) {
    if (finished_) throw Failure(Code::kInitializationError);  // the program ends meanwhile
    sleep(kPause);
  }
}

void Device::call_after_failure(std::vector<std::function<void(Code)>> functions) {
  std::vector<HostFunctions::Handle> called;
  for (auto& function : functions)
    called.push_back(
        host_functions_.call([function = std::move(function), code = fault_->code()] { function(code); }));
  // They go on beside the program if they are not done so soon.
  for (const auto& call : called) try {
      (void)host_functions_.wait_for(*call, kShortFunction);
    } catch (const std::exception& error) {
      warn(as_error(error.what()));
    } catch (...) {
      warn(as_error("a function of the program that a stream calls has thrown something"));
    }
}

bool Device::machine_is_busy() const {
  return children_->machine_runs && machine_thread_ != std::this_thread::get_id();
}

void Device::wait_for_machine() {
  const Clock::time_point begin = Clock::now();
  while (machine_is_busy()) {
    // What it waits for may be the end of this very function.
    if (host_functions_.is_this_thread() && !ends_) throw Failure(Code::kNotPermitted);
    if (ends_ && Clock::now() - begin > kPatience) return;
    sleep(kPause);
  }
}

bool Device::has_to_wait(const Work& work) const {
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
    const Outcome outcome = work.runner->resume(*work.launch.run, kTurn);
    if (may_put_aside(*work.runner, outcome)) {
      work.waits_for_memory = outcome == Outcome::kDeadlock;
      if (work.runner->has_moved()) moves();
      ++i;
      continue;
    }
    const std::unique_ptr<Work> ended = std::move(aside_[i]);
    aside_.erase(aside_.begin() + static_cast<std::ptrdiff_t>(i));
    open_.erase(ended->number);
    moves();
    end_launch(*ended, outcome);
  }
  for (size_t i = 0; i < pending_.size();) {
    if (has_to_wait(*pending_[i])) {
      ++i;
      continue;
    }
    if (Work& next = *pending_[i]; next.kind == Work::Kind::kHostFunction) {
      if (next.called == nullptr) moves();
      if (!call_back(next)) {
        ++i;
        continue;
      }
    }
    std::unique_ptr<Work> work = std::move(pending_[i]);
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
    moves();
    if (work->kind != Work::Kind::kLaunch) {
      carry_out(*work);
      note_carried_out(*work, done_s(work->stream));
      open_.erase(work->number);
      continue;
    }
    if (Children::may_launch(*work->launch.run->image)) {
      open_.erase(work->number);
      children_->run_for_values(*work->kernel, *work->launch.run, work->spec.stream);
      continue;
    }
    work->runner = make_runner();
    const Outcome outcome = work->runner->run(*work->launch.run, kTurn);
    if (may_put_aside(*work->runner, outcome)) {
      work->waits_for_memory = outcome == Outcome::kDeadlock;
      aside_.push_back(std::move(work));
      continue;
    }
    open_.erase(work->number);
    end_launch(*work, outcome);
  }
  return moved;
}

void Device::end_launch(Work& work, Outcome outcome) {
  end_values(*work.launch.run, *work.runner, outcome);
  note_launched(work.stream, done_s(work.stream), *work.runner);
}

void Device::sleep(std::chrono::microseconds time) {
  mutex_.unlock();
  std::this_thread::sleep_for(time);
  mutex_.lock();
}

void Device::go_on_until(const std::function<bool()>& done) {
  // What it waits for may be the end of this very function.
  if (host_functions_.is_this_thread() && !done()) throw Failure(Code::kNotPermitted);
  struct Shown {
    ProgressLine& line;
    explicit Shown(ProgressLine& l) : line(l) { line.begin(); }
    ~Shown() { line.clear(); }
  } const shown(progress_);
  moved_at_ = Clock::now();
  Clock::time_point slept_at = moved_at_;
  while (!done()) {
    check();
    if (go_on()) {
      // Others have their turn, too.
      if (moved_at_ - slept_at > kPause) {
        sleep(kPauseBeside);
        slept_at = Clock::now();
      }
      continue;
    }
    // Something may have happened in the thread beside.
    const bool is_over = Clock::now() - moved_at_ > kPatience && !host_functions_.runs();
    if (is_over && !aside_.empty()) {
      const std::unique_ptr<Work> stuck = std::move(aside_.front());
      aside_.clear(), open_.clear();  // what is pending may be functions that learn of the failure
      end_values(*stuck->launch.run, *stuck->runner, Outcome::kDeadlock);
    }
    if (is_over && aside_.empty()) {
      open_.clear();
      fail(Code::kLaunchTimeout, "a stream waits for a value in memory that nothing writes");
    }
    // Other threads may submit, or write to memory, what the kernel waits for.
    sleep(kPause);
  }
}

void Device::go_on_at_end() {
  moved_at_ = Clock::now();
  if (ends_since_ == Clock::time_point()) ends_since_ = moved_at_;
  while (!open_.empty() && !fault_) {
    if (go_on()) {
      if (moved_at_ - ends_since_ > kPatience) return;
    } else if (Clock::now() - moved_at_ > kPatienceAtEnd) {
      return;
    }
    sleep(kPauseBeside);
  }
}

void Device::give_up_what_waits() {
  for (const auto& work : aside_) {
    if (fault_) break;  // which has been told
    warn(fmt::format("note: kernel '{}' was under way when the program ended, which ends it{}{}",
                     core::demangled(work->launch.run->image->name),
                     work->runner->error().empty() ? "" : ": ", work->runner->error()));
  }
  aside_.clear(), pending_.clear(), open_.clear();
}

}  // namespace gpusim::runtime
