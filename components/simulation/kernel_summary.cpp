#include "components/simulation/kernel_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "components/simulation/kernel_counters.h"

namespace gpusim::comp {

/// "memory_dram 61.2 %", the three largest.
static std::vector<std::string> top_stalls(const SmStats& total) {
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

KernelResult summarise(const KernelLaunch& run, const core::MachineConfig& machine,
                       const std::string& limiter, double seconds, core::Cycle end) {
  KernelResult k;
  if (end.count() != 0) k.cycles = end - run.start;
  k.time_s = seconds;
  k.name = run.image->name;
  k.launch = run.id;
  k.grid = run.grid;
  k.block = run.block;
  k.registers = run.image->registers;
  k.shared_bytes = run.taken_shared_bytes;
  k.blocks_per_sm = run.blocks_per_sm;
  k.occupancy_limiter = limiter;
  KernelView view{machine, total_of(run)};
  view.machine_instructions = machine_instructions_of(run);
  view.timed = end.count() != 0;
  view.cycles = static_cast<double>(k.cycles);
  view.clock_hz = seconds == 0 ? 0 : view.cycles / seconds;
  k.counters.reserve(160);  // all that a machine may have
  report_sms(k.counters, view);
  k.total = view.sm;
  k.top_stalls = top_stalls(k.total);
  return k;
}

}  // namespace gpusim::comp
