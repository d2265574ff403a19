#include "analysis/models/latency_hidden/analysis.h"

#include <algorithm>
#include <cmath>

namespace gpusim::analysis::latency_hidden {
namespace {

double counter(const KernelRecord& kernel, std::initializer_list<const char*> names) {
  double sum = 0;
  for (const char* name : names)
    if (const auto at = kernel.counters.find(name); at != kernel.counters.end()) sum += at->second;
  return sum;
}

constexpr double kSector = 32;
/// PortBalance counts even traffic that comes in random order as so much uneven: the largest of some eight
/// random numbers with the mean 256 (its window).
constexpr double kRandomlyUneven = 1.09;

LoadLevels load_levels(const KernelRecord& kernel, const Parameters& p) {
  LoadLevels levels{0, 0, p.l1_latency, p.l2_latency, p.memory_latency};
  if (p.l1_latency > 0) {
    const double hits = counter(kernel, {"l1_global_load_hit", "l1_local_load_hit"});
    const double all = hits + counter(kernel, {"l1_global_load_miss", "l1_local_load_miss"});
    levels.l1_share = all > 0 ? hits / all : 0;
  }
  if (p.l2_latency > 0) {
    const double read = counter(kernel, {"l2_read_sectors"}), hits = counter(kernel, {"l2_read_hit_sectors"});
    levels.l2_share = read > 0 ? (1 - levels.l1_share) * std::min(1.0, hits / read) : 0;
  }
  return levels;
}

/// An access waits at the head of its SM's queue for all its pages together, and the others behind it.
void add_translation(const KernelRecord& kernel, Parameters& p) {
  const double pages = counter(kernel, {"tlb_l1_hits", "tlb_l1_misses"});
  const double accesses =
      counter(kernel, {"gld_request", "gst_request", "atom_count", "local_load", "local_store"});
  if (pages <= 0 || accesses <= 0) return;
  const auto any = [&](const char* misses) {
    return 1 - std::pow(1 - std::min(1.0, counter(kernel, {misses}) / pages), pages / accesses);
  };
  p.translation = any("tlb_l1_misses") * p.tlb_l1_miss + any("tlb_l2_misses") * p.tlb_l2_miss;
}

/// Of bytes that caches serve, what L2 and memory move: as the run counted over all accesses.
void scale_to_memory(const KernelRecord& kernel, Subject& s) {
  double read = 0, written = 0;
  const double warps = static_cast<double>(s.code.shape.blocks) * s.code.shape.warps_per_block;
  for (const Segment& seg : s.workload.segments) {
    read += warps * seg.weight * seg.read;
    written += warps * seg.weight * seg.written;
  }
  const double reads = read > 0 ? counter(kernel, {"dram_read_bytes"}) / read : 0;
  const double writes = written > 0 ? counter(kernel, {"dram_write_bytes"}) / written : 0;
  const double sectors = counter(kernel, {"l2_read_sectors", "l2_write_sectors", "l2_atomic_sectors"});
  const double second = read + written > 0 ? kSector * sectors / (read + written) : 0;
  for (Segment& seg : s.workload.segments) {
    seg.second = (seg.read + seg.written) * second;
    seg.read *= reads;
    seg.written *= writes;
  }
}

/// What the run counted of memory's partitions and rows, and of how alike its warps are.
void set_counts(const Recording& recording, const KernelRecord& kernel, Subject& s) {
  Parameters& p = s.parameters;
  const double requests = counter(kernel, {"noc_requests"});
  if (requests > 0)
    p.uneven = std::max(1.0, counter(kernel, {"noc_requests_to_busiest"}) *
                                 static_cast<double>(recording.machine().l2.partitions) / requests /
                                 kRandomlyUneven);
  double memory = 0;
  const double warps = static_cast<double>(s.code.shape.blocks) * s.code.shape.warps_per_block;
  for (const Segment& seg : s.workload.segments)
    memory += warps * seg.weight * memory_time(seg, p) / p.uneven;
  const double rows = p.row * counter(kernel, {"dram_row_misses", "dram_row_conflicts"});
  if (memory > 0) p.rows = near_limits(memory, rows, 0) / memory;
  const double mean = counter(kernel, {"inst_executed"}) / counter(kernel, {"warps"});
  if (mean <= 0) return;
  s.workload.longest = std::max(
      1.0, counter(kernel, {"longest_warp_of_blocks"}) / static_cast<double>(s.code.shape.blocks) / mean);
  const double operations = counter(kernel, {"longest_warp"});
  if (operations > 0)
    s.workload.longest_path = path_of(find_segments(s.code, p, load_levels(kernel, p), warps), operations);
}

}  // namespace

Subject subject_of(const Recording& recording, const KernelRecord& kernel, const DataSheet& sheet) {
  Subject s;
  s.code = recorded_code(recording, kernel);
  s.parameters = measured_parameters(recording.machine(), sheet);
  s.parameters.sms = static_cast<double>(kernel.per_sm.rows);
  add_translation(kernel, s.parameters);
  const LaunchShape& shape = s.code.shape;
  s.occupancy =
      isa::compute_occupancy(s.parameters.limits, static_cast<int>(shape.threads_per_block),
                             static_cast<int>(shape.registers), static_cast<int64_t>(shape.shared_bytes));
  Workload& w = s.workload;
  w.segments = find_segments(s.code, s.parameters, load_levels(kernel, s.parameters), shape.warps_per_block);
  w.shape = shape;
  w.blocks_per_sm = static_cast<uint32_t>(std::max(1, s.occupancy.blocks_per_sm));
  if (s.parameters.l2_bytes > 0) scale_to_memory(kernel, s);
  set_counts(recording, kernel, s);
  return s;
}

}  // namespace gpusim::analysis::latency_hidden
