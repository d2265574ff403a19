#include "components/simulation/run_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace gpusim::comp {

namespace {

using core::Column;
using core::ColumnType;
using core::TableSchema;

struct L1Counter {
  const char* name;
  uint64_t L1Stats::*value;
  const char* meaning;
};
constexpr L1Counter kL1Counters[] = {
    {"l1_global_load_hit", &L1Stats::load_hits, "lines of global loads found in the first-level cache"},
    {"l1_global_load_miss", &L1Stats::load_misses, "lines of global loads not found there, or not whole"},
    {"l1_local_load_hit", &L1Stats::local_load_hits, "lines of local loads found in the first-level cache"},
    {"l1_local_load_miss", &L1Stats::local_load_misses, "lines of local loads not found there, or not whole"},
    {"l1_local_store_hit", &L1Stats::local_store_hits, "lines of local stores found there (write-back)"},
    {"l1_local_store_miss", &L1Stats::local_store_misses,
     "lines of local stores not found there (write-back)"},
    {"l1_merged_misses", &L1Stats::merged, "of these misses, those on a line that was on its way"},
    {"l1_writebacks", &L1Stats::writebacks, "dirty lines replaced"},
    {"l1_fill_sectors", &L1Stats::fill_sectors, "32-byte sectors asked of the second level by these misses"},
    {"l1_bypass_sectors", &L1Stats::bypass_sectors,
     "sectors asked of it by loads that bypass the first-level cache"},
    {"l1_store_sectors", &L1Stats::store_sectors, "sectors of stores that went on to it"},
    {"l1_writeback_sectors", &L1Stats::writeback_sectors, "sectors of dirty lines that went to it"},
    {"l1_atomic_sectors", &L1Stats::atomic_sectors, "sectors of atomics that it performs"},
    {"l1_wait_mshr", &L1Stats::no_mshr, "misses that waited for a free MSHR"},
    {"l1_wait_merge", &L1Stats::no_merge,
     "misses that waited because their line's MSHR had no room for one more"},
    {"l1_wait_warp_mshr", &L1Stats::no_warp_mshr, "misses that waited because their warp had all its MSHRs"},
    {"l1_wait_way", &L1Stats::no_way, "misses that waited because all lines of their set were on their way"},
};

void add(SmStats& sum, const SmStats& s) {
  sum.warp_instructions += s.warp_instructions, sum.thread_instructions += s.thread_instructions;
  sum.inst_executed += s.inst_executed, sum.inst_issued += s.inst_issued;
  sum.branches += s.branches, sum.divergent_branches += s.divergent_branches, sum.barriers += s.barriers;
  sum.flops += s.flops, sum.blocks += s.blocks, sum.warps += s.warps;
  sum.longest_warps += s.longest_warps, sum.longest_warp = std::max(sum.longest_warp, s.longest_warp);
  sum.active_warp_cycles += s.active_warp_cycles, sum.active_cycles += s.active_cycles;
  sum.global_loads += s.global_loads, sum.global_stores += s.global_stores;
  sum.local_loads += s.local_loads, sum.local_stores += s.local_stores, sum.atomics += s.atomics;
  sum.shared_loads += s.shared_loads, sum.shared_stores += s.shared_stores,
      sum.shared_replays += s.shared_replays, sum.shared_steps += s.shared_steps;
  sum.constant_loads += s.constant_loads, sum.constant_hits += s.constant_hits;
  sum.register_bank_cycles += s.register_bank_cycles;
  sum.texture_loads += s.texture_loads, sum.texture_transactions += s.texture_transactions;
  sum.instruction_hits += s.instruction_hits, sum.instruction_misses += s.instruction_misses;
  sum.load_transactions += s.load_transactions, sum.store_transactions += s.store_transactions;
  sum.load_bytes += s.load_bytes, sum.store_bytes += s.store_bytes;
  sum.requested_load_bytes += s.requested_load_bytes, sum.requested_store_bytes += s.requested_store_bytes;
  for (size_t i = 0; i < kNumStallCauses; ++i) sum.slots[i] += s.slots[i];
  for (const L1Counter& c : kL1Counters) sum.l1.*c.value += s.l1.*c.value;
}

SmStats total_of(const KernelLaunch& run) {
  SmStats sum;
  for (const SmStats& s : run.sm) add(sum, s);
  return sum;
}

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

std::vector<core::Counter> counters_of(const KernelLaunch& run, const SmStats& t,
                                       const core::MachineConfig& machine, double clock) {
  std::vector<core::Counter> c;
  const auto count = [&](const char* name, uint64_t value, const char* unit, const char* meaning) {
    c.push_back({name, static_cast<double>(value), unit, meaning});
  };
  const auto rate = [&](const char* name, double value, const char* unit, const char* meaning) {
    c.push_back({name, value, unit, meaning});
  };
  count("warp_instructions", t.warp_instructions, "1", "PTX instructions executed by warps, before lowering");
  count("thread_instructions", t.thread_instructions, "1", "the same times active threads");
  count("inst_executed", t.inst_executed, "1", "machine operations executed by warps, after lowering");
  count("inst_issued", t.inst_issued, "1", "machine operations issued, replays included");
  count("longest_warp_of_blocks", t.longest_warps, "1",
        "machine operations of the warp that executes the most of its block, summed over blocks");
  count("longest_warp", t.longest_warp, "1", "machine operations of the warp that executes the most of all");
  count("flop_count", t.flops, "1",
        "floating-point operations of active threads; a fused or unfused multiply-add counts two");
  count("branch", t.branches, "1", "branches executed by warps");
  count("divergent_branch", t.divergent_branches, "1", "branches that split their warp");
  count("barriers", t.barriers, "1", "barrier instructions executed by warps");
  count("blocks", t.blocks, "1", "thread blocks executed");
  count("warps", t.warps, "1", "warps launched");
  if (run.end.count() == 0) return c;
  const double cycles = static_cast<double>(run.end - run.start);
  count("gld_request", t.global_loads, "1", "global load operations of warps");
  count("gst_request", t.global_stores, "1", "global store operations of warps");
  count("local_load", t.local_loads, "1", "local load operations of warps");
  count("local_store", t.local_stores, "1", "local store operations of warps");
  count("shared_load", t.shared_loads, "1", "shared-memory loads of warps, shared operands included");
  count("shared_store", t.shared_stores, "1", "shared-memory stores and atomics of warps");
  count("atom_count", t.atomics, "1", "global atomic operations of warps");
  count("constant_load", t.constant_loads, "1", "constant loads of warps");
  count("constant_load_hit", t.constant_hits, "1",
        "of these, served whole by the SM's first-level constant cache");
  count("tex_request", t.texture_loads, "1", "texture reads of warps that touch a texel");
  count("tex_transactions", t.texture_transactions, "1",
        "transactions of texture reads (32, 64 or 128 bytes)");
  if (machine.instruction.l1_bytes != 0) {
    count("inst_cache_hit", t.instruction_hits, "1",
          "lines of instructions that warps came to and found in the SM's cache");
    count("inst_cache_miss", t.instruction_misses, "1", "the same, not found there or still on their way");
  }
  count("load_transactions", t.load_transactions, "1",
        "transactions of global and local loads and atomics (32, 64 or 128 bytes)");
  count("store_transactions", t.store_transactions, "1", "transactions of global and local stores");
  if (machine.l1.bytes != 0)
    for (const L1Counter& l1 : kL1Counters) count(l1.name, t.l1.*l1.value, "1", l1.meaning);
  count("l1_shared_bank_conflict", t.shared_replays, "1",
        "extra shared-memory steps because of bank conflicts");
  if (machine.sm.register_banks != 0)
    count("register_bank_conflict", t.register_bank_cycles, "cycles",
          "core cycles by which operations were late because their registers lie in one bank");
  rate("load_efficiency",
       ratio(static_cast<double>(t.requested_load_bytes), static_cast<double>(t.load_bytes)), "1",
       "bytes that threads asked for per byte moved by load transactions");
  rate("store_efficiency",
       ratio(static_cast<double>(t.requested_store_bytes), static_cast<double>(t.store_bytes)), "1",
       "bytes that threads stored per byte moved by store transactions");
  rate("load_throughput", static_cast<double>(t.load_bytes) / cycles * clock, "bytes/s",
       "moved by load transactions");
  rate("store_throughput", static_cast<double>(t.store_bytes) / cycles * clock, "bytes/s",
       "moved by store transactions");
  rate("branch_efficiency",
       t.branches == 0
           ? 1
           : 1 - ratio(static_cast<double>(t.divergent_branches), static_cast<double>(t.branches)),
       "1", "branches that did not diverge");
  rate("warp_execution_efficiency",
       ratio(static_cast<double>(t.thread_instructions), 32.0 * static_cast<double>(t.warp_instructions)),
       "1", "active threads per executed warp instruction, of 32");
  rate("achieved_occupancy",
       ratio(ratio(static_cast<double>(t.active_warp_cycles), static_cast<double>(t.active_cycles)),
             static_cast<double>(machine.sm.max_warps)),
       "1", "resident warps per cycle with at least one, of the SM's maximum");
  rate("sm_efficiency",
       ratio(static_cast<double>(t.active_cycles), cycles * static_cast<double>(machine.gpu.sms)), "1",
       "cycles with a resident warp, average over all SMs of the machine");
  rate("ipc", ratio(static_cast<double>(t.inst_executed), static_cast<double>(t.active_cycles)), "1",
       "machine operations per cycle of an SM with a resident warp");
  rate("ipc_elapsed", static_cast<double>(t.inst_executed) / cycles / static_cast<double>(machine.gpu.sms),
       "1", "machine operations per core cycle and SM of the machine");
  return c;
}

/// `clocks`: of the data buses of all channels in that time.
void add_dram_counters(std::vector<core::Counter>& c, const DramStats& now, const DramStats& then,
                       double seconds, double clocks) {
  const auto count = [&](const char* name, uint64_t value, const char* unit, const char* meaning) {
    c.push_back({name, static_cast<double>(value), unit, meaning});
  };
  const uint64_t reads = now.read_bytes - then.read_bytes, writes = now.write_bytes - then.write_bytes;
  count("dram_read_transactions", reads / 32, "1", "32-byte bursts read from DRAM");
  count("dram_write_transactions", writes / 32, "1", "32-byte bursts written to DRAM");
  count("dram_read_bytes", reads, "bytes", "read from DRAM");
  count("dram_write_bytes", writes, "bytes", "written to DRAM");
  count("dram_activates", now.activates - then.activates, "1", "rows opened");
  count("dram_precharges", now.precharges - then.precharges, "1", "rows closed, but for refreshes");
  count("dram_row_hits", now.row_hits - then.row_hits, "1", "requests served by a row that was open already");
  count("dram_row_misses", now.row_misses - then.row_misses, "1", "requests whose bank had no row open");
  count("dram_row_conflicts", now.row_conflicts - then.row_conflicts, "1",
        "requests for which another row had to be closed");
  count("dram_refreshes", now.refreshes - then.refreshes, "1", "refreshes, all channels");
  count("dram_turnarounds", now.turnarounds - then.turnarounds, "1",
        "changes of the data bus between reading and writing");
  c.push_back({"dram_bus_utilization", ratio(static_cast<double>(now.busy_clocks - then.busy_clocks), clocks),
               "1", "clocks in which the data buses move data"});
  c.push_back({"dram_throughput", seconds == 0 ? 0 : static_cast<double>(reads + writes) / seconds, "bytes/s",
               "read and written"});
}

void add_texture_counters(std::vector<core::Counter>& c, const TextureStats& now, const TextureStats& then,
                          const core::MachineConfig& machine) {
  const auto count = [&](const char* name, uint64_t value, const char* meaning) {
    c.push_back({name, static_cast<double>(value), "1", meaning});
  };
  count("tex_cache_hit", now.l1.hits - then.l1.hits, "lines of texture reads found in the texture caches");
  count("tex_cache_miss", now.l1.misses - then.l1.misses, "the same, not found there or still on their way");
  count("tex_fill_sectors",
        (now.l1.fills - then.l1.fills) * static_cast<uint64_t>(machine.texture.l1_line) / 32,
        "32-byte sectors asked of the partitions by these misses");
  if (machine.texture.l2_bytes == 0 || machine.l2.bytes != 0) return;
  count("tex_l2_hit", now.l2.hits - then.l2.hits, "texture lines found in the second texture level");
  count("tex_l2_miss", now.l2.misses - then.l2.misses, "texture lines read from DRAM");
}

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
  k.total = total_of(run);
  k.counters = counters_of(run, k.total, machine, ratio(static_cast<double>(k.cycles), seconds));
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
  kernel.dram_at_start = kernel.last_dram = gpu_.dram_stats();
  kernel.l2_at_start = gpu_.l2_stats();
  kernel.tlb_at_start = gpu_.tlb_stats();
  kernel.textures_at_start = gpu_.texture_stats();
  kernel.flits_at_start[0] = gpu_.request_flits();
  kernel.flits_at_start[1] = gpu_.reply_flits();
  kernel.requests_at_start = gpu_.requests_moved();
  kernel.to_busiest_at_start = gpu_.requests_to_busiest();
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
  const double bus_clocks = k.time_s * static_cast<double>(gpu_.dram_domain().khz()) * 1e3 *
                            static_cast<double>(gpu_.num_channels());
  add_dram_counters(k.counters, gpu_.dram_stats(), kernel.dram_at_start, k.time_s, bus_clocks);
  if (machine_.l2.bytes != 0)
    add_l2_counters(k.counters, gpu_.l2_stats(), kernel.l2_at_start, gpu_.l2_dirty_sectors());
  if (machine_.tlb.l1_entries != 0) add_tlb_counters(k.counters, gpu_.tlb_stats(), kernel.tlb_at_start);
  if (machine_.texture.cache == "own")
    add_texture_counters(k.counters, gpu_.texture_stats(), kernel.textures_at_start, machine_);
  k.counters.push_back({"noc_request_flits",
                        static_cast<double>(gpu_.request_flits() - kernel.flits_at_start[0]), "1",
                        "flits of requests through the interconnect"});
  k.counters.push_back({"noc_reply_flits", static_cast<double>(gpu_.reply_flits() - kernel.flits_at_start[1]),
                        "1", "flits of replies through the interconnect"});
  k.counters.push_back({"noc_requests", static_cast<double>(gpu_.requests_moved() - kernel.requests_at_start),
                        "1", "requests through the interconnect"});
  k.counters.push_back({"noc_requests_to_busiest",
                        static_cast<double>(gpu_.requests_to_busiest() - kernel.to_busiest_at_start), "1",
                        "of these, to the partition that is busiest at the time (docs/statistics.md)"});
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
