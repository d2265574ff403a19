#include "components/simulation/run_recorder.h"

#include <fmt/format.h>

#include <algorithm>

#include "components/simulation/kernel_counters.h"
#include "components/simulation/kernel_summary.h"
#include "components/simulation/kernel_tables.h"

namespace gpusim::comp {

namespace {

core::KernelAttribute number(const char* name, uint64_t value) { return {name, "", value, false}; }
core::KernelAttribute text(const char* name, std::string value) { return {name, std::move(value), 0, true}; }

std::string dims(const Dim3& d) { return fmt::format("{},{},{}", d.x, d.y, d.z); }

/// A kernel that runs longer has its counts written while it runs, each time after half as many cycles again:
/// at most a third of what it did is not in the file of a run that is killed.
constexpr uint64_t kFirstState = uint64_t{1} << 18;

}  // namespace

void RunRecorder::begin_kernel(const PreparedLaunch& launch) {
  KernelLaunch& run = *launch.run;
  for (OpenKernel& other : open_) ++other.beside;
  const auto beside = static_cast<uint32_t>(open_.size());
  const core::Femtoseconds start = time_of(run.start);
  power_.begin_kernel(run, start);
  const SeriesTables series = recorder_ == nullptr ? SeriesTables{} : open_group(launch);
  open_.push_back({&run, begun_++, beside, gpu_.stats(), start, power_.changes(PowerDomain::kCore),
                   TimeSeries(run, gpu_, series, sample_cycles_), gpu_.unit_counts(), 0, kFirstState});
  // What no kernel is known for goes to the one that runs longest.
  if (recorder_ != nullptr) gpu_.events() = open_.front().run->events;
}

SeriesTables RunRecorder::open_group(const PreparedLaunch& launch) {
  KernelLaunch& run = *launch.run;
  std::vector<core::KernelAttribute> attributes = {
      text("name", run.image->name),
      text("grid", dims(run.grid)),
      text("block", dims(run.block)),
      number("registers", run.image->registers),
      number("spilled_registers", run.image->spilled_registers),
      number("shared_bytes", run.taken_shared_bytes),
      number("local_bytes", run.image->local_bytes),
      number("threads_per_block", run.threads_per_block),
      number("warps_per_block", run.warps_per_block),
      number("blocks_per_sm", run.blocks_per_sm),
      number("start_cycle", run.start.count()),
      number("launch", run.id),
      number("stream", launch.spec->stream),
  };
  if (launch.parent) attributes.push_back(number("parent_launch", *launch.parent));
  recorder_->begin_kernel(attributes);
  EventSink& e = run.events;
  e.block = recorder_->table<core::BlockEvent>();
  e.phase = recorder_->table<core::PhaseEvent>();
  e.slot = recorder_->table<core::SlotEvent>();
  SeriesTables series;
  series.all = recorder_->table<SeriesRow>();
  if (sample_cycles_ != 0) series.sms = recorder_->table<SmSeriesRow>();
  e.memory = recorder_->table<core::MemoryEvent>();
  e.cache = recorder_->table<core::CacheEvent>();
  e.mshr = recorder_->table<core::MshrEvent>();
  e.dram = recorder_->table<core::DramEvent>();
  e.issue = recorder_->table<core::IssueEvent>();
  e.stall = recorder_->table<core::StallEvent>();
  e.branch = recorder_->table<core::BranchEvent>();
  return series;
}

void RunRecorder::sample(uint64_t now) {
  for (OpenKernel& kernel : open_) {
    kernel.series.sample_if_due(power_, now);
    const core::Cycle start = kernel.run->start;
    if (recorder_ == nullptr || now < start.count() + kernel.next_state) continue;
    write_state(kernel, core::Cycle(now));
    const uint64_t passed = now - start.count();
    kernel.next_state = passed + passed / 2;
  }
}

uint64_t RunRecorder::next_sample() const {
  uint64_t next = ~uint64_t{0};
  for (const OpenKernel& kernel : open_) next = std::min(next, kernel.series.due());
  return next;
}

void RunRecorder::write_state(OpenKernel& kernel, core::Cycle now) {
  KernelLaunch& run = *kernel.run;
  const auto slot = static_cast<uint64_t>(machine_.scheduler.issue_cycles);
  KernelResult k = summarise(run, machine_, "", seconds(kernel, now), now);
  k.cycles = (k.cycles + slot - 1) / slot * slot;
  add_machine_counters(kernel, k);
  recorder_->choose_kernel(kernel.number);
  const std::string folder = fmt::format("interim/{}/", kernel.states++);
  write_per_sm(*recorder_, run, gpu_, folder);
  write_per_pc(*recorder_, run, folder);
  write_issue_slots(*recorder_, k.total, folder);
  recorder_->write_counters_below(k.counters, folder);
  write_interim_state(*recorder_, k, time_of(now) - kernel.start_fs, folder);
}

double RunRecorder::seconds(const OpenKernel& kernel, core::Cycle end) const {
  const KernelLaunch& run = *kernel.run;
  const core::ClockDomain& core = gpu_.core_domain();
  if (power_.changes(PowerDomain::kCore) == kernel.core_changes)
    return static_cast<double>(end - run.start) / (static_cast<double>(core.khz()) * 1e3);
  return static_cast<double>(core.time_of(end) - kernel.start_fs) * 1e-15;
}

SlotUse RunRecorder::slot_use() const {
  SlotUse use = ended_;
  use.kernels = open_.size();
  for (const OpenKernel& kernel : open_)
    for (const SmStats& s : kernel.run->sm) use.add(s);
  return use;
}

KernelResult RunRecorder::end_kernel(const PreparedLaunch& launch) {
  KernelLaunch& run = *launch.run;
  const auto it = std::ranges::find(open_, &run, &OpenKernel::run);
  OpenKernel& kernel = *it;
  kernel.series.finish(power_, run.end.count());
  KernelResult k = summarise(run, machine_, launch.occupancy_limiter, seconds(kernel, run.end), run.end);
  k.number = kernel.number;
  k.stream = launch.spec->stream;
  k.registers_estimated = launch.spec->registers == 0 && launch.spec->registers_taken == 0;
  k.beside = kernel.beside;
  k.start = run.start.count();
  k.start_s = static_cast<double>(kernel.start_fs) * 1e-15;
  add_machine_counters(kernel, k);
  k.units = unit_loads(gpu_.unit_counts(), kernel.units_at_start,
                       gpu_.cycles_between(kernel.start_fs, time_of(run.end)));
  k.units.push_back(shared_memory_load(run, k.cycles));
  k.units.push_back(dispatcher_load(run, k.cycles));
  const EnergyAmounts joules = power_.end_kernel(run, time_of(run.end));
  if (power_.active()) add_energy_counters(k.counters, joules, k.time_s);
  for (const SmStats& s : run.sm) ended_.add(s);
  if (recorder_ != nullptr) close_group(kernel, k);
  open_.erase(it);
  if (recorder_ != nullptr) gpu_.events() = open_.empty() ? EventSink{} : open_.front().run->events;
  return k;
}

UnitLoad RunRecorder::shared_memory_load(const KernelLaunch& run, uint64_t cycles) const {
  UnitLoad load{"shared", "SM", "cycles of the kernel's steps of shared memory", 0, cycles, 0, 0, 0, 0};
  const auto busy = [&](const Sm& sm) {
    return run.sm[sm.index()].shared_steps * machine_.shared.cycles_per_access;
  };
  for (const auto& sm : gpu_.sms()) {
    ++load.instances;
    load.busy += busy(*sm);
    if (busy(*sm) > load.most) load.most = busy(*sm), load.busiest = sm->index();
  }
  load.near = static_cast<uint64_t>(std::ranges::count_if(
      gpu_.sms(), [&](const auto& sm) { return busy(*sm) != 0 && busy(*sm) >= load.most - load.most / 10; }));
  return load;
}

UnitLoad RunRecorder::dispatcher_load(const KernelLaunch& run, uint64_t cycles) const {
  const auto busy = static_cast<uint64_t>(machine_.gpu.block_interval * static_cast<double>(run.num_blocks));
  return {
      "dispatcher",       "GPU", "cycles that starting the kernel's blocks takes", 1, cycles, busy, busy, 0,
      uint64_t{busy != 0}};
}

void RunRecorder::add_machine_counters(const OpenKernel& kernel, KernelResult& k) const {
  KernelView view{machine_, k.total};
  view.end = gpu_.stats();
  view.shared = difference(view.end, kernel.at_start);
  view.l2_dirty_sectors = gpu_.l2_dirty_sectors();
  view.seconds = k.time_s;
  view.bus_clocks = k.time_s * static_cast<double>(gpu_.dram_domain().khz()) * 1e3 *
                    static_cast<double>(gpu_.num_channels());
  report_shared(k.counters, view);
}

void RunRecorder::close_group(OpenKernel& kernel, const KernelResult& k) {
  KernelLaunch& run = *kernel.run;
  recorder_->choose_kernel(kernel.number);
  write_per_sm(*recorder_, run, gpu_);
  write_per_pc(*recorder_, run);
  write_issue_slots(*recorder_, k.total);
  write_units(*recorder_, k.units);
  if (checker_ != nullptr) write_findings(*recorder_, run, *checker_);
  recorder_->write_counters(k.counters);
  const core::KernelAttribute attributes[] = {
      number("cycles", k.cycles),
      number("time_fs", time_of(run.end) - kernel.start_fs),
      number("warp_instructions", k.total.warp_instructions),
      number("thread_instructions", k.total.thread_instructions),
      number("inst_executed", k.total.inst_executed),
      number("inst_issued", k.total.inst_issued),
      number("kernels_beside", k.beside),
      text("occupancy_limiter", k.occupancy_limiter),
  };
  run.events = EventSink{};
  recorder_->end_kernel(attributes);
}

void RunRecorder::abandon_kernels() {
  if (recorder_ == nullptr) return;
  gpu_.events() = EventSink{};
  const core::Cycle now = gpu_.core_domain().now();
  for (OpenKernel& kernel : open_) {
    kernel.run->events = EventSink{};
    kernel.series.finish(power_, now.count());
    if (now > kernel.run->start) write_state(kernel, now);
    recorder_->choose_kernel(kernel.number);
    recorder_->end_kernel({});
  }
  open_.clear();
}

}  // namespace gpusim::comp
