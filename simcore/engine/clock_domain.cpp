#include "simcore/engine/clock_domain.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gpusim::core {

namespace {
using Wide = unsigned __int128;
}

Clocked::Clocked(const sc_core::sc_module_name& name, ClockDomain& domain)
    : sc_module(name), domain_(domain) {
  index_ = domain.add(*this);
  SC_METHOD(activate);
  sensitive << activation_;
  dont_initialize();
}

void Clocked::activate() {
  domain_.tick(index_);
  if (--domain_.pending_ == 0) domain_.end_of_edge();
}

ClockDomain::ClockDomain(const sc_core::sc_module_name& name, Engine& engine, uint64_t khz)
    : sc_module(name),
      engine_(engine),
      khz_(khz),
      period_fs_(kFsTimesKhz / khz),
      period_remainder_(kFsTimesKhz % khz) {
  past_.fill({Cycle(0), 0, khz});
  engine.domains_.push_back(this);
  occupied_.assign(kBuckets / 64, 0);
  wheel_.assign(size_t{kBuckets} * words_, 0);
  batch_.assign(words_, 0);
  SC_METHOD(on_edge);
  sensitive << edge_;
  dont_initialize();
}

uint32_t ClockDomain::add(Clocked& module) {
  const auto index = static_cast<uint32_t>(modules_.size());
  modules_.push_back(&module);
  next_.push_back(kNever);
  if (modules_.size() > size_t{words_} * 64) {
    // Widen every bucket; only during elaboration, when few or no modules are scheduled.
    const uint32_t old = words_;
    std::vector<uint64_t> wider(size_t{kBuckets} * (old + 1), 0);
    for (uint32_t b = 0; b < kBuckets; ++b)
      std::copy_n(&wheel_[size_t{b} * old], old, &wider[size_t{b} * (old + 1)]);
    wheel_ = std::move(wider);
    words_ = old + 1;
    batch_.assign(words_, 0);
  }
  return index;
}

Femtoseconds ClockDomain::Line::time_of(Cycle c) const {
  return fs + static_cast<Femtoseconds>(Wide{c - first} * kFsTimesKhz / khz);
}

Femtoseconds ClockDomain::time_of(Cycle c) const {
  if (c > change_.first) return change_.time_of(c);
  if (c >= now_) {
    Femtoseconds fs;
    uint64_t remainder;
    advance_time(c, fs, remainder);
    return fs;
  }
  // Of what lies several changes back only that it is past matters.
  for (const Line& line : past_)
    if (c >= line.first) return line.time_of(c);
  return 0;
}

Cycle ClockDomain::first_edge_after(Femtoseconds t) const {
  if (t == cached_query_) return cached_answer_;
  // Smallest n with floor(n * 10^12 / f) > t, i.e. n >= (t + 1) * f / 10^12, counted from the last processed
  // edge, or from that of a change.
  if (change_.first != kNever && t >= change_.fs)
    return change_.first +
           static_cast<uint64_t>((Wide{t + 1 - change_.fs} * change_.khz + (kFsTimesKhz - 1)) / kFsTimesKhz);
  const uint64_t elapsed = t + 1 - now_fs_;
  uint64_t cycles;
  if (elapsed < (uint64_t{1} << 40) && khz_ < (uint64_t{1} << 23)) {
    const uint64_t product = elapsed * khz_ - now_remainder_;
    cycles = (product + kFsTimesKhz - 1) / kFsTimesKhz;
  } else {
    const Wide product = Wide{elapsed} * khz_ - now_remainder_;
    cycles = static_cast<uint64_t>((product + (kFsTimesKhz - 1)) / kFsTimesKhz);
  }
  cached_query_ = t;
  cached_answer_ = now_ + cycles;
  return cached_answer_;
}

void ClockDomain::change_frequency(uint64_t khz) {
  if (change_.first == kNever) {
    const Cycle at = pending_ != 0 ? now_ + 1 : first_edge_after(engine_.now_fs_);
    change_ = {at, time_of(at), khz};
  }
  change_.khz = khz;
  cached_query_ = ~0ull;
  engine_.has_background_ = true;
  plan_background();
  if (pending_ == 0) engine_.arm_backgrounds();
}

void ClockDomain::set_alarm(Cycle due, std::function<Cycle(Cycle)> alarm) {
  alarm_due_ = due;
  alarm_ = std::move(alarm);
  engine_.has_background_ = true;
  plan_background();
}

