#include "components/run_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <numeric>

#include "simcore/config/schema.h"

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
  sum.active_warp_cycles += s.active_warp_cycles, sum.active_cycles += s.active_cycles;
  sum.global_loads += s.global_loads, sum.global_stores += s.global_stores;
  sum.local_loads += s.local_loads, sum.local_stores += s.local_stores, sum.atomics += s.atomics;
  sum.shared_loads += s.shared_loads, sum.shared_stores += s.shared_stores,
      sum.shared_replays += s.shared_replays;
  sum.constant_loads += s.constant_loads, sum.constant_hits += s.constant_hits;
  sum.register_bank_cycles += s.register_bank_cycles;
  sum.texture_loads += s.texture_loads, sum.texture_transactions += s.texture_transactions;
  sum.load_transactions += s.load_transactions, sum.store_transactions += s.store_transactions;
  sum.load_bytes += s.load_bytes, sum.store_bytes += s.store_bytes;
  sum.requested_load_bytes += s.requested_load_bytes, sum.requested_store_bytes += s.requested_store_bytes;
  for (size_t i = 0; i < kNumStallCauses; ++i) sum.slots[i] += s.slots[i];
  for (const L1Counter& c : kL1Counters) sum.l1.*c.value += s.l1.*c.value;
}

SmStats total_of(const KernelRun& run) {
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
};

TableSchema series_schema() {
  const auto column = [](const char* name, size_t offset, const char* unit, const char* meaning) {
    return Column{name, ColumnType::kU64, static_cast<uint32_t>(offset), unit, meaning};
  };
  return {"timeseries",
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
           column("dram_write_bytes", offsetof(SeriesRow, dram_write_bytes), "bytes", "written to DRAM")}};
}

/// Builds a table of u64 cells column by column.
class TableBuilder {
 public:
  TableBuilder(std::string path, std::string meaning) {
    schema_.path = std::move(path);
    schema_.meaning = std::move(meaning);
  }
  void column(std::string name, std::string unit, std::string meaning) {
    schema_.columns.push_back({std::move(name), ColumnType::kU64, static_cast<uint32_t>(8 * numbers_++),
                               std::move(unit), std::move(meaning)});
  }
  void text_column(std::string name, std::string meaning) {
    schema_.columns.push_back({std::move(name), ColumnType::kString, 0, "", std::move(meaning)});
    texts_.emplace_back();
  }
  void cell(uint64_t value) { cells_.push_back(value); }
  void text(size_t column, std::string value) { texts_[column].push_back(std::move(value)); }
  void write(core::Recorder& recorder, uint64_t rows) {
    schema_.record_bytes = static_cast<uint32_t>(8 * numbers_);
    recorder.write_table(schema_, std::as_bytes(std::span(cells_)), rows, texts_);
  }

 private:
  TableSchema schema_;
  size_t numbers_ = 0;
  std::vector<uint64_t> cells_;
  std::vector<std::vector<std::string>> texts_;
};

core::KernelAttribute number(const char* name, uint64_t value) { return {name, "", value, false}; }
core::KernelAttribute text(const char* name, std::string value) { return {name, std::move(value), 0, true}; }

std::string dims(const Dim3& d) { return fmt::format("{},{},{}", d.x, d.y, d.z); }

