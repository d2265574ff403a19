// Running a loaded program: on the timing model through SystemC, or for values only.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>

#include "components/dram/device_memory_adapter.h"
#include "components/functional/functional_runner.h"
#include "components/simulation/gpu.h"
#include "components/simulation/run_recorder.h"
#include "components/simulation/simulation.h"
#include "simcore/config/load.h"
#include "simcore/record/earlier_run.h"

namespace gpusim::comp {

namespace {

/// Cycles between two looks at the clock on the wall, the interrupt flag and the limits.
constexpr uint64_t kObserverPeriod = 4096;

bool interrupted(const SimulationOptions& options) {
  return options.interrupt != nullptr && options.interrupt->load(std::memory_order_relaxed);
}

std::string deadlock_report(const core::Engine& engine) {
  std::string text = "deadlock: nothing is scheduled but the kernel is not finished";
  size_t shown = 0;
  for (const std::string& line : engine.waiting()) {
    if (++shown > 12) {
      text += "\n  ...";
      break;
    }
    text += "\n  " + line;
  }
  return text;
}

/// Any warp that still runs, for the report of a kernel that does not end.
std::string running_where(const Gpu& gpu) {
  for (const auto& sm : gpu.sms())
    if (std::string text = sm->waiting_for(); !text.empty()) return fmt::format("{}: {}", sm->name(), text);
  return "no warp is resident";
}

}  // namespace

std::vector<TimelineItem> timeline(const SimulationResult& result) {
  std::vector<TimelineItem> items;
  for (const KernelResult& k : result.kernels)
    items.push_back({&k, nullptr, k.stream, k.start, k.start + k.cycles, k.start_s, k.start_s + k.time_s});
  for (const CopyResult& c : result.copies)
    if (c.end != 0) items.push_back({nullptr, &c, c.stream, c.start, c.end, c.start_s, c.start_s + c.time_s});
  std::ranges::stable_sort(items, {}, &TimelineItem::start);
  return items;
}

/// `replaces`: the file holds an earlier run of the same program.
std::unique_ptr<core::Recorder> Simulation::open_recorder(bool& replaces) const {
  if (options_.out.empty()) return nullptr;
  core::RunAttributes a;
  a.program_version = options_.program_version;
  a.config_text = core::show_machine(options_.machine, false);
  a.ptx_text = options_.ptx_text;
  for (const SimulationOptions::PtxFile& file : options_.linked)
    a.ptx_text += fmt::format("\n// linked: {}\n{}", file.name, file.text);
  a.launch_text = options_.launch.text;
  a.command_line = options_.command_line;
  a.seed = options_.launch.seed;
  replaces = options_.keep_other_runs && core::replaces_same_run(options_.out, a);
  return core::Recorder::create(options_.out, a, options_.events, options_.threads);
}

/// Says what became of the recording, and of the one before.
void Simulation::close_recorder(core::Recorder& recorder, bool replaces, SimulationResult& result) const {
  const char* status = result.status == SimulationResult::Status::kComplete ? "complete"
                       : result.status == SimulationResult::Status::kFailed ? "failed"
                                                                            : "partial";
  result.recorded = recorder.close(status, result.reason);
  if (!options_.on_warning) return;
  if (!result.recorded)
    options_.on_warning(
        fmt::format("{}: note: stays as it was; of this run, which did not end, nothing is kept\n"
                    "  hint: --out OTHER.h5 keeps what an interrupted run has recorded",
                    options_.out));
  else if (replaces)
    options_.on_warning(fmt::format("{}: note: replaces the recording of an earlier run", options_.out));
}

SimulationResult Simulation::run() {
  SimulationResult result;
  const auto begin = std::chrono::steady_clock::now();
  if (options_.functional)
    run_functional(result);
  else
    run_timed(result);
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  uint64_t counted_until = 0;  // kernels stand in the order in which they began
  double counted_until_s = 0;
  for (const KernelResult& k : result.kernels) {
    result.warp_instructions += k.total.warp_instructions;
    const uint64_t end = k.start + k.cycles;
    if (end > counted_until) result.cycles += end - std::max(k.start, counted_until);
    counted_until = std::max(counted_until, end);
    const double end_s = k.start_s + k.time_s;
    if (end_s > counted_until_s) result.time_s += end_s - std::max(k.start_s, counted_until_s);
    counted_until_s = std::max(counted_until_s, end_s);
  }
  if (checker_) collect_findings(result);
  if (result.status == SimulationResult::Status::kComplete)
    for (const core::ExpectSpec& e : options_.launch.expects)
      result.expects.push_back(core::check_expect(options_.launch, e, buffer(e.buffer)));
  return result;
}

void Simulation::run_timed(SimulationResult& result) {
  const DeviceMemoryAdapter memory(memory_, textures_);
  bool replaces = false;
  std::unique_ptr<core::Recorder> recorder = open_recorder(replaces);
  core::Engine engine(options_.module_events ? core::Engine::Activation::kModuleEvents
                                             : core::Engine::Activation::kBatched);
  std::string error;
  const uint32_t sms = options_.sms == 0 ? static_cast<uint32_t>(options_.machine.gpu.sms) : options_.sms;
  Gpu gpu(
      engine, options_.machine, memory, sms,
      [&](std::string message) {
        if (error.empty()) error = std::move(message);
      },
      !options_.direct_driver, checker_.get(), options_.attach_memory);
  PowerModel power(gpu, options_.machine);
  RunRecorder records(recorder.get(), gpu, power, options_.machine, checker_.get());
  std::unique_ptr<Governor> governor;
  if (options_.machine.dvfs.governor != core::Governor::kFixed) {
    const auto& s = options_.machine.scheduler;
    const double slots = static_cast<double>(gpu.sms().size()) *
                         static_cast<double>(s.count * s.issue_width) / static_cast<double>(s.issue_cycles);
    governor = std::make_unique<Governor>("governor", gpu.core_domain(), power, options_.machine, slots,
                                          [&records] { return records.slot_use(); });
  }
  bool all_done = false, was_interrupted = false;
  // Hooks and the observer run inside SystemC processes, which no exception may leave: it ends the run and is
  // thrown after it.
  std::exception_ptr failure;
  const auto guarded = [&](auto&& action) {
    try {
      if (!failure) action();
    } catch (...) {
      failure = std::current_exception();
      engine.stop();
    }
  };
  gpu.dispatcher().set_hooks(
      {[&](KernelLaunch& run) {
         gpu.open_kernel(run);
         guarded([&] { records.begin_kernel(run, *launches_[run.id]); });
       },
       [&](KernelLaunch& run) {
         gpu.close_kernel(run);
         guarded([&] { result.kernels.push_back(records.end_kernel(run, limiters_[run.id])); });
         // The observer looks from time to time only.
         if (const uint64_t took = run.end - run.start; took > options_.max_cycles && error.empty()) {
           error = fmt::format("kernel {} '{}' took {} cycles, more than {} (--max-cycles)", run.id,
                               run.image->name, took, options_.max_cycles);
           engine.stop();
         }
         if (checker_) checker_->end_launch(run);
       },
       [&] {
         all_done = true;
         engine.stop();
       },
       [&](const BlockDispatcher::Copy& copy) {
         CopyResult& r = result.copies[copy.number];
         r.engine = copy.engine;
         if (r.end == 0)
           r.start_s = static_cast<double>(gpu.core_domain().time_of(core::Cycle(copy.start))) * 1e-15;
         r.start = copy.start;
         r.end = copy.end;
       },
       [&](const KernelLaunch& run) { return power.set_clocks(launches_[run.id]->clocks); }});
  result.copies = copies();
  enqueue(gpu, result);
  const auto watch = [&](uint64_t core_cycle) {
    if (interrupted(options_)) was_interrupted = true;
    // No other kernel that runs began earlier.
    const KernelLaunch* run = gpu.dispatcher().current();
    if (run != nullptr && core_cycle > run->start.count() + options_.max_cycles)
      error = fmt::format("still running after {} cycles (--max-cycles): {}", options_.max_cycles,
                          running_where(gpu));
    if (was_interrupted || !error.empty()) engine.stop();
  };
  const uint64_t period = std::clamp<uint64_t>(options_.max_cycles, 1, kObserverPeriod);
  gpu.core_domain().set_observer(core::Cycle(period), [&](core::Cycle now) {
    guarded([&] { observe(gpu, records, recorder.get(), result, now); });
    watch(now.count());
    return now + period;
  });
  // The core may sleep while memory works: the other domains watch too.
  for (core::ClockDomain* domain : engine.domains()) {
    if (domain == &gpu.core_domain()) continue;
    domain->set_observer(core::Cycle(kObserverPeriod), [&, domain](core::Cycle now) {
      watch(gpu.core_domain().first_edge_from(domain->time_of(now)).count());
      return now + kObserverPeriod;
    });
  }
  const auto outcome = options_.direct_driver ? engine.run_direct() : engine.run();
  if (failure) std::rethrow_exception(failure);
  if (outcome == core::Engine::Outcome::kNothingScheduled && !all_done) {
    error = deadlock_report(engine);
    if (checker_) checker_->report_stuck_barriers();
  }
  if (!error.empty()) {
    result.status = SimulationResult::Status::kFailed;
    result.reason = error;
  } else if (was_interrupted) {
    result.status = SimulationResult::Status::kInterrupted;
    result.reason = "interrupted";
  }
  std::ranges::sort(result.kernels, {}, &KernelResult::number);
  if (!all_done) records.abandon_kernels();
  if (recorder) {
    records.write_timeline(result);
    records.write_system(result);
    close_recorder(*recorder, replaces, result);
  }
}

void Simulation::enqueue(Gpu& gpu, const SimulationResult& result) const {
  BlockDispatcher& dispatcher = gpu.dispatcher();
  if (options_.launch.legacy_default_stream) dispatcher.use_legacy_default_stream();
  for (const Item& item : order()) {
    if (const auto* launch = std::get_if<LaunchItem>(&item)) {
      const core::LaunchSpec& spec = *launches_[launch->run];
      dispatcher.enqueue(*runs_[launch->run], spec.stream, spec.clocks.any());
    } else {
      const CopyResult& copy = result.copies[std::get<CopyItem>(item).copy];
      dispatcher.enqueue_copy(gpu.core_domain().cycles_of_ns(copy.time_s * 1e9), copy.stream, copy.to_device);
    }
  }
}

void Simulation::observe(Gpu& gpu, RunRecorder& records, core::Recorder* recorder,
                         const SimulationResult& result, core::Cycle now) const {
  records.sample(now.count());
  if (recorder != nullptr) recorder->check();
  const KernelLaunch* run = gpu.dispatcher().current();
  if (run == nullptr || !options_.on_progress) return;
  uint64_t instructions = result.warp_instructions;
  for (const SmStats& s : run->sm) instructions += s.warp_instructions;
  options_.on_progress({run->image->name, now - run->start, gpu.dispatcher().blocks_finished(),
                        run->num_blocks, instructions});
}

void Simulation::run_functional(SimulationResult& result) {
  const DeviceMemoryAdapter memory(memory_, textures_);
  FunctionalRunner runner(
      memory, options_.max_cycles, options_.machine.gpu.compute_capability >= 70,
      [this] { return interrupted(options_); }, checker_.get());
  std::optional<WarpTracer> tracer;
  if (options_.trace) runner.set_tracer(&tracer.emplace(options_.machine, options_.trace));
  for (const Item& item : order()) {
    const auto* launch = std::get_if<LaunchItem>(&item);
    if (launch == nullptr) continue;  // a copy: buffers are where they are; only time would pass
    const auto& run = runs_[launch->run];
    const auto outcome = runner.run(*run);
    KernelResult k = summarise(*run, options_.machine, limiters_[run->id]);
    k.stream = launches_[run->id]->stream;
    result.kernels.push_back(std::move(k));
    if (checker_) checker_->end_launch(*run);
    if (interrupted(options_)) {
      result.status = SimulationResult::Status::kInterrupted;
      result.reason = "interrupted";
      return;
    }
    if (outcome == FunctionalRunner::Outcome::kDeadlock && checker_) checker_->report_stuck_barriers();
    if (outcome == FunctionalRunner::Outcome::kError || outcome == FunctionalRunner::Outcome::kDeadlock) {
      result.status = SimulationResult::Status::kFailed;
      result.reason = runner.error();
      return;
    }
  }
}

}  // namespace gpusim::comp