void ClockDomain::plan_background() {
  const Cycle next = next_background();
  background_fs_ = next == kNever ? ~0ull : time_of(next);
}

void ClockDomain::apply_change() {
  khz_ = change_.khz;
  period_fs_ = kFsTimesKhz / khz_;
  period_remainder_ = kFsTimesKhz % khz_;
  now_remainder_ = 0;
  cached_query_ = ~0ull;
  std::shift_right(past_.begin(), past_.end(), 1);
  past_.front() = change_;
  change_.first = kNever;
  plan_background();
  for (const auto& action : on_change_) action();
}

void ClockDomain::arm_background() {
  armed_ = next_background();
  advance_time(armed_, armed_fs_, armed_remainder_);
}

Cycle ClockDomain::cycle_at(Femtoseconds t) const {
  const Line& line = past_.front();
  return line.first + static_cast<uint64_t>(Wide{t - line.fs} * line.khz / kFsTimesKhz);
}

uint64_t ClockDomain::cycles_of_ns(double ns) const {
  // The product is a whole number whenever the configuration means one; 1e-6 absorbs its rounding.
  return static_cast<uint64_t>(std::ceil(ns * static_cast<double>(khz_) / 1e6 - 1e-6));
}

void ClockDomain::set_observer(Cycle due, std::function<Cycle(Cycle)> observer) {
  observer_due_ = due;
  observer_ = std::move(observer);
}

inline void ClockDomain::insert(uint32_t module, Cycle c) {
  if (c - now_ >= kBuckets) {
    insert_far(module, c);
    return;
  }
  const uint32_t bucket = c.count() % kBuckets;
  wheel_[size_t{bucket} * words_ + module / 64] |= uint64_t{1} << (module % 64);
  occupied_[bucket / 64] |= uint64_t{1} << (bucket % 64);
}

void ClockDomain::insert_far(uint32_t module, Cycle c) {
  far_.emplace_back(c, module);
  std::push_heap(far_.begin(), far_.end(), std::greater<>{});
}

void ClockDomain::remove(uint32_t module, Cycle c) {
  // A far entry goes stale instead: next_[module] no longer names its cycle.
  if (c - now_ >= kBuckets) return;
  const uint32_t bucket = c.count() % kBuckets;
  uint64_t* words = &wheel_[size_t{bucket} * words_];
  words[module / 64] &= ~(uint64_t{1} << (module % 64));
  if (std::all_of(words, words + words_, [](uint64_t w) { return w == 0; }))
    occupied_[bucket / 64] &= ~(uint64_t{1} << (bucket % 64));
}

/// Makes `c` the module's one planned tick. Requires c > now.
inline void ClockDomain::plan(uint32_t module, Cycle c) {
  Cycle& next = next_[module];
  if (next == c) return;
  if (next != kNever) remove(module, next);
  next = c;
  insert(module, c);
}

void ClockDomain::schedule(uint32_t module, Cycle c) {
  if (c == kNever) return;
  if (pending_ != 0) {
    plan(module, std::max(c, now_ + 1));
    return;
  }
  // An idle domain may lag behind time: "now" is the first edge that has not passed yet.
  c = std::max(c, first_edge_after(engine_.now_fs_));
  plan(module, c);
  if (c >= armed_) return;
  arm();
  if (engine_.has_background_) engine_.arm_backgrounds();
}

Cycle ClockDomain::next_wanted() {
  while (!far_.empty() && far_.front().first - now_ < kBuckets) {
    const auto [cycle, module] = far_.front();
    std::pop_heap(far_.begin(), far_.end(), std::greater<>{});
    far_.pop_back();
    if (next_[module] == cycle) insert(module, cycle);
  }
  // Search the wheel's occupancy bitmap from the bucket after now, once around.
  const uint32_t start = (now_.count() + 1) % kBuckets;
  constexpr uint32_t kWords = kBuckets / 64;
  uint64_t bits = occupied_[start / 64] >> (start % 64);
  if (bits != 0) return now_ + 1 + static_cast<uint64_t>(std::countr_zero(bits));
  for (uint32_t step = 1; step <= kWords; ++step) {
    const uint32_t word = (start / 64 + step) % kWords;
    bits = occupied_[word];
    if (bits == 0) continue;
    const uint32_t bucket = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
    return now_ + 1 + (bucket - start + kBuckets) % kBuckets;
  }
  return next_far();
}

Cycle ClockDomain::next_far() {
  while (!far_.empty() && next_[far_.front().second] != far_.front().first) {
    std::pop_heap(far_.begin(), far_.end(), std::greater<>{});
    far_.pop_back();
  }
  return far_.empty() ? kNever : far_.front().first;
}