std::vector<core::Counter> counters_of(const KernelRun& run, const SmStats& t,
                                       const core::MachineConfig& machine) {
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
  count("flop_count", t.flops, "1",
        "floating-point operations of active threads; a fused or unfused multiply-add counts two");
  count("branch", t.branches, "1", "branches executed by warps");
  count("divergent_branch", t.divergent_branches, "1", "branches that split their warp");
  count("barriers", t.barriers, "1", "barrier instructions executed by warps");
  count("blocks", t.blocks, "1", "thread blocks executed");
  count("warps", t.warps, "1", "warps launched");
  if (run.end.count() == 0) return c;
  const double cycles = static_cast<double>(run.end - run.start);
  const double clock = static_cast<double>(machine.clocks.core_khz) * 1e3;
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

KernelResult summarise(const KernelRun& run, const core::MachineConfig& machine, const std::string& limiter) {
  KernelResult k;
  k.name = run.image->name;
  k.grid = run.grid;
  k.block = run.block;
  k.registers = run.image->registers;
  k.shared_bytes = run.shared_bytes;
  k.blocks_per_sm = run.blocks_per_sm;
  k.occupancy_limiter = limiter;
  k.total = total_of(run);
  k.counters = counters_of(run, k.total, machine);
  k.top_stalls = top_stalls(k.total);
  return k;
}

void RunRecorder::begin_kernel(KernelRun& run) {
  run_ = &run;
  dram_at_start_ = last_dram_ = gpu_.dram_stats();
  l2_at_start_ = gpu_.l2_stats();
  tlb_at_start_ = gpu_.tlb_stats();
  flits_at_start_[0] = gpu_.request_flits();
  flits_at_start_[1] = gpu_.reply_flits();
  last_sample_ = SmStats{};
  last_sample_cycle_ = run.start.count();
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
  };
  recorder_->begin_kernel(attributes);
  EventSink& e = gpu_.events();
  const core::EventLevel level = recorder_->level();
  e = EventSink{};
  if (level == core::EventLevel::kOff) return;
  e.block = &recorder_->table(core::block_schema());
  e.phase = &recorder_->table(core::phase_schema());
  e.slot = &recorder_->table(core::slot_schema());
  series_ = &recorder_->table(series_schema());
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
  if (run_ == nullptr || series_ == nullptr || now <= run_->start.count()) return;
  const SmStats t = total_of(*run_);
  const DramStats d = gpu_.dram_stats();
  const SeriesRow row{now - run_->start.count(),
                      t.warp_instructions - last_sample_.warp_instructions,
                      t.inst_issued - last_sample_.inst_issued,
                      t.active_warp_cycles - last_sample_.active_warp_cycles,
                      t.load_bytes - last_sample_.load_bytes,
                      t.store_bytes - last_sample_.store_bytes,
                      d.read_bytes - last_dram_.read_bytes,
                      d.write_bytes - last_dram_.write_bytes};
  series_->append(&row);
  last_sample_ = t;
  last_dram_ = d;
  last_sample_cycle_ = now;
}

KernelResult RunRecorder::end_kernel(KernelRun& run, const std::string& limiter) {
  if (run.end.count() > last_sample_cycle_) sample(run.end.count());
  KernelResult k = summarise(run, machine_, limiter);
  k.cycles = run.end - run.start;
  k.time_s = static_cast<double>(k.cycles) / (static_cast<double>(machine_.clocks.core_khz) * 1e3);
  const double bus_clocks = k.time_s * static_cast<double>(machine_.clocks.dram_khz) * 1e3 *
                            static_cast<double>(gpu_.num_channels());
  add_dram_counters(k.counters, gpu_.dram_stats(), dram_at_start_, k.time_s, bus_clocks);
  if (machine_.l2.bytes != 0)
    add_l2_counters(k.counters, gpu_.l2_stats(), l2_at_start_, gpu_.l2_dirty_sectors());
  if (machine_.tlb.l1_entries != 0) add_tlb_counters(k.counters, gpu_.tlb_stats(), tlb_at_start_);
  k.counters.push_back({"noc_request_flits", static_cast<double>(gpu_.request_flits() - flits_at_start_[0]),
                        "1", "flits of requests through the interconnect"});
  k.counters.push_back({"noc_reply_flits", static_cast<double>(gpu_.reply_flits() - flits_at_start_[1]), "1",
                        "flits of replies through the interconnect"});
  run_ = nullptr;
  if (recorder_ == nullptr) return k;
  write_per_sm(run);
  write_per_pc(run);
  write_issue_slots(k.total);
  if (checker_ != nullptr) write_checks(run);
  recorder_->write_counters(k.counters);
  const core::KernelAttribute attributes[] = {
      number("cycles", k.cycles),
      number("warp_instructions", k.total.warp_instructions),
      number("thread_instructions", k.total.thread_instructions),
      number("inst_executed", k.total.inst_executed),
      number("inst_issued", k.total.inst_issued),
      text("occupancy_limiter", limiter),
  };
  gpu_.events() = EventSink{};
  series_ = nullptr;
  recorder_->end_kernel(attributes);
  return k;
}

