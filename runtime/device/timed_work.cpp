// Work of a timed run: the machine carries out what was submitted since the last time.
#include <algorithm>

#include "runtime/device/children.h"
#include "runtime/device/environment.h"
#include "runtime/device/view.h"
#include "runtime/device/work.h"
#include "simcore/config/peaks.h"

namespace gpusim::runtime {

double Device::copy_seconds(Copy::Direction direction, uint64_t bytes) const {
  const auto& host = machine().host;
  if (direction == Copy::Direction::kDeviceToDevice)
    return 2.0 * static_cast<double>(bytes) / std::max(core::dram_peak(machine()), 1.0);
  return host.link_latency_ns * 1e-9 +
         static_cast<double>(bytes) / static_cast<double>(std::max<int64_t>(host.link_bytes_per_s, 1));
}

comp::LiveRun::Hooks Device::hooks() {
  comp::LiveRun::Hooks hooks;
  hooks.copied = [this](uint32_t n) {
    move_bytes(*transfers_[n]);
    note_done(transfers_[n]->stream, now_s());
  };
  hooks.marker = [this](uint32_t n, double seconds) {
    Work& w = *markers_[n];
    note_done(w.stream, seconds + untimed_s_);
    if (w.kind == Work::Kind::kHostFunction)
      call_back_and_wait(w);
    else if (w.function)
      w.function();
    if (w.event == nullptr) return;
    w.event->reached = true;
    w.event->seconds = seconds + untimed_s_;
    // Not before what it comes after, whose end is a sum that may be rounded up.
    w.event->done_s = std::max(w.event->seconds, done_s_[w.stream]);
  };
  hooks.kernel_ended = [this](const comp::KernelResult& k) {
    tell_findings();
    note_time(k);
    note_done(children_->host_stream(k), k.start_s + k.time_s + untimed_s_);
    children_->end(k.launch);
  };
  hooks.child = [this](uint64_t n) { return children_->start(n); };
  hooks.child_done = [this](uint64_t n) { children_->done(n); };
  return hooks;
}

void Device::make_machine() {
  if (live_ != nullptr) return;
  try {
    live_ = std::make_unique<comp::LiveRun>(simulation_, *view_, hooks(), checker_.get(), &host_ranges_);
  } catch (const std::exception& error) {
    in_vain_ = in_vain_ || !options_.out.empty();
    fail(Code::kInitializationError, error.what());
  }
  finish_at_exit(*this);
}

comp::CopyResult Device::transfer_of(const Work& work) const {
  comp::CopyResult r;
  const bool fill = work.kind == Work::Kind::kFill;
  const void* const place = fill ? work.fill.to
                            : work.copy.direction == Copy::Direction::kDeviceToHost
                                ? static_cast<const void*>(work.copy.from)
                                : work.copy.to;
  const core::Allocation* a = memory_.find(reinterpret_cast<uint64_t>(place));
  r.buffer = a == nullptr ? "host memory" : a->name;
  r.stream = work.stream;
  r.to_device = fill || work.copy.direction != Copy::Direction::kDeviceToHost;
  r.bytes = fill ? work.fill.bytes() : work.copy.bytes();
  r.time_s = fill ? static_cast<double>(r.bytes) / std::max(core::dram_peak(machine()), 1.0)
                  : copy_seconds(work.copy.direction, r.bytes);
  return r;
}

void Device::hand_over(Work& work) {
  comp::LiveRun::Order order{work.stream, {}};
  for (const uint64_t number : work.after)
    if (const auto at = order_.find(number); at != order_.end()) order.after.push_back(at->second);
  uint32_t item = 0;
  if (work.kind == Work::Kind::kLaunch) {
    item = live_->add(work.launch, std::move(order));
  } else if (work.kind == Work::Kind::kCopy || work.kind == Work::Kind::kFill) {
    const auto number = static_cast<uint32_t>(transfers_.size());
    transfers_.push_back(&work);
    item = live_->add_copy(transfer_of(work), std::move(order), number);
  } else {
    const auto number = static_cast<uint32_t>(markers_.size());
    markers_.push_back(&work);
    item = live_->add_marker(std::move(order), number);
  }
  order_[work.number] = item;
}

bool Device::run_machine() {
  bool good = false;
  progress_.begin();
  try {
    children_->machine_runs = true;
    machine_thread_ = std::this_thread::get_id();
    // Before the kernels end: a program that is killed leaves the texts of what was simulated.
    live_->record([this](core::Recorder& recorder) { write_new_texts(recorder); });
    good = live_->run();
    children_->machine_runs = false;
    progress_.clear();
  } catch (const Failure& failure) {
    progress_.clear();
    children_->machine_runs = false;
    if (fault_) throw;  // of something that ran for values meanwhile
    fail(failure.code(), failure.what());
  } catch (const std::exception& error) {
    progress_.clear();
    children_->machine_runs = false;
    fail(Code::kUnknown, error.what());
  }
  return good;
}

void Device::flush() {
  if (!open_.empty()) return go_on_until([this] { return open_.empty(); });
  wait_for_machine();
  if (pending_.empty() || fault_) return;
  make_machine();
  asked_.clear();
  // What hooks submit is carried out by the next flush.
  // What is carried out stays until the next flush: of a kernel that fails, the record is written at the end.
  carried_out_ = std::exchange(pending_, {});
  transfers_.clear(), markers_.clear();
  for (const auto& work : carried_out_) hand_over(*work);
  const bool good = run_machine();
  order_.clear();
  if (std::exchange(names_run_, names_.size()) != names_.size())
    flush_at_exit(*this);  // before what the first run of a kernel has made is destroyed
  if (!good) fail(code_of_fault(live_->result().fault, live_->failure()), live_->failure());
  if (!pending_.empty()) flush();
}

}  // namespace gpusim::runtime
