// ClockDomain and Clocked: the engine's notion of time. A domain is an sc_module; it owns a timing wheel of
// its modules' next wanted cycles and, at each edge that anybody wants, ticks just those modules (from which
// SystemC event: Engine::Activation). Nothing toggles: a module without work sleeps and costs nothing. Edge n
// lies at floor(n * 10^12 / f_kHz) femtoseconds after time 0, exactly (integer arithmetic with the remainder
// carried), so no frequency drifts; a change of frequency takes the edge at which it applies as the new base.
// What wants to be called at times without being work (a governor) is an alarm. The same modules also run
// without the SystemC kernel (Engine::run_direct, tests).
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "simcore/types.h"

namespace gpusim::core {

class ClockDomain;
class Engine;

/// A hardware block with timing of its own. Derived classes implement tick(); all state changes happen inside
/// it.
class Clocked : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Clocked);
  Clocked(const sc_core::sc_module_name& name, ClockDomain& domain);
  ~Clocked() override = default;

  [[nodiscard]] ClockDomain& domain() const { return domain_; }
  /// Asks for a tick at `c` (or the next edge, if `c` is past) unless an earlier one is planned already.
  inline void wake_at(Cycle c);
  /// What this module waits for, one line, for a deadlock report; empty if it waits for nothing.
  [[nodiscard]] virtual std::string waiting_for() const { return {}; }

 protected:
  /// Does one cycle's work, stages from sink to source, and returns the next cycle it wants: now + 1, later,
  /// or kNever (asleep until a link or another module wakes it). Called at most once per cycle.
  virtual Cycle tick(Cycle now) = 0;

 private:
  friend class ClockDomain;
  void activate();  ///< the process of kModuleEvents

  ClockDomain& domain_;
  uint32_t index_ = 0;  ///< in its domain: the order of direct activation
  sc_core::sc_event activation_;
};

class ClockDomain : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(ClockDomain);
  /// `khz` > 0: frequency in kHz.
  ClockDomain(const sc_core::sc_module_name& name, Engine& engine, uint64_t khz);

  [[nodiscard]] uint64_t khz() const { return khz_; }
  /// Cycle of the edge being processed, or of the last one that was.
  [[nodiscard]] Cycle now() const { return now_; }
  [[nodiscard]] bool active() const { return pending_ != 0; }
  [[nodiscard]] Engine& engine() const { return engine_; }
  /// Exact time of edge `c`.
  [[nodiscard]] Femtoseconds time_of(Cycle c) const;
  /// Cycles that had gone by at `t`, which must not lie before the last change of frequency.
  [[nodiscard]] Cycle cycle_at(Femtoseconds t) const;
  /// True if an edge later than `t` has been processed.
  [[nodiscard]] bool has_passed(Femtoseconds t) const { return t < now_fs_; }
  /// First edge strictly later than `t`; `t` must not lie before the last processed edge.
  [[nodiscard]] Cycle first_edge_after(Femtoseconds t) const;
  /// First edge at or after `t`, which must not lie before the last processed edge.
  [[nodiscard]] Cycle first_edge_from(Femtoseconds t) const {
    return t == now_fs_ ? now_ : first_edge_after(t - 1);
  }
  /// Whole cycles that cover `ns` nanoseconds (rounded up).
  [[nodiscard]] uint64_t cycles_of_ns(double ns) const;
  /// From now on latencies of this domain keep their cycles when its frequency changes. Only before the
  /// simulation starts.
  void keep_latencies() { latency_khz_ = khz_; }
  /// How long a latency takes now, in ns, that takes `ns` at the frequency of the start.
  [[nodiscard]] double latency_ns(double ns) const {
    return latency_khz_ == 0 || latency_khz_ == khz_
               ? ns
               : ns * static_cast<double>(latency_khz_) / static_cast<double>(khz_);
  }
  /// The cycles of that.
  [[nodiscard]] uint64_t latency_cycles(double ns) const { return cycles_of_ns(latency_ns(ns)); }

  /// From the first edge strictly later than now on, edges follow each other at `khz` > 0. Modules keep the
  /// cycles for which they have planned. If another change waits for that edge, this one replaces it.
  void change_frequency(uint64_t khz);
  /// Called at the edge at which a change applies, before anything else happens at it: the domain has its new
  /// frequency. Those that were added first come first. Only before the simulation starts.
  void on_change(std::function<void()> action) { on_change_.push_back(std::move(action)); }
  /// Calls `alarm` at edge `due`, after observers and before any module, as long as any module of the engine
  /// has work at that time or later; it returns the next cycle. One per domain, before the simulation starts.
  void set_alarm(Cycle due, std::function<Cycle(Cycle)> alarm);
  /// No change of frequency applies before the edge after this one: what is decided until then holds.
  [[nodiscard]] Cycle steady_until() const { return next_background(); }
  /// What modules do in cycles before this one the observer may see.
  [[nodiscard]] Cycle observed_at() const { return observer_due_; }

  /// Called at the first processed edge at or after `due`, before any module ticks; returns the next due
  /// cycle. Observers only: they may read modules and stop the engine, and do not count as work.
  void set_observer(Cycle due, std::function<Cycle(Cycle)> observer);
  /// The observer is called at `due` already. What modules have decided ahead of time until then it sees.
  void observe_sooner(Cycle due) { observer_due_ = std::min(observer_due_, due); }

 private:
  friend class Clocked;
  friend class Engine;
  static constexpr uint32_t kBuckets = 2048;
  static constexpr uint64_t kFsTimesKhz = 1'000'000'000'000;  ///< period in fs x frequency in kHz

  /// Edges from `first` on: edge first + n lies at fs + floor(n * 10^12 / khz).
  struct Line {
    Cycle first{0};
    Femtoseconds fs = 0;
    uint64_t khz = 0;
    [[nodiscard]] Femtoseconds time_of(Cycle c) const;
  };
  static constexpr size_t kPastLines = 4;

  uint32_t add(Clocked& module);
  void apply_change();
  /// The edge that comes without being work: of a change, or the alarm's.
  [[nodiscard]] Cycle next_background() const { return std::min(alarm_due_, change_.first); }
  /// Finds its time, after it or the frequency has changed.
  void plan_background();
  /// Arms the domain for that edge, which comes before the one that work wants.
  void arm_background();
  void schedule(uint32_t module, Cycle c);
  inline void plan(uint32_t module, Cycle c);
  inline void insert(uint32_t module, Cycle c);
  void insert_far(uint32_t module, Cycle c);
  void remove(uint32_t module, Cycle c);
  [[nodiscard]] Cycle next_wanted();
  [[nodiscard]] Cycle next_far();
  /// Time of edge `c` >= now and the remainder of its division, from those of now.
  void advance_time(Cycle c, Femtoseconds& fs, uint64_t& remainder) const;
  void begin_edge();
  inline void tick(uint32_t module);
  void end_of_edge();
  void arm();
  void on_edge();

  Engine& engine_;
  uint64_t khz_;
  uint64_t latency_khz_ = 0;  ///< at which latencies have the time that they were given; 0: at any
  Cycle now_{0};
  Femtoseconds now_fs_ = 0;
  uint64_t now_remainder_ = 0;  ///< now * 10^12 mod kHz
  mutable Femtoseconds cached_query_ = ~0ull;
  mutable Cycle cached_answer_{0};
  uint64_t period_fs_;         ///< 10^12 / kHz, rounded down
  uint64_t period_remainder_;  ///< 10^12 mod kHz
  Cycle armed_ = kNever;
  Femtoseconds armed_fs_ = 0;  ///< of the armed edge
  uint64_t armed_remainder_ = 0;
  uint32_t pending_ = 0;  ///< modules still to tick at this edge
  uint32_t words_ = 1;    ///< 64-bit words per bucket
  std::vector<Clocked*> modules_;
  std::vector<Cycle> next_;         ///< per module: its one planned tick
  std::vector<uint64_t> wheel_;     ///< kBuckets x words_: bit per module
  std::vector<uint64_t> occupied_;  ///< bit per bucket
  std::vector<std::pair<Cycle, uint32_t>>
      far_;                            ///< min-heap beyond the wheel's reach; stale entries are skipped
  std::vector<uint64_t> batch_;        ///< the bucket being processed
  std::array<Line, kPastLines> past_;  ///< the present line, then earlier ones
  Line change_{kNever, 0, 0};          ///< that will be the present one
  std::vector<std::function<void()>> on_change_;
  Cycle alarm_due_ = kNever;
  std::function<Cycle(Cycle)> alarm_;
  Femtoseconds background_fs_ = ~0ull;  ///< time of next_background()
  Cycle observer_due_ = kNever;
  std::function<Cycle(Cycle)> observer_;
  sc_core::sc_event edge_;
};

