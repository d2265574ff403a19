#include "components/simulation/run_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "components/simulation/kernel_counters.h"

namespace gpusim::comp {

namespace {

using core::Column;
using core::ColumnType;
using core::TableSchema;

double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

/// One row of the time series: differences since the row before.
struct SeriesRow {
  uint64_t cycle;
  uint64_t warp_instructions, inst_issued, active_warp_cycles;
  uint64_t load_bytes, store_bytes, dram_read_bytes, dram_write_bytes;
  uint64_t core_khz;
  double energy_j, power_w;
};

TableSchema series_schema() {
  const auto column = [](const char* name, size_t offset, const char* unit, const char* meaning) {
    return Column{name, ColumnType::kU64, static_cast<uint32_t>(offset), unit, meaning};
  };
  const auto real = [](const char* name, size_t offset, const char* unit, const char* meaning) {
    return Column{name, ColumnType::kF64, static_cast<uint32_t>(offset), unit, meaning};
  };
  return {
      "timeseries",
      "differences between samples; cycle is the end of the interval, counted from the kernel's start",
      sizeof(SeriesRow),
      {column("cycle", offsetof(SeriesRow, cycle), "core cycles", "end of the interval"),
       column("warp_instructions", offsetof(SeriesRow, warp_instructions), "1",
              "PTX instructions executed by warps"),
       column("inst_issued", offsetof(SeriesRow, inst_issued), "1",
              "machine operations issued, replays included"),
       column("active_warp_cycles", offsetof(SeriesRow, active_warp_cycles), "core cycles",
              "resident warps integrated over cycles, booked when a block starts or ends"),
       column("load_bytes", offsetof(SeriesRow, load_bytes), "bytes",
              "transferred by global and local load transactions"),
       column("store_bytes", offsetof(SeriesRow, store_bytes), "bytes",
              "transferred by global and local store transactions"),
       column("dram_read_bytes", offsetof(SeriesRow, dram_read_bytes), "bytes", "read from DRAM"),
       column("dram_write_bytes", offsetof(SeriesRow, dram_write_bytes), "bytes", "written to DRAM"),
       column("core_clock", offsetof(SeriesRow, core_khz), "kHz", "core clock at the end of the interval"),
       real("energy", offsetof(SeriesRow, energy_j), "J", "of the board; 0 on a machine without [energy]"),
       real("power", offsetof(SeriesRow, power_w), "W", "the same by the interval's time")}};
}

core::KernelAttribute number(const char* name, uint64_t value) { return {name, "", value, false}; }
core::KernelAttribute text(const char* name, std::string value) { return {name, std::move(value), 0, true}; }

std::string dims(const Dim3& d) { return fmt::format("{},{},{}", d.x, d.y, d.z); }

std::vector<std::string> top_stalls(const SmStats& total) {
  const uint64_t slots = std::accumulate(total.slots.begin(), total.slots.end(), uint64_t{0});
  std::vector<size_t> order(kNumStallCauses);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return total.slots[a] > total.slots[b]; });
  std::vector<std::string> lines;
  for (const size_t i : order) {
    if (i == static_cast<size_t>(StallCause::kIssued) || total.slots[i] == 0 || lines.size() == 3) continue;
    lines.push_back(fmt::format("{} {:.1f} %", kStallCauseNames[i],
                                100.0 * static_cast<double>(total.slots[i]) / static_cast<double>(slots)));
  }
  return lines;
}

}  // namespace

KernelResult summarise(const KernelLaunch& run, const core::MachineConfig& machine,
                       const std::string& limiter) {
  return summarise(run, machine, limiter, 0);
}

KernelResult summarise(const KernelLaunch& run, const core::MachineConfig& machine,
                       const std::string& limiter, double seconds) {
  KernelResult k;
  if (run.end.count() != 0) k.cycles = run.end - run.start;
  k.time_s = seconds;
  k.name = run.image->name;
  k.launch = run.id;
  k.grid = run.grid;
  k.block = run.block;
  k.registers = run.image->registers;
  k.shared_bytes = run.shared_bytes;
  k.blocks_per_sm = run.blocks_per_sm;
  k.occupancy_limiter = limiter;
  KernelView view{machine, total_of(run)};
  view.timed = run.end.count() != 0;
  view.cycles = static_cast<double>(k.cycles);
  view.clock_hz = ratio(view.cycles, seconds);
  report_sms(k.counters, view);
  k.total = view.sm;
  k.top_stalls = top_stalls(k.total);
  return k;
}

void RunRecorder::begin_kernel(KernelLaunch& run, const core::LaunchSpec& spec) {
  for (OpenKernel& other : open_) ++other.beside;
  OpenKernel& kernel = open_.emplace_back();
  kernel.run = &run;
  kernel.spec = &spec;
  kernel.number = begun_++;
  kernel.beside = static_cast<uint32_t>(open_.size() - 1);
  kernel.at_start = gpu_.stats();
  kernel.last_dram = kernel.at_start.dram;
  kernel.last_sample_cycle = run.start.count();
  kernel.start_fs = kernel.last_sample_fs = time_of(run.start);
  power_.begin_kernel(run, kernel.start_fs);
  kernel.core_changes = power_.changes(PowerDomain::kCore);
  if (recorder_ == nullptr) return;
  const core::KernelAttribute attributes[] = {
      text("name", run.image->name),
      text("grid", dims(run.grid)),
      text("block", dims(run.block)),
      number("registers", run.image->registers),
      number("spilled_registers", run.image->spilled_registers),
      number("shared_bytes", run.shared_bytes),
      number("local_bytes", run.image->local_bytes),
      number("threads_per_block", run.threads_per_block),
      number("warps_per_block", run.warps_per_block),
      number("blocks_per_sm", run.blocks_per_sm),
      number("start_cycle", run.start.count()),
      number("launch", run.id),
      number("stream", spec.stream),
  };
  recorder_->begin_kernel(attributes);
  open_tables(kernel);
  // What no kernel is known for goes to the one that runs longest.
  gpu_.events() = open_.front().run->events;
}