void ClockDomain::advance_time(Cycle c, Femtoseconds& fs, uint64_t& remainder) const {
  const uint64_t jump = c - now_;
  if (jump == 1) {
    fs = now_fs_ + period_fs_;
    remainder = now_remainder_ + period_remainder_;
    if (remainder >= khz_) {
      remainder -= khz_;
      ++fs;
    }
  } else if (jump < 10'000'000) {
    const uint64_t total = now_remainder_ + jump * kFsTimesKhz;
    fs = now_fs_ + total / khz_;
    remainder = total % khz_;
  } else {
    const Wide total = Wide{jump} * kFsTimesKhz + now_remainder_;
    fs = now_fs_ + static_cast<Femtoseconds>(total / khz_);
    remainder = static_cast<uint64_t>(total % khz_);
  }
}

void ClockDomain::begin_edge() {
  now_ = armed_;
  now_fs_ = armed_fs_;
  now_remainder_ = armed_remainder_;
  cached_query_ = ~0ull;
  armed_ = kNever;
  engine_.now_fs_ = now_fs_;
  // The heap's entry for exactly this cycle, if the wheel could not hold it yet.
  while (!far_.empty() && far_.front().first <= now_) {
    const uint32_t module = far_.front().second;
    if (next_[module] == now_) insert(module, now_);
    std::pop_heap(far_.begin(), far_.end(), std::greater<>{});
    far_.pop_back();
  }
  const uint32_t bucket = now_.count() % kBuckets;
  uint64_t* words = &wheel_[size_t{bucket} * words_];
  pending_ = 0;
  for (uint32_t w = 0; w < words_; ++w) {
    batch_[w] = words[w];
    words[w] = 0;
    for (uint64_t bits = batch_[w]; bits != 0; bits &= bits - 1) {
      next_[w * 64 + static_cast<uint32_t>(std::countr_zero(bits))] = kNever;
      ++pending_;
    }
  }
  occupied_[bucket / 64] &= ~(uint64_t{1} << (bucket % 64));
}

inline void ClockDomain::tick(uint32_t module) {
  const Cycle wanted = modules_[module]->tick(now_);
  if (wanted < next_[module]) plan(module, std::max(wanted, now_ + 1));
}

void ClockDomain::end_of_edge() {
  if (!engine_.stop_requested_) {
    arm();
    engine_.arm_backgrounds();
  } else if (!engine_.direct_) {
    if (engine_.pauses_)
      sc_core::sc_pause();
    else
      sc_core::sc_stop();
  }
}

void ClockDomain::arm() {
  const Cycle next = next_wanted();
  if (next == kNever || next >= armed_) return;
  armed_ = next;
  // The edge of a change comes before, and arms the domain anew.
  if (next > change_.first)
    armed_fs_ = change_.time_of(next);
  else
    advance_time(next, armed_fs_, armed_remainder_);
  engine_.armed(*this);
}

void ClockDomain::on_edge() {
  begin_edge();
  if (now_ == change_.first) apply_change();
  if (observer_ && now_ >= observer_due_) observer_due_ = observer_(now_);
  if (now_ >= alarm_due_) {
    alarm_due_ = kNever;  // it may change the frequency, which looks at what is due
    alarm_due_ = alarm_(now_);
    plan_background();
  }
  const bool call = engine_.activation_ == Engine::Activation::kBatched || engine_.direct_;
  for (uint32_t w = 0; w < words_; ++w) {
    for (uint64_t bits = batch_[w]; bits != 0; bits &= bits - 1) {
      const uint32_t module = w * 64 + static_cast<uint32_t>(std::countr_zero(bits));
      if (call)
        tick(module);
      else
        modules_[module]->activation_.notify();
    }
  }
  if (call || pending_ == 0) {
    pending_ = 0;
    end_of_edge();
  }
}

/// The process of kBatched.
class Engine::Stepper : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Stepper);
  explicit Stepper(Engine& engine) : sc_module(sc_core::sc_module_name("engine")), engine_(engine) {
    SC_METHOD(step);
    sensitive << next;
    dont_initialize();
  }
  sc_core::sc_event next;

 private:
  void step() { engine_.run_batch(); }
  Engine& engine_;
};