/// Owns simulated time and knows every domain; one per process (SystemC elaborates once).
class Engine {
 public:
  enum class Outcome { kStopped, kNothingScheduled };
  /// How edges become activations. kBatched: one SystemC event brings the engine's next edge, and the edges
  /// after it follow in the same activation as long as nothing else in the SystemC kernel is due before them
  /// (sc_time_stamp() stays at the first of them; modules read the engine's time); a domain calls its awake
  /// modules in order. kModuleEvents: an event per domain and an immediate notification of an event of its
  /// own per awake module. Results are equal (tested); batching costs about a tenth.
  enum class Activation { kBatched, kModuleEvents };
  explicit Engine(Activation activation = Activation::kBatched);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  [[nodiscard]] Femtoseconds now_fs() const { return now_fs_; }
  /// Ends the run at this instant, once the modules of the edge in progress have ticked.
  void stop() { stop_requested_ = true; }
  /// As stop(), but run() goes on from there when it is called again.
  void pause() { stop_requested_ = pauses_ = true; }
  [[nodiscard]] bool stop_requested() const { return stop_requested_; }

  /// Runs through the SystemC kernel until stop(), pause() or until no module wants a tick.
  Outcome run();
  /// Runs without SystemC events (test-only driver): edges in time order, domains in order of
  /// construction.
  Outcome run_direct();
  [[nodiscard]] const std::vector<ClockDomain*>& domains() const { return domains_; }
  /// Every module that waits for something, one line each (deadlock report).
  [[nodiscard]] std::vector<std::string> waiting() const;

 private:
  friend class ClockDomain;
  Femtoseconds now_fs_ = 0;
  bool stop_requested_ = false;
  bool pauses_ = false;
  class Stepper;
  /// The domain whose edge comes next (of several at one time the first constructed); nullptr if none wants
  /// one.
  [[nodiscard]] ClockDomain* next_domain() const;
  /// The domain whose edge comes next if edges that are no work count in their place; arms it for them.
  ClockDomain* next_edge();
  /// kModuleEvents: arms domains for those of these edges that do not come after all work.
  void arm_backgrounds();
  /// A domain has planned an edge earlier than it had before.
  void armed(ClockDomain& domain);
  void run_batch();

  bool has_background_ = false;  ///< some domain has had an alarm or a change
  bool direct_ = false;
  Activation activation_;
  bool in_batch_ = false;
  std::unique_ptr<Stepper> stepper_;
  std::vector<ClockDomain*> domains_;
};

inline void Clocked::wake_at(Cycle c) {
  if (c < domain_.next_[index_]) domain_.schedule(index_, c);
}

}  // namespace gpusim::core