void RunRecorder::open_tables(OpenKernel& kernel) {
  EventSink& e = kernel.run->events;
  const core::EventLevel level = recorder_->level();
  if (level == core::EventLevel::kOff) return;
  e.block = &recorder_->table(core::block_schema());
  e.phase = &recorder_->table(core::phase_schema());
  e.slot = &recorder_->table(core::slot_schema());
  kernel.series = &recorder_->table(series_schema());
  if (level == core::EventLevel::kSummary) return;
  e.memory = &recorder_->table(core::memory_schema());
  e.cache = &recorder_->table(core::cache_schema());
  e.mshr = &recorder_->table(core::mshr_schema());
  e.dram = &recorder_->table(core::dram_schema());
  if (level == core::EventLevel::kMemory) return;
  e.issue = &recorder_->table(core::issue_schema());
  e.stall = &recorder_->table(core::stall_schema());
  e.branch = &recorder_->table(core::branch_schema());
}

void RunRecorder::sample(uint64_t now) {
  for (OpenKernel& kernel : open_) sample(kernel, now);
}

void RunRecorder::sample(OpenKernel& kernel, uint64_t now) {
  const KernelLaunch& run = *kernel.run;
  if (kernel.series == nullptr || now <= run.start.count()) return;
  const SmStats t = total_of(run);
  const DramStats d = gpu_.dram_stats();
  const core::Femtoseconds time = time_of(core::Cycle(now));
  const double joules = total(power_.reading(run, time));
  const double energy = joules - kernel.last_energy;
  const SeriesRow row{now - run.start.count(),
                      t.warp_instructions - kernel.last_sample.warp_instructions,
                      t.inst_issued - kernel.last_sample.inst_issued,
                      t.active_warp_cycles - kernel.last_sample.active_warp_cycles,
                      t.load_bytes - kernel.last_sample.load_bytes,
                      t.store_bytes - kernel.last_sample.store_bytes,
                      d.read_bytes - kernel.last_dram.read_bytes,
                      d.write_bytes - kernel.last_dram.write_bytes,
                      gpu_.core_domain().khz(),
                      energy,
                      ratio(energy, static_cast<double>(time - kernel.last_sample_fs) * 1e-15)};
  kernel.series->append(&row);
  kernel.last_sample = t;
  kernel.last_dram = d;
  kernel.last_sample_cycle = now;
  kernel.last_sample_fs = time;
  kernel.last_energy = joules;
}

double RunRecorder::seconds(const OpenKernel& kernel) const {
  const KernelLaunch& run = *kernel.run;
  const core::ClockDomain& core = gpu_.core_domain();
  if (power_.changes(PowerDomain::kCore) == kernel.core_changes)
    return static_cast<double>(run.end - run.start) / (static_cast<double>(core.khz()) * 1e3);
  return static_cast<double>(core.time_of(run.end) - kernel.start_fs) * 1e-15;
}

SlotUse RunRecorder::slot_use() const {
  SlotUse use = ended_;
  use.kernels = open_.size();
  for (const OpenKernel& kernel : open_)
    for (const SmStats& s : kernel.run->sm) use.add(s);
  return use;
}

KernelResult RunRecorder::end_kernel(KernelLaunch& run, const std::string& limiter) {
  const auto it = std::ranges::find(open_, &run, &OpenKernel::run);
  OpenKernel& kernel = *it;
  if (run.end.count() > kernel.last_sample_cycle) sample(kernel, run.end.count());
  KernelResult k = summarise(run, machine_, limiter, seconds(kernel));
  k.number = kernel.number;
  k.stream = kernel.spec->stream;
  k.beside = kernel.beside;
  k.start = run.start.count();
  k.start_s = static_cast<double>(kernel.start_fs) * 1e-15;
  add_machine_counters(kernel, k);
  const EnergyAmounts joules = power_.end_kernel(run, time_of(run.end));
  if (power_.active()) add_energy_counters(k.counters, joules, k.time_s);
  for (const SmStats& s : run.sm) ended_.add(s);
  if (recorder_ != nullptr) record_end(kernel, k);
  open_.erase(it);
  if (recorder_ != nullptr) gpu_.events() = open_.empty() ? EventSink{} : open_.front().run->events;
  return k;
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

void RunRecorder::record_end(OpenKernel& kernel, const KernelResult& k) {
  KernelLaunch& run = *kernel.run;
  recorder_->choose_kernel(kernel.number);
  write_per_sm(run);
  write_per_pc(run);
  write_issue_slots(k.total);
  if (checker_ != nullptr) write_checks(run);
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
  for (const OpenKernel& kernel : open_) {
    kernel.run->events = EventSink{};
    recorder_->choose_kernel(kernel.number);
    recorder_->end_kernel({});
  }
  open_.clear();
}

}  // namespace gpusim::comp
