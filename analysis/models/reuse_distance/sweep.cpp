#include "analysis/models/reuse_distance/sweep.h"

#include <algorithm>

namespace gpusim::analysis {
namespace {

/// True if two machines differ only in what a shared pass covers.
bool share_a_pass(core::MachineConfig a, const core::MachineConfig& b) {
  a.l1.bytes = b.l1.bytes, a.l1.ways = b.l1.ways;
  a.l1.mshrs = b.l1.mshrs, a.l1.merges = b.l1.merges, a.l1.warp_mshrs = b.l1.warp_mshrs;
  return a == b;
}

bool lru_of_whole_lines(const core::MachineConfig& m) {
  return m.l1.sector == m.l1.line && m.shared.carveout == 0;
}

}  // namespace

std::vector<SweepPoint> sweep_reuse(std::span<const core::MachineConfig> machines, const WarpTrace& trace,
                                    const ReuseOptions& options) {
  std::vector<SweepPoint> points(machines.size());
  std::vector<bool> done(machines.size(), false);
  for (size_t i = 0; i < machines.size(); ++i) {
    if (done[i]) continue;
    std::vector<size_t> together{i};
    if (!options.with.latency && lru_of_whole_lines(machines[i]))
      for (size_t k = i + 1; k < machines.size(); ++k)
        if (!done[k] && share_a_pass(machines[k], machines[i])) together.push_back(k);
    if (together.size() == 1) {
      const ReuseMisses m = run_reuse(machines[i], trace, options).global;
      points[i] = {m.accesses(), m.misses(), false};
      continue;
    }
    ReuseOptions o = options;
    std::vector<ReuseMachine> shapes;
    for (const size_t k : together) {
      ReuseMachine shape = reuse_machine(machines[k], trace.header());
      if (!options.with.associativity) shape.ways *= shape.sets, shape.sets = 1;
      shapes.push_back(shape);
      o.most_ways = std::max(o.most_ways, shape.ways);
      if (std::ranges::find(o.sets_at_once, shape.sets) == o.sets_at_once.end())
        o.sets_at_once.push_back(shape.sets);
    }
    const ReuseRun run = run_reuse(machines[i], trace, o);
    for (size_t k = 0; k < together.size(); ++k) {
      const auto place = std::ranges::find(o.sets_at_once, shapes[k].sets) - o.sets_at_once.begin();
      const uint64_t hits = run.hits_at_once[static_cast<size_t>(place)][shapes[k].ways - 1];
      points[together[k]] = {run.global.accesses(), run.global.accesses() - hits, true};
      done[together[k]] = true;
    }
  }
  return points;
}

}  // namespace gpusim::analysis