void RunRecorder::abandon_kernel() {
  if (recorder_ == nullptr || run_ == nullptr) return;
  gpu_.events() = EventSink{};
  series_ = nullptr;
  run_ = nullptr;
  recorder_->end_kernel({});
}

void RunRecorder::write_per_sm(const KernelRun& run) {
  TableBuilder t("per_sm", "counts of each simulated SM");
  t.column("sm", "1", "SM number");
  t.column("blocks", "1", "thread blocks executed");
  t.column("warps", "1", "warps executed");
  t.column("warp_instructions", "1", "PTX instructions executed by warps");
  t.column("thread_instructions", "1", "the same times active threads");
  t.column("inst_executed", "1", "machine operations executed");
  t.column("inst_issued", "1", "machine operations issued, replays included");
  t.column("active_cycles", "core cycles", "cycles with a resident warp");
  t.column("active_warp_cycles", "core cycles", "resident warps integrated over cycles");
  t.column("load_transactions", "1", "global and local load transactions");
  t.column("store_transactions", "1", "global and local store transactions");
  t.column("shared_replays", "1", "extra shared-memory steps");
  for (const auto name : kStallCauseNames)
    t.column(fmt::format("slots_{}", name), "issue slots", "issue slots with this cause");
  uint64_t rows = 0;
  for (const auto& sm : gpu_.sms()) {
    const SmStats& s = run.sm[sm->index()];
    for (const uint64_t v :
         {uint64_t{sm->index()}, s.blocks, s.warps, s.warp_instructions, s.thread_instructions,
          s.inst_executed, s.inst_issued, s.active_cycles, s.active_warp_cycles, s.load_transactions,
          s.store_transactions, s.shared_replays})
      t.cell(v);
    for (const uint64_t v : s.slots) t.cell(v);
    ++rows;
  }
  t.write(*recorder_, rows);
}

void RunRecorder::write_per_pc(const KernelRun& run) {
  TableBuilder t("per_pc", "counts of each machine operation, over all SMs");
  t.column("pc", "1", "index of the machine operation");
  t.column("ptx_line", "1", "line of the PTX statement it comes from");
  t.column("source_line", "1", "line of the source (.loc), 0 if unknown");
  t.column("ptx_instructions", "1", "PTX instructions it stands for");
  t.column("executed", "1", "executions by warps");
  t.column("active_lanes", "1", "threads that executed it, summed");
  t.column("divergent", "1", "executions that split the warp");
  t.column("transactions", "1", "memory transactions, or shared-memory and constant steps");
  t.column("requested_bytes", "bytes", "asked for by threads");
  t.column("transferred_bytes", "bytes", "moved by transactions");
  t.column("replays", "1", "extra steps by conflicts");
  for (const StallCause cause : kAwaitedCauses)
    t.column(fmt::format("awaited_{}", kStallCauseNames[static_cast<size_t>(cause)]), "issue slots",
             "lost by warps that waited for this access's data, which that level had");
  for (const auto name : kStallCauseNames)
    t.column(fmt::format("slots_{}", name), "issue slots",
             "issue slots whose candidate warp stood here, with this cause");
  t.text_column("ptx", "the PTX statement");
  t.text_column("class", "timing class of the operation, as in [latency]");
  t.text_column("source_file", "file of source_line, empty if unknown");
  t.text_column("ptx_file", "file of ptx_line, empty if the program is one file");
  const isa::KernelImage& image = *run.image;
  for (size_t pc = 0; pc < image.ops.size(); ++pc) {
    const isa::PtxStatement& s = image.ptx[image.ops[pc].ptx_index];
    const PcStats& p = run.pc[pc];
    for (const uint64_t v : {uint64_t{pc}, uint64_t{s.loc.line}, uint64_t{s.source_line},
                             uint64_t{image.ops[pc].ptx_count}, p.executed, p.active_lanes, p.divergent,
                             p.transactions, p.requested_bytes, p.transferred_bytes, p.replays})
      t.cell(v);
    for (const StallCause cause : kAwaitedCauses) t.cell(p.awaited[static_cast<size_t>(cause)]);
    for (const uint64_t v : p.slots) t.cell(v);
    t.text(0, s.text);
    t.text(1, std::string(core::timing_classes()[static_cast<size_t>(image.ops[pc].op_class)]));
    const bool has_source = s.source_line != 0 && s.source_file < image.source_files.size();
    t.text(2, has_source ? image.source_files[s.source_file] : "");
    const bool linked = s.loc.file < image.files.size();
    t.text(3, linked ? std::filesystem::path(image.files[s.loc.file]).filename().string() : "");
  }
  t.write(*recorder_, image.ops.size());
}