Engine::Engine(Activation activation) : activation_(activation) {
  // Once per process: SystemC refuses a second call, but engines driven directly may follow one another.
  static const bool resolution_set = (sc_core::sc_set_time_resolution(1, sc_core::SC_FS), true);
  (void)resolution_set;
  if (activation_ == Activation::kBatched) stepper_ = std::make_unique<Stepper>(*this);
  // The kernel announces every sc_stop() on stdout, which belongs to --json; only its errors matter.
  sc_core::sc_report_handler::set_handler(
      [](const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
        if (report.get_severity() >= sc_core::SC_ERROR)
          sc_core::sc_report_handler::default_handler(report, actions);
      });
}

Engine::~Engine() = default;

ClockDomain* Engine::next_domain() const {
  ClockDomain* first = nullptr;
  for (ClockDomain* d : domains_)
    if (d->armed_ != kNever && (first == nullptr || d->armed_fs_ < first->armed_fs_)) first = d;
  return first;
}

ClockDomain* Engine::next_edge() {
  ClockDomain* first = next_domain();
  if (!has_background_ || first == nullptr) return first;
  Femtoseconds earliest = ~0ull;
  for (ClockDomain* d : domains_) {
    const bool background = d->next_background() < d->armed_;
    if (!background && d->armed_ == kNever) continue;
    const Femtoseconds at = background ? d->background_fs_ : d->armed_fs_;
    if (at >= earliest) continue;
    earliest = at;
    first = d;
  }
  if (first->next_background() < first->armed_) first->arm_background();
  return first;
}

void Engine::arm_backgrounds() {
  if (!has_background_ || activation_ == Activation::kBatched || direct_) return;
  Femtoseconds latest = 0;
  for (ClockDomain* d : domains_)
    if (const Cycle work = d->next_wanted(); work != kNever) latest = std::max(latest, d->time_of(work));
  for (ClockDomain* d : domains_) {
    if (d->next_background() >= d->armed_ || d->background_fs_ > latest) continue;
    d->arm_background();
    armed(*d);
  }
}

void Engine::armed(ClockDomain& domain) {
  if (direct_ || in_batch_) return;
  sc_core::sc_event& event = activation_ == Activation::kBatched ? stepper_->next : domain.edge_;
  // Not from the engine's time: other processes of the kernel may wake a module between two edges.
  // What is no work may have been due while nothing had any.
  const Femtoseconds now = sc_core::sc_time_stamp().value();
  event.notify(sc_core::sc_time::from_value(std::max(domain.armed_fs_, now) - now));
}

void Engine::run_batch() {
  in_batch_ = true;
  const Femtoseconds kernel_time = sc_core::sc_time_stamp().value();
  while (ClockDomain* d = next_edge()) {
    // Anything else that SystemC has to do comes first, at the same time or before.
    if (d->armed_fs_ > kernel_time && sc_core::sc_pending_activity() &&
        (kernel_time + sc_core::sc_time_to_pending_activity(sc_core::sc_get_curr_simcontext()).value() <=
         d->armed_fs_)) {
      stepper_->next.notify(sc_core::sc_time::from_value(d->armed_fs_ - kernel_time));
      break;
    }
    d->on_edge();
    if (stop_requested_) break;
  }
  in_batch_ = false;
}

Engine::Outcome Engine::run() {
  if (pauses_) {
    stop_requested_ = pauses_ = false;
    for (ClockDomain* d : domains_) {
      if (d->armed_ == kNever) d->arm();
      if (d->armed_ != kNever) armed(*d);
    }
  }
  arm_backgrounds();
  sc_core::sc_start();
  return stop_requested_ ? Outcome::kStopped : Outcome::kNothingScheduled;
}

Engine::Outcome Engine::run_direct() {
  direct_ = true;
  while (!stop_requested_) {
    for (ClockDomain* d : domains_)
      if (d->armed_ == kNever) d->arm();
    ClockDomain* first = next_edge();
    if (first == nullptr) return Outcome::kNothingScheduled;
    first->on_edge();
  }
  return Outcome::kStopped;
}

std::vector<std::string> Engine::waiting() const {
  std::vector<std::string> lines;
  for (const ClockDomain* d : domains_)
    for (const Clocked* m : d->modules_)
      if (std::string what = m->waiting_for(); !what.empty())
        lines.push_back(std::string(m->name()) + ": " + what);
  return lines;
}

}  // namespace gpusim::core

/// The SystemC library refers to sc_main; gpusim has a main() of its own and starts the kernel through
/// Engine::run(). Weak, for a SystemC program that links gpusim has one of its own.
__attribute__((weak)) int sc_main(int, char**) { return 0; }
