#include "components/simulation/live_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "components/simulation/run_observer.h"
#include "components/simulation/run_tables.h"

namespace gpusim::comp {

LiveRun::LiveRun(const SimulationOptions& options, const isa::GlobalMemory& memory, Hooks hooks,
                 Checker* checker, const HostRanges* host_memory)
    : options_(options),
      hooks_(std::move(hooks)),
      checker_(checker),
      file_(options_),
      engine_(core::Engine::Activation::kBatched),
      gpu_(
          engine_, options_.machine, memory, options_.sms == 0 ? options_.machine.gpu.sms : options_.sms,
          [this](ProgramError error) {
            if (!error_.empty()) return;
            error_ = std::move(error.message);
            result_.fault = error.fault;
          },
          true, checker, {}, host_memory),
      power_(gpu_, options_.machine),
      records_(file_.recorder(), gpu_, power_, options_.machine, checker, options_.sample_cycles) {
  if (file_.recorder() != nullptr) file_.recorder()->tell_at_end();
  gpu_.dispatcher().set_hooks(dispatcher_hooks());
  observe_from_time_to_time();
}

LiveRun::~LiveRun() = default;

/// Hooks run inside a SystemC process, which no exception may leave: it ends the run and is thrown after it.
template <class Action>
void LiveRun::guarded(Action action) {
  try {
    if (!failure_) action();
  } catch (...) {
    failure_ = std::current_exception();
    engine_.stop();
  }
}

PreparedLaunch& LiveRun::launch_of(const KernelLaunch& run) const {
  return **std::ranges::find_if(open_, [&run](const PreparedLaunch* l) { return l->run.get() == &run; });
}

BlockDispatcher::Hooks LiveRun::dispatcher_hooks() {
  BlockDispatcher::Hooks h;
  h.begin = [this](KernelLaunch& run) {
    if (options_.caches == CacheState::kFlushed) gpu_.empty_caches();
    gpu_.open_kernel(run);
    guarded([&] {
      records_.begin_kernel(launch_of(run));
      if (records_.open_kernels() == 1)
        gpu_.core_domain().observe_sooner(core::Cycle(records_.next_sample()));
    });
  };
  h.end = [this](KernelLaunch& run) { end_kernel(run); };
  h.all_done = [this] {
    all_done_ = true;
    engine_.pause();
  };
  h.copy = [this](const BlockDispatcher::Copy& copy) {
    CopyResult& r = result_.copies[first_copy_ + copy.number];
    r.engine = copy.engine;
    if (r.end == 0)
      r.start_s = static_cast<double>(gpu_.core_domain().time_of(core::Cycle(copy.start))) * 1e-15;
    r.start = copy.start;
    r.end = copy.end;
  };
  h.copied = [this](uint32_t number) { guarded([&] { hooks_.copied(number); }); };
  h.child = [this](uint64_t number) {
    BlockDispatcher::ChildStart start;
    guarded([&] {
      const Hooks::Child child = hooks_.child(number);
      start.cycles = gpu_.core_domain().cycles_of_ns(child.seconds * 1e9);
      if (child.launch == nullptr) return;
      open_.push_back(child.launch);
      start.run = child.launch->run.get();
    });
    return start;
  };
  h.child_done = [this](uint64_t number) { guarded([&] { hooks_.child_done(number); }); };
  h.marker = [this](uint32_t number) { guarded([&] { hooks_.marker(number, now_s()); }); };
  return h;
}

void LiveRun::end_kernel(KernelLaunch& run) {
  gpu_.close_kernel(run);
  PreparedLaunch& launch = launch_of(run);
  guarded([&] {
    KernelResult k = records_.end_kernel(launch);
    result_.warp_instructions += k.total.warp_instructions;
    // A program may launch without end.
    k.counters = std::vector<core::Counter>();
    k.units = std::vector<UnitLoad>();
    k.top_stalls = std::vector<std::string>();
    if (checker_ != nullptr) checker_->end_launch(run);
    hooks_.kernel_ended(k);
    if (options_.keep_kernel_results || file_.recorder() != nullptr) result_.kernels.push_back(std::move(k));
  });
  std::erase(open_, &launch);
  if (const uint64_t took = run.end - run.start; took > options_.max_cycles && error_.empty()) {
    error_ = fmt::format("kernel {} '{}' took {} cycles, more than {} (--max-cycles)", run.id,
                         run.image->name, took, options_.max_cycles);
    engine_.stop();
  }
}

void LiveRun::watch(uint64_t core_cycle) {
  const KernelLaunch* run = gpu_.dispatcher().current();
  if (run != nullptr && core_cycle > run->start.count() + options_.max_cycles && error_.empty())
    error_ = still_running(gpu_, options_.max_cycles);
  if (!error_.empty()) engine_.stop();
}

void LiveRun::tell_progress(uint64_t core_cycle) const {
  const KernelLaunch* run = gpu_.dispatcher().current();
  if (run == nullptr || !options_.on_progress) return;
  options_.on_progress({run->image->name, core_cycle - run->start.count(),
                        gpu_.dispatcher().blocks_finished(), run->num_blocks, result_.warp_instructions});
}

void LiveRun::observe_from_time_to_time() {
  observe(
      engine_, gpu_, options_.max_cycles,
      {[this](uint64_t now) { guarded([&] { records_.sample(now); }); },
       [this] { return records_.next_sample(); },
       // A file that cannot be written is no fault of the program, which goes on; the end of the run tells.
       [this](uint64_t now) { guarded([&] { tell_progress(now); }); }, [this](uint64_t now) { watch(now); }});
}

void LiveRun::begin_batch() {
  if (!all_done_) return;
  all_done_ = false;
  gpu_.dispatcher().forget_finished();
  if (file_.recorder() == nullptr) result_.copies.clear();
  first_copy_ = result_.copies.size();
}

uint32_t LiveRun::add(PreparedLaunch& launch, Order order) {
  begin_batch();
  open_.push_back(&launch);
  return gpu_.dispatcher().add(*launch.run, std::move(order), options_.caches == CacheState::kFlushed);
}

uint32_t LiveRun::add_copy(CopyResult copy, Order order, uint32_t number) {
  begin_batch();
  const uint64_t cycles = gpu_.core_domain().cycles_of_ns(copy.time_s * 1e9);
  const bool to_device = copy.to_device;
  const size_t place = first_copy_ + number;
  if (result_.copies.size() <= place) result_.copies.resize(place + 1);
  result_.copies[place] = std::move(copy);
  return gpu_.dispatcher().add_copy(cycles, std::move(order), to_device, number);
}

uint32_t LiveRun::add_marker(Order order, uint32_t number) {
  begin_batch();
  return gpu_.dispatcher().add_marker(std::move(order), number);
}

uint64_t LiveRun::add_child(DeviceLaunches::Item item, bool at_once) {
  item.from = at_once ? 1 : gpu_.dispatcher().child_cycles();
  return gpu_.dispatcher().add_child(std::move(item), options_.caches == CacheState::kFlushed);
}

std::optional<uint64_t> LiveRun::last_child(uint32_t grid, uint64_t stream) const {
  return gpu_.dispatcher().children().last_of(grid, stream);
}

uint64_t LiveRun::pending_children() const { return gpu_.dispatcher().children().pending(); }

bool LiveRun::run() {
  if (all_done_) return error_.empty();
  if (begun_) gpu_.dispatcher().resume();
  if (!all_done_ || !begun_) {
    begun_ = true;
    const core::Engine::Outcome outcome = engine_.run();
    if (outcome == core::Engine::Outcome::kNothingScheduled && !all_done_ && error_.empty()) {
      error_ = deadlock_report(engine_);
      if (checker_ != nullptr) checker_->report_stuck_barriers();
    }
  }
  if (failure_) std::rethrow_exception(failure_);
  return error_.empty();
}

double LiveRun::now_s() const { return static_cast<double>(engine_.now_fs()) * 1e-15; }

void LiveRun::record(const std::function<void(core::Recorder&)>& write) const {
  if (core::Recorder* const recorder = file_.recorder(); recorder != nullptr) write(*recorder);
}

void LiveRun::close(const std::vector<MemoryFingerprint>& buffers,
                    const std::function<void(core::Recorder&)>& more) {
  if (!error_.empty()) {
    result_.status = SimulationResult::Status::kFailed;
    result_.reason = error_;
  }
  std::ranges::sort(result_.kernels, {}, &KernelResult::number);
  if (!all_done_) records_.abandon_kernels();
  result_.fingerprints = buffers;
  if (core::Recorder* const recorder = file_.recorder(); recorder != nullptr) {
    write_timeline(*recorder, result_);
    write_fingerprints(*recorder, result_);
    write_system(*recorder, result_, options_.machine);
    more(*recorder);
    file_.close(result_);
  }
}

}  // namespace gpusim::comp
