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
#include "components/simulation/run_tables.h"
#include "simcore/memory/fingerprint.h"

namespace gpusim::comp {

namespace {

/// The copies of the launch file, with the time that each takes.
std::vector<CopyResult> planned_copies(const SimulationOptions& options) {
  std::vector<CopyResult> all;
  const auto& host = options.machine.host;
  const double rate = static_cast<double>(std::max<int64_t>(host.link_bytes_per_s, 1));
  for (const core::CopySpec& c : options.launch.copies) {
    const core::BufferSpec& b = options.launch.buffers[c.buffer];
    CopyResult copy;
    copy.buffer = b.name;
    copy.is_variable = b.variable.has_value();
    copy.stream = c.stream;
    copy.to_device = c.to_device;
    copy.bytes = b.bytes();
    copy.time_s = host.link_latency_ns * 1e-9 + static_cast<double>(b.bytes()) / rate;
    all.push_back(std::move(copy));
  }
  return all;
}

class TimedRun {
 public:
  TimedRun(const RunPlan& plan, SimulationResult& result);
  TimedRun(const TimedRun&) = delete;
  TimedRun& operator=(const TimedRun&) = delete;
  /// Runs to the end, or until something ends it.
  void run();

 private:
  [[nodiscard]] BlockDispatcher::Hooks hooks();
  void enqueue();
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
  [[nodiscard]] bool warms_up(const KernelLaunch& run) const { return run.id >= plan_.launches.size(); }
  [[nodiscard]] const PreparedLaunch& launch_of(const KernelLaunch& run) const {
    return warms_up(run) ? plan_.warm_up[run.id - plan_.launches.size()] : plan_.launches[run.id];
  }
  void begin_kernel(KernelLaunch& run);
  void end_kernel(KernelLaunch& run);
  void copied(const BlockDispatcher::Copy& copy);
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
  if (!plan_.warm_up.empty()) first_contents_ = plan_.contents.memory().contents();
  make_governor();
  gpu_.dispatcher().set_hooks(hooks());
  result_.copies = planned_copies(options_);
  enqueue();
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
  return {[this](KernelLaunch& run) { begin_kernel(run); }, [this](KernelLaunch& run) { end_kernel(run); },
          [this] {
            all_done_ = true;
            engine_.stop();
          },
          [this](const BlockDispatcher::Copy& copy) { copied(copy); },
          [this](const KernelLaunch& run) { return power_.set_clocks(launch_of(run).spec->clocks); }};
}

void TimedRun::enqueue() {
  BlockDispatcher& dispatcher = gpu_.dispatcher();
  if (options_.launch.legacy_default_stream) dispatcher.use_legacy_default_stream();
  const bool flushed = options_.caches == CacheState::kFlushed;
  for (const PreparedLaunch& launch : plan_.warm_up)
    dispatcher.enqueue(*launch.run, launch.spec->stream, launch.spec->clocks.any());
  dispatcher.enqueue_barrier();
  for (const RunItem& item : plan_.order) {
    if (const auto* at = std::get_if<LaunchItem>(&item)) {
      const PreparedLaunch& launch = plan_.launches[at->launch];
      dispatcher.enqueue(*launch.run, launch.spec->stream, flushed || launch.spec->clocks.any());
    } else {
      const CopyResult& copy = result_.copies[std::get<CopyItem>(item).copy];
      dispatcher.enqueue_copy(gpu_.core_domain().cycles_of_ns(copy.time_s * 1e9), copy.stream,
                              copy.to_device);
    }
  }
}

void TimedRun::begin_kernel(KernelLaunch& run) {
  if (options_.caches == CacheState::kFlushed) gpu_.empty_caches();
  gpu_.open_kernel(run);
  if (warms_up(run)) return;
  if (!std::exchange(counting_, true) && !first_contents_.empty()) {
    plan_.contents.memory().restore(first_contents_);
    plan_.services.reset();
  }
  guarded([&] {
    records_.begin_kernel(plan_.launches[run.id]);
    // SMs that have other kernels may have run ahead to the time at which the observer was due.
    if (records_.open_kernels() == 1) gpu_.core_domain().observe_sooner(core::Cycle(records_.next_sample()));
  });
}

void TimedRun::end_kernel(KernelLaunch& run) {
  gpu_.close_kernel(run);
  if (!warms_up(run)) guarded([&] { plan_.services.flush(); });
  if (!warms_up(run))
    guarded([&] { result_.kernels.push_back(records_.end_kernel(plan_.launches[run.id])); });
  // The observer looks from time to time only.
  if (const uint64_t took = run.end - run.start; took > options_.max_cycles && error_.empty()) {
    fail({fmt::format("kernel {} '{}' took {} cycles, more than {} (--max-cycles)", run.id, run.image->name,
                      took, options_.max_cycles)});
    engine_.stop();
  }
  if (plan_.checker != nullptr) plan_.checker->end_launch(run);
}

void TimedRun::copied(const BlockDispatcher::Copy& copy) {
  CopyResult& r = result_.copies[copy.number];
  r.engine = copy.engine;
  if (r.end == 0)
    r.start_s = static_cast<double>(gpu_.core_domain().time_of(core::Cycle(copy.start))) * 1e-15;
  r.start = copy.start;
  r.end = copy.end;
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
  const core::Engine::Outcome outcome = options_.direct_driver ? engine_.run_direct() : engine_.run();
  if (failure_) std::rethrow_exception(failure_);
  conclude(outcome);
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
