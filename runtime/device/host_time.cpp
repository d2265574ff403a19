// How far the program is in simulated time, for its questions whether work is done.
#include <algorithm>

#include "runtime/device/work.h"

namespace gpusim::runtime {

namespace {
/// What a question in vain takes at first. Questions in a row take twice as long each, so that a program that
/// asks until something is done, and sleeps in between, need not ask often.
constexpr double kFirstPatience = 1e-7;
}  // namespace

void Device::note_done(uint32_t stream, double seconds) {
  if (stream >= done_s_.size()) done_s_.resize(stream + 1);
  done_s_[stream] = std::max(done_s_[stream], seconds);
}

void Device::note_launched(uint32_t stream, double before, const comp::FunctionalRunner& runner) {
  // What waits, waits in its stream alone.
  note_done(stream, std::max(now_s(), before) + 1e-9 * static_cast<double>(runner.waited_ns()));
}

void Device::note_carried_out(const Work& work, double before) {
  if (work.kind != Work::Kind::kEvent) return note_done(work.stream, now_s());
  if (work.event == nullptr) return;
  work.event->done_s = before;
  work.event->seconds = std::max(work.event->seconds, before);
}

double Device::done_s(uint32_t stream) const {
  const auto found =
      std::ranges::find_if(streams_, [=](const auto& s) { return s.second->number == stream; });
  if (found != streams_.end()) return done_s(*found->second);
  return stream == legacy_.number ? done_s(legacy_) : stream < done_s_.size() ? done_s_[stream] : 0;
}

double Device::done_s(const Stream& stream) const {
  const auto of = [this](const Stream& s) { return s.number < done_s_.size() ? done_s_[s.number] : 0; };
  double seconds = of(stream);
  if (&stream == &legacy_) {
    for (const auto& [key, other] : streams_)
      if (other->blocking) seconds = std::max(seconds, of(*other));
  } else if (stream.blocking) {
    seconds = std::max(seconds, of(legacy_));
  }
  return seconds;
}

bool Device::is_pending(const Stream& stream) const {
  if (pending_.empty()) return false;
  const auto of = [this](const Stream& s) { return s.last_work >= pending_.front()->number; };
  if (of(stream) ||
      std::ranges::any_of(stream.waits, [this](uint64_t n) { return n >= pending_.front()->number; }))
    return true;
  if (&stream != &legacy_) return stream.blocking && of(legacy_);
  return std::ranges::any_of(streams_, [&](const auto& s) { return s.second->blocking && of(*s.second); });
}

void Device::waited(double seconds) {
  program_s_ = std::max(program_s_, seconds);
  patience_s_ = 0;
  // What it submits from now on comes later.
  if (options_.functional) untimed_s_ = std::max(untimed_s_, seconds);
}

bool Device::ask_in_vain() {
  patience_s_ = std::max(kFirstPatience, 2 * patience_s_);
  program_s_ += patience_s_;
  return false;
}

bool Device::is_past(double seconds) {
  if (seconds > program_s_) return ask_in_vain();
  patience_s_ = 0;
  return true;
}

bool Device::is_done(const Stream& stream) {
  check();
  if (!open_.empty()) {
    go_on();
    return !is_waiting(stream);
  }
  if (machine_is_busy()) return ask_in_vain();
  if (is_pending(stream)) {
    if (asked_.insert(&stream).second) return ask_in_vain();  // it has not begun
    flush();
  }
  return is_past(done_s(stream));
}

bool Device::is_done(const Event& event) {
  check();
  if (!open_.empty()) {
    go_on();
    return !event.recorded || event.reached;
  }
  if (!event.recorded) return true;
  if (!event.reached) {
    if (machine_is_busy()) return ask_in_vain();
    if (asked_.insert(&event).second) return ask_in_vain();
    flush();
  }
  return is_past(event.done_s);
}

double Device::milliseconds(Event& from, Event& to) {
  if (!from.recorded || !to.recorded || !from.timing || !to.timing)
    throw Failure(Code::kInvalidResourceHandle);
  if (!from.reached || !to.reached) {
    if (!open_.empty()) throw Failure(Code::kNotReady);
    flush();
  }
  if (!is_past(std::max(from.done_s, to.done_s))) throw Failure(Code::kNotReady);
  return (to.seconds - from.seconds) * 1e3;
}

}  // namespace gpusim::runtime
