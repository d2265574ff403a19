#include "analysis/latency_hidden/analysis.h"

#include <algorithm>

namespace gpusim::analysis::latency_hidden {
namespace {

double counter(const KernelRecord& kernel, std::initializer_list<const char*> names) {
  double sum = 0;
  for (const char* name : names)
    if (const auto at = kernel.counters.find(name); at != kernel.counters.end()) sum += at->second;
  return sum;
}

/// Mean latency of a load: each level's by the share of the loads' sectors or lines that it served.
double load_latency(const KernelRecord& kernel, const Parameters& p) {
  double below_l1 = p.memory_latency;
  if (p.l2_latency > 0) {
    const double read = counter(kernel, {"l2_read_sectors"}), hit = counter(kernel, {"l2_read_hit_sectors"});
    const double share = read > 0 ? std::min(1.0, hit / read) : 0;
    below_l1 = share * p.l2_latency + (1 - share) * p.memory_latency;
  }
  if (p.l1_latency == 0) return below_l1;
  const double hits = counter(kernel, {"l1_global_load_hit", "l1_local_load_hit"});
  const double all = hits + counter(kernel, {"l1_global_load_miss", "l1_local_load_miss"});
  if (all == 0) return below_l1;
  return hits / all * p.l1_latency + (1 - hits / all) * below_l1;
}

/// Of bytes that a second level serves, what memory moves.
void scale_to_memory(const KernelRecord& kernel, Subject& s) {
  double read = 0, written = 0;
  const double warps = static_cast<double>(s.code.shape.blocks) * s.code.shape.warps_per_block;
  for (const Segment& seg : s.workload.segments) {
    read += warps * seg.weight * seg.read;
    written += warps * seg.weight * seg.written;
  }
  const double reads = read > 0 ? counter(kernel, {"dram_read_bytes"}) / read : 0;
  const double writes = written > 0 ? counter(kernel, {"dram_write_bytes"}) / written : 0;
  for (Segment& seg : s.workload.segments) {
    seg.read *= reads;
    seg.written *= writes;
  }
}

}  // namespace

Subject subject_of(const Recording& recording, const KernelRecord& kernel, const DataSheet& sheet) {
  Subject s;
  s.code = recorded_code(recording, kernel);
  s.parameters = measured_parameters(recording.machine(), sheet);
  s.parameters.sms = static_cast<double>(kernel.per_sm.rows);
  const LaunchShape& shape = s.code.shape;
  s.occupancy = isa::compute_occupancy(s.parameters.limits, static_cast<int>(shape.threads_per_block),
                                       static_cast<int>(shape.registers), static_cast<int64_t>(shape.shared_bytes));
  s.load_latency = load_latency(kernel, s.parameters);
  Workload& w = s.workload;
  w.segments = find_segments(s.code, s.parameters, s.load_latency);
  w.shape = shape;
  w.blocks_per_sm = static_cast<uint32_t>(std::max(1, s.occupancy.blocks_per_sm));
  if (s.parameters.l2_bytes > 0) scale_to_memory(kernel, s);
  return s;
}

}  // namespace gpusim::analysis::latency_hidden
