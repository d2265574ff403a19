// A run on the timing model, through SystemC: what the dispatcher, the observers and the governor call while
// it goes on, and how it ends.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "components/dram/device_memory_adapter.h"
#include "components/simulation/gpu.h"
#include "components/simulation/run_file.h"
#include "components/simulation/run_observer.h"
#include "components/simulation/run_plan.h"
#include "components/simulation/run_recorder.h"
#include "components/simulation/run_steps.h"
#include "components/simulation/run_tables.h"
#include "simcore/memory/fingerprint.h"

namespace gpusim::comp {

namespace {

/// The host is at most so many launches and transfers of a loop ahead, as drivers let it be.
constexpr size_t kMostAhead = 1024;

class TimedRun {
 public:
  TimedRun(const RunPlan& plan, SimulationResult& result);
  TimedRun(const TimedRun&) = delete;
  TimedRun& operator=(const TimedRun&) = delete;
  /// Runs to the end, or until something ends it.
  void run();

 private:
  [[nodiscard]] BlockDispatcher::Hooks hooks();
  void make_governor();
  void observe_from_time_to_time();
  /// A program error, or another reason for which the run has failed: the first one counts.
  void fail(ProgramError why) {
    if (!error_.empty()) return;
    error_ = std::move(why.message);
    result_.fault = why.fault;
  }
  /// Hooks and observers run inside SystemC processes, which no exception may leave: it ends the run and is
  /// thrown after it.
  template <class Action>
  void guarded(Action action) {
    try {
      if (!failure_) action();
    } catch (...) {
      failure_ = std::current_exception();
      engine_.stop();
    }
  }
  /// True of a launch that only warms the caches: it is simulated, not counted.
  [[nodiscard]] bool warms_up(const KernelLaunch& run) const { return plan_.launches.warms_up(run); }
  /// Issues steps until the host has to wait.
  void issue();
  void issue_step(const core::StepWalker& at);
  /// The same; what is wrong with a step then ends the run.
  void host_goes_on();
  /// Before the first launch or transfer that is no warm-up: memory is as it was at first.
  void begin_counting();
  void begin_kernel(KernelLaunch& run);
  void end_kernel(KernelLaunch& run);
  void transfer_begins(const BlockDispatcher::Copy& copy);
  void transfer_ends(uint32_t number);
  /// Stops the run if the user or a limit wants it.
  void watch(uint64_t core_cycle);
  void report_progress(core::Cycle now) const;
  void conclude(core::Engine::Outcome outcome);

