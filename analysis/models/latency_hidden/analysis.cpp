#include "analysis/models/latency_hidden/analysis.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <utility>

#include "analysis/models/latency_hidden/own_reuse.h"
#include "components/sm/register_banks.h"
#include "components/sm/timing.h"

namespace gpusim::analysis::latency_hidden {
namespace {

constexpr double kSector = 32;
/// PortBalance counts even traffic that comes in random order as so much uneven: the largest of some eight
/// random numbers with the mean 256 (its window).
constexpr double kRandomlyUneven = 1.09;

/// The same of `requests` to `units` of a kind: the mean of the largest of so many normal numbers, by
/// Gumbel's limit, each of which is as many requests as a window has for a unit.
double randomly_uneven(double units, double requests) {
  constexpr double kEuler = 0.5772, kWindow = 256;
  const double spread = std::sqrt(2 * std::log(units));
  const double largest =
      spread - (std::log(std::log(units)) + std::log(4 * std::numbers::pi) - 2 * kEuler) / (2 * spread);
  return 1 + largest / std::sqrt(std::min(kWindow, std::max(1.0, requests / units)));
}

LoadLevels load_levels(const Counts& c, const Parameters& p, const Code& code, double blocks_per_sm) {
  const LaunchShape& shape = code.shape;
  LoadLevels levels;
  levels.l1 = p.l1_latency;
  levels.l2 = p.l2_latency;
  levels.memory = p.memory_latency;
  if (p.l1_latency > 0) levels.l1_share = c.l1_loads > 0 ? c.l1_hits / c.l1_loads : 0;
  if (p.l2_latency > 0)
    levels.l2_share = c.l2_reads > 0 ? (1 - levels.l1_share) * std::min(1.0, c.l2_read_hits / c.l2_reads) : 0;
  if (p.l2_latency > 0 && c.l2_atomics > 0)
    levels.l2_share_of_atomics = std::min(1.0, c.l2_atomic_hits / c.l2_atomics);
  const auto blocks = static_cast<double>(shape.blocks);
  const double together = std::min(blocks, blocks_per_sm * p.sms);
  levels.first_round = 1 / std::ceil(blocks / together);
  // A miss of the L2 may bring more than it was asked for: nobody waits for memory for what it then has.
  const double lacked = kSector * std::max(0.0, c.l2_reads - c.l2_read_hits);
  const double waited = c.l2_reads > 0 ? std::min(c.dram_read, lacked) : c.dram_read;
  levels.of_memory = waited / (blocks * shape.warps_per_block);
  levels.beyond_l2 = lacked / (blocks * shape.warps_per_block);
  double loaded = 0;  // bytes per warp
  for (size_t pc = 0; pc < code.counts.size(); ++pc)
    if (goes_through_cache(code.image.ops[pc]))
      loaded += std::max(code.counts[pc].transferred, code.counts[pc].transactions * p.cache_sector);
  const double missed = (1 - levels.l1_share) * loaded * blocks * shape.warps_per_block;
  if (p.cache_sector > 0 && missed > 0) levels.sent = std::min(1.0, kSector * c.l2_reads / missed);
  return levels;
}

/// An access waits at the head of its SM's queue for all its pages together, and the others behind it.
void add_translation(const Counts& c, Parameters& p) {
  if (c.pages <= 0 || c.accesses <= 0) return;
  const auto any = [&](double misses) {
    return 1 - std::pow(1 - std::min(1.0, misses / c.pages), c.pages / c.accesses);
  };
  p.translation = any(c.sm_page_misses) * p.tlb_l1_miss + any(c.page_misses) * p.tlb_l2_miss;
}

/// Pages that no buffer knows yet are new to all SMs, which begin together: each waits for as many of them as
/// the run counted. Accesses of one segment, of a page each, wait at once.
void add_new_pages(const Counts& c, Subject& s) {
  const Parameters& p = s.parameters;
  double left = c.page_misses / p.used_sms, cycles = p.new_page;
  std::set<uint32_t> seen;
  for (Segment& seg : s.workload.segments) {
    if (!seg.global || !seen.insert(seg.first).second) continue;
    const auto accesses = std::ranges::count_if(
        seg.executed, [&](const auto& op) { return is_long(s.code.image.ops[op.first]); });
    seg.pages = std::min({1.0, left, seg.weight}) * cycles;
    left = std::max(0.0, left - static_cast<double>(accesses));
    if (seg.pages > 0) cycles = p.next_page;
  }
}

/// Of bytes that caches serve, what L2 and memory move: as the run counted over all accesses.
void scale_to_memory(const Counts& c, Subject& s) {
  double read = 0, written = 0;
  const double warps = static_cast<double>(s.code.shape.blocks) * s.code.shape.warps_per_block;
  for (const Segment& seg : s.workload.segments) {
    read += warps * seg.weight * seg.read;
    written += warps * seg.weight * seg.written;
  }
  const double reads = read > 0 ? c.dram_read / read : 0;
  const double writes = written > 0 ? c.dram_written / written : 0;
  const double second = read + written > 0 ? kSector * c.l2_sectors / (read + written) : 0;
  for (Segment& seg : s.workload.segments) {
    seg.second = (seg.read + seg.written) * second;
    seg.read *= reads;
    seg.written *= writes;
  }
}

/// Requests to the partition that is busiest at the time, for one to the mean.
struct Uneven {
  double atomics = 1, others = 1;
};

/// Of atomics, if all others are even: counts in few words are, whatever else a kernel reads and writes.
/// Others have what is left of that of all requests.
Uneven uneven_parts(const Counts& c, const Code& code, double partitions, double all) {
  double atomics = 0;
  for (size_t pc = 0; pc < code.counts.size(); ++pc)
    if (code.image.ops[pc].kind == isa::OpKind::kAtomic && is_long(code.image.ops[pc]))
      atomics += code.counts[pc].transactions;
  atomics *= static_cast<double>(code.shape.blocks) * code.shape.warps_per_block;
  if (atomics <= 0 || c.requests <= 0) return {1, all};
  const double share = std::min(1.0, atomics / c.requests);
  const double busiest = partitions * c.to_busiest / c.requests - (kRandomlyUneven - 1);
  const double of_atomics = std::clamp((busiest - (1 - share)) / share, 1.0, partitions);
  return {of_atomics, share < 1 ? std::clamp((busiest - share * of_atomics) / (1 - share), 1.0, all) : all};
}

/// Memory's partitions and rows, and how alike warps are.
void set_counts(const core::MachineConfig& machine, const Counts& c, Subject& s) {
  Parameters& p = s.parameters;
  if (c.requests > 0)
    p.uneven = std::max(
        1.0, c.to_busiest * static_cast<double>(machine.l2.partitions) / c.requests / kRandomlyUneven);
  const Uneven parts = uneven_parts(c, s.code, static_cast<double>(machine.l2.partitions), p.uneven);
  p.uneven_atomics = parts.atomics;
  p.uneven_bytes = p.l2_bytes > 0 ? parts.others : p.uneven;  // without an L2 atomics are in memory
  double memory = 0, read = 0, written = 0;
  const double warps = static_cast<double>(s.code.shape.blocks) * s.code.shape.warps_per_block;
  for (const Segment& seg : s.workload.segments) {
    read += seg.weight * seg.read;
    written += seg.weight * seg.written;
  }
  p.turns = turns_of(read, written);
  for (const Segment& seg : s.workload.segments)
    memory += warps * seg.weight * memory_time(seg, p) / p.uneven_bytes;
  const double rows = p.row * c.rows;
  if (memory > 0) p.rows = near_limits(memory, rows, 0) / memory;
  // Where a partition has one channel, its requests are those of the channel.
  const double channels =
      static_cast<double>(machine.l2.partitions) * static_cast<double>(machine.dram.channels);
  if (c.dram_requests > 0 && machine.dram.channels > 1)
    p.uneven_channels = std::max(
        1.0, channels * c.dram_to_busiest / c.dram_requests / randomly_uneven(channels, c.dram_requests));
  const double mean = warps > 0 ? c.executed / warps : 0;
  if (mean <= 0) return;
  s.workload.longest = std::max(1.0, c.longest_sum / static_cast<double>(s.code.shape.blocks) / mean);
  if (c.longest > 0)
    s.workload.longest_path = path_of(
        find_segments(s.code, p, load_levels(c, p, s.code, s.workload.blocks_per_sm), warps), c.longest);
}

}  // namespace

void use_sms(double blocks, Parameters& p) {
  p.used_sms = std::max(1.0, std::min(p.sms, blocks));
  p.ports = std::max(1.0, std::min(std::ceil(p.sms / std::max(1.0, p.port_sms)), blocks));
}

Subject subject_of(const core::MachineConfig& machine, Code code, const Counts& counts,
                   const DataSheet& sheet, uint64_t sms) {
  Subject s;
  s.code = std::move(code);
  const bool codes = machine.scheduler.dependences == core::Dependences::kControlCodes;
  if (codes || machine.sm.register_banks != 0) {
    std::string problem;  // the machine's run had none
    const comp::TimingTables table = comp::build_timing(machine, problem);
    const comp::ClassTimings& timings = table.of_scheduler.front();
    if (codes) s.code.codes = comp::control_codes(s.code.image, timings, machine.scheduler);
    if (machine.sm.register_banks != 0)
      s.code.bank_delays = comp::register_bank_delays(
          s.code.image, {machine.sm.register_banks, machine.sm.register_bank_reads}, timings, s.code.codes);
  }
  s.parameters = measured_parameters(machine, sheet);
  s.parameters.sms = static_cast<double>(sms);
  add_translation(counts, s.parameters);
  use_sms(static_cast<double>(s.code.shape.blocks), s.parameters);
  const LaunchShape& shape = s.code.shape;
  s.occupancy =
      isa::compute_occupancy(s.parameters.limits, static_cast<int>(shape.threads_per_block),
                             static_cast<int>(shape.registers), static_cast<int64_t>(shape.shared_bytes));
  Workload& w = s.workload;
  w.shape = shape;
  w.blocks_per_sm = static_cast<uint32_t>(std::max(1, s.occupancy.blocks_per_sm));
  w.segments = find_segments(s.code, s.parameters, load_levels(counts, s.parameters, s.code, w.blocks_per_sm),
                             shape.warps_per_block);
  if (s.parameters.l2_bytes > 0) scale_to_memory(counts, s);
  set_counts(machine, counts, s);
  add_new_pages(counts, s);
  return s;
}

}  // namespace gpusim::analysis::latency_hidden