void RunRecorder::write_issue_slots(const SmStats& total) {
  TableBuilder t("issue_slots", "every issue slot of every scheduler by cause; the sum is slots x cycles");
  t.column("slots", "issue slots", "over all simulated SMs");
  t.text_column("cause", "what the slot was used for or lost to");
  for (size_t i = 0; i < kNumStallCauses; ++i) {
    t.cell(total.slots[i]);
    t.text(0, std::string(kStallCauseNames[i]));
  }
  t.write(*recorder_, kNumStallCauses);
}

void RunRecorder::write_checks(const KernelRun& run) {
  TableBuilder t("checks", "what --check found in this launch, by PTX statement");
  t.column("count", "1", "occurrences in this launch");
  t.column("ptx_line", "1", "line of the PTX statement");
  t.column("source_line", "1", "line of the source (.loc), 0 if unknown");
  t.column("other_ptx_line", "1", "a race: line of the other access, else 0");
  for (const char* name : {"block_x", "block_y", "block_z"})
    t.column(name, "1", "block of the occurrence that the message tells of");
  for (const char* name : {"thread_x", "thread_y", "thread_z"}) t.column(name, "1", "its thread");
  t.column("address", "1", "its address (shared and local memory: offset)");
  t.column("bytes", "bytes", "its size, 0 if it is not about memory");
  t.text_column("check", "memory, race, init or sync");
  t.text_column("kind", "out_of_bounds, ... (docs/checking.md)");
  t.text_column("ptx", "the PTX statement");
  t.text_column("object", "nearest buffer or variable, empty if none is");
  t.text_column("message", "what happened");
  uint64_t rows = 0;
  for (const Finding& f : checker_->log().sorted()) {
    if (f.last_launch != run.id) continue;
    const Dim3 &block = f.place.block, &thread = f.place.thread;
    for (const uint64_t v : {f.launch_count, uint64_t{f.place.ptx_line}, uint64_t{f.place.source_line},
                             uint64_t{f.other.ptx_line}, uint64_t{block.x}, uint64_t{block.y},
                             uint64_t{block.z}, uint64_t{thread.x}, uint64_t{thread.y}, uint64_t{thread.z},
                             f.detail.address, uint64_t{f.detail.bytes}})
      t.cell(v);
    t.text(0, std::string(check_name(f.kind)));
    t.text(1, std::string(finding_name(f.kind)));
    t.text(2, f.place.ptx);
    t.text(3, f.detail.object);
    t.text(4, f.detail.message);
    ++rows;
  }
  if (rows != 0) t.write(*recorder_, rows);
}

}  // namespace gpusim::comp