  const RunPlan& plan_;
  const SimulationOptions& options_;
  SimulationResult& result_;
  std::string error_;
  bool all_done_ = false, interrupted_ = false, counting_ = false;
  core::DeviceMemory::Contents first_contents_;  ///< before the launches that warm the caches
  bool warming_;                                 ///< the host issues those
  RunSteps steps_;
  static constexpr size_t kNotCounted = ~size_t{0};
  struct Transfer {
    size_t counted;  ///< index into the result's copies, or kNotCounted
    std::function<void()> move;
  };
  std::vector<Transfer> transfers_;  ///< by the number that the dispatcher has of them
  /// Seconds of all transfers, and how many there may be: simulated time ends (core::Femtoseconds).
  double transfer_s_ = 0;
  static constexpr double kLongestTransfers = 4 * 3600;
  std::exception_ptr failure_;
  DeviceMemoryAdapter memory_;
  RunFile file_;
  core::Engine engine_;
  Gpu gpu_;
  PowerModel power_;
  RunRecorder records_;
  std::unique_ptr<Governor> governor_;
};

TimedRun::TimedRun(const RunPlan& plan, SimulationResult& result)
    : plan_(plan),
      options_(plan.options),
      result_(result),
      warming_(options_.caches == CacheState::kWarm),
      steps_(options_, plan.contents, plan.checker),
      memory_(plan.contents.memory(), plan.contents.textures(), &plan.services),
      file_(options_),
      engine_(options_.module_events ? core::Engine::Activation::kModuleEvents
                                     : core::Engine::Activation::kBatched),
      gpu_(
          engine_, options_.machine, memory_, options_.sms == 0 ? options_.machine.gpu.sms : options_.sms,
          [this](ProgramError error) { fail(std::move(error)); }, !options_.direct_driver, plan.checker,
          options_.attach_memory),
      power_(gpu_, options_.machine),
      records_(file_.recorder(), gpu_, power_, options_.machine, plan.checker, options_.sample_cycles) {
  if (warming_) first_contents_ = plan_.contents.memory().contents();
  make_governor();
  gpu_.dispatcher().set_hooks(hooks());
  if (options_.launch.legacy_default_stream) gpu_.dispatcher().use_legacy_default_stream();
  host_goes_on();
  observe_from_time_to_time();
}

void TimedRun::make_governor() {
  if (options_.machine.dvfs.governor == core::Governor::kFixed) return;
  const auto& s = options_.machine.scheduler;
  const double slots = static_cast<double>(gpu_.sms().size()) * static_cast<double>(s.count * s.issue_width) /
                       static_cast<double>(s.issue_cycles);
  governor_ = std::make_unique<Governor>("governor", gpu_.core_domain(), power_, options_.machine, slots,
                                         [this] { return records_.slot_use(); });
}

BlockDispatcher::Hooks TimedRun::hooks() {
  return {[this](KernelLaunch& run) { begin_kernel(run); },
          [this](KernelLaunch& run) { end_kernel(run); },
          [this] {
            all_done_ = true;
            engine_.stop();
          },
          [this](const BlockDispatcher::Copy& copy) { transfer_begins(copy); },
          [this](const KernelLaunch& run) { return power_.set_clocks(plan_.launches.of(run).spec->clocks); },
          [this](uint32_t number) { transfer_ends(number); },
          {},
          [this] { guarded([this] { host_goes_on(); }); }};
}

void TimedRun::issue() {
  BlockDispatcher& dispatcher = gpu_.dispatcher();
  core::StepWalker& at = steps_.walker();
  plan_.launches.forget_ended();
  for (;;) {
    if (at.done()) {
      if (!warming_) return;
      // All of the real work comes after all of this; what the host reads meanwhile is what is there first.
      if (!plan_.launches.fixed() && dispatcher.unfinished() != 0) return dispatcher.call_below(1);
      dispatcher.enqueue_barrier();
      if (!plan_.launches.fixed()) begin_counting();
      warming_ = false;
      at.restart();
    } else if (at.waits() && dispatcher.unfinished() != 0) {
      return dispatcher.call_below(1);
    } else if (at.in_loop() && dispatcher.unfinished() >= kMostAhead) {
      return dispatcher.call_below(kMostAhead / 2);
    } else {
      issue_step(at);
      at.advance();
    }
    if (interrupted(options_)) {
      interrupted_ = true;
      return engine_.stop();
    }
  }
}

void TimedRun::host_goes_on() {
  try {
    issue();
  } catch (const core::InputError& error) {
    fail({reason_of(error)});
    engine_.stop();
  }
}

void TimedRun::issue_step(const core::StepWalker& at) {
  if (at.kind() == core::StepWalker::Kind::kLaunch) {
    const core::LaunchSpec spec = at.launch();
    const bool alone = (options_.caches == CacheState::kFlushed && !warming_) || spec.clocks.any();
    for (uint32_t i = 0; i < spec.repeat; ++i)
      gpu_.dispatcher().add(*plan_.launches.take(spec, warming_).run, {spec.stream, {}}, alone);
  } else if (at.kind() == core::StepWalker::Kind::kCopy || at.kind() == core::StepWalker::Kind::kMemset) {
    RunSteps::Transfer t = steps_.transfer();
    // Copies that only cost time warm nothing.
    if (warming_ && !t.move) return;
    transfer_s_ += t.result.time_s;
    if (transfer_s_ > kLongestTransfers)
      throw core::InputError(
          fmt::format("copies between host and device would take more than {:.0f} hours at {:.3g} bytes/s "
                      "(host.link_rate); simulated time ends after 5.1 hours",
                      kLongestTransfers / 3600, static_cast<double>(options_.machine.host.link_bytes_per_s)));
    const uint64_t cycles = gpu_.core_domain().cycles_of_ns(t.result.time_s * 1e9);
    gpu_.dispatcher().add_copy(cycles, {t.result.stream, {}}, t.result.to_device,
                               static_cast<uint32_t>(transfers_.size()));
    transfers_.push_back({warming_ ? kNotCounted : result_.copies.size(), std::move(t.move)});
    if (!warming_) result_.copies.push_back(std::move(t.result));
  }
}

void TimedRun::begin_counting() {
  if (std::exchange(counting_, true) || plan_.options.caches != CacheState::kWarm) return;
  plan_.contents.memory().restore(first_contents_);
  plan_.contents.restore_names();
  plan_.services.reset();
}

void TimedRun::begin_kernel(KernelLaunch& run) {
  if (options_.caches == CacheState::kFlushed) gpu_.empty_caches();
  if (!warms_up(run)) begin_counting();  // restores what memory held, which the kernel's constants come from
  gpu_.open_kernel(run);
  if (warms_up(run)) return;
  guarded([&] {
    records_.begin_kernel(plan_.launches.of(run));
    // SMs that have other kernels may have run ahead to the time at which the observer was due.
    if (records_.open_kernels() == 1) gpu_.core_domain().observe_sooner(core::Cycle(records_.next_sample()));
  });
}

void TimedRun::end_kernel(KernelLaunch& run) {
  gpu_.close_kernel(run);
  if (!warms_up(run)) guarded([&] { plan_.services.flush(); });
  if (!warms_up(run))
    guarded([&] { result_.kernels.push_back(records_.end_kernel(plan_.launches.of(run))); });
  // The observer looks from time to time only.
  if (const uint64_t took = run.end - run.start; took > options_.max_cycles && error_.empty()) {
    fail({fmt::format("kernel {} '{}' took {} cycles, more than {} (--max-cycles)", run.id, run.image->name,
                      took, options_.max_cycles)});
    engine_.stop();
  }
  if (plan_.checker != nullptr) plan_.checker->end_launch(run);
  gpu_.forget_kernel(run);
  plan_.launches.ended(run);
}

void TimedRun::transfer_begins(const BlockDispatcher::Copy& copy) {
  const size_t counted = transfers_[copy.number].counted;
  if (counted == kNotCounted) return;
  begin_counting();
  CopyResult& r = result_.copies[counted];
  r.engine = copy.engine;
  if (r.end == 0)
    r.start_s = static_cast<double>(gpu_.core_domain().time_of(core::Cycle(copy.start))) * 1e-15;
  r.start = copy.start;
  r.end = copy.end;
}

void TimedRun::transfer_ends(uint32_t number) {
  Transfer& t = transfers_[number];
  if (t.move) guarded([&t] { t.move(); });
  t.move = nullptr;
}

void TimedRun::watch(uint64_t core_cycle) {
  if (interrupted(options_)) interrupted_ = true;
  // No other kernel that runs began earlier.
  const KernelLaunch* run = gpu_.dispatcher().current();
  if (run != nullptr && core_cycle > run->start.count() + options_.max_cycles)
    error_ = still_running(gpu_, options_.max_cycles);
  if (interrupted_ || !error_.empty()) engine_.stop();
}

void TimedRun::observe_from_time_to_time() {
  observe(engine_, gpu_, options_.max_cycles,
          {[this](uint64_t now) { guarded([&] { records_.sample(now); }); },
           [this] { return records_.next_sample(); },
           [this](uint64_t now) {
             guarded([&] {
               if (file_.recorder() != nullptr) file_.recorder()->check();
               report_progress(core::Cycle(now));
             });
           },
           [this](uint64_t now) { watch(now); }});
}

void TimedRun::report_progress(core::Cycle now) const {
  const KernelLaunch* run = gpu_.dispatcher().current();
  if (run == nullptr || !options_.on_progress) return;
  uint64_t instructions = result_.warp_instructions;
  for (const SmStats& s : run->sm) instructions += s.warp_instructions;
  options_.on_progress({run->image->name, now - run->start, gpu_.dispatcher().blocks_finished(),
                        run->num_blocks, instructions});
}

void TimedRun::run() {
  // The host may have failed before there is anything to run.
  const core::Engine::Outcome outcome = !error_.empty() || interrupted_ ? core::Engine::Outcome::kStopped
                                        : options_.direct_driver        ? engine_.run_direct()
                                                                        : engine_.run();
  try {
    if (failure_) std::rethrow_exception(failure_);
    conclude(outcome);
  } catch (const core::RecordError& error) {
    std::ranges::sort(result_.kernels, {}, &KernelResult::number);
    // A program that has failed has done so whatever becomes of the file.
    result_.status =
        error_.empty() ? SimulationResult::Status::kUnrecorded : SimulationResult::Status::kFailed;
    result_.reason = error_.empty() ? error.what() : fmt::format("{}\n{}", error_, error.what());
  }
  result_.ended = all_done_ && error_.empty();
}

void TimedRun::conclude(core::Engine::Outcome outcome) {
  if (outcome == core::Engine::Outcome::kNothingScheduled && !all_done_) {
    error_ = deadlock_report(engine_);
    if (plan_.checker != nullptr) plan_.checker->report_stuck_barriers();
  }
  plan_.services.flush();
  if (!error_.empty()) {
    result_.status = SimulationResult::Status::kFailed;
    result_.reason = error_;
  } else if (interrupted_) {
    result_.status = SimulationResult::Status::kInterrupted;
    result_.reason = "interrupted";
  }
  std::ranges::sort(result_.kernels, {}, &KernelResult::number);
  if (!all_done_) records_.abandon_kernels();
  if (core::Recorder* const recorder = file_.recorder(); recorder != nullptr) {
    if (result_.status == SimulationResult::Status::kComplete)
      for (const core::Allocation& a : plan_.contents.memory().allocations())
        if (a.bytes != 0)
          result_.fingerprints.push_back({a.name, a.bytes, core::fingerprint({a.data, a.bytes})});
    write_timeline(*recorder, result_);
    write_fingerprints(*recorder, result_);
    write_system(*recorder, result_, options_.machine);
    file_.close(result_);
  }
}

}  // namespace

void run_timed(const RunPlan& plan, SimulationResult& result) { TimedRun(plan, result).run(); }

}  // namespace gpusim::comp
