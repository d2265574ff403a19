#include "analysis/models/latency_hidden/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gpusim::analysis::latency_hidden {
namespace {

constexpr double kWorthwhile = 0.01;  ///< of the time

}  // namespace

std::vector<Change> changes_that_help(const Subject& subject, const Estimate& now) {
  const Parameters& p = subject.parameters;
  const Workload& w = subject.workload;
  std::vector<Change> changes;
  const auto consider = [&](const char* name, std::string what, const Workload& changed) {
    const Estimate e = estimate(changed, p);
    if (e.cycles < now.cycles * (1 - kWorthwhile))
      changes.push_back({name, std::move(what), e.cycles, e.factor()});
  };

  const isa::Occupancy free =
      isa::compute_occupancy(p.limits, static_cast<int>(w.shape.threads_per_block), 0, 0);
  if (free.blocks_per_sm > subject.occupancy.blocks_per_sm) {
    Workload more = w;
    more.blocks_per_sm = static_cast<uint32_t>(free.blocks_per_sm);
    consider("occupancy",
             fmt::format("{} blocks on an SM instead of {}: limited by {}", free.blocks_per_sm,
                         subject.occupancy.blocks_per_sm, subject.occupancy.limiter),
             more);
  }

  Workload independent = w;
  for (Segment& s : independent.segments) {
    s.wait /= 2;
    s.chain -= std::max(0.0, s.chain - s.compute()) / 2;
  }
  consider("independent work", "twice the loads and operations between two waits that depend on them",
           independent);

  Workload coalesced = w;
  for (Segment& s : coalesced.segments) {
    const double moved = s.read + s.written;
    const double scale = moved > 0 ? std::min(1.0, s.requested / moved) : 1;
    s.read *= scale;
    s.written *= scale;
    s.second *= scale;
    s.busy[p.request_unit] *= scale;
    for (double& busy : s.behind) busy *= scale;
  }
  consider("coalescing", "transactions that move only the bytes that threads ask for", coalesced);

  Workload reused = w;
  for (Segment& s : reused.segments) {
    s.read /= 2;
    s.second /= 2;
  }
  consider("reuse", "half the bytes read from memory: values kept in shared memory or registers", reused);

  Workload conflict_free = w;
  const size_t unit = p.of(isa::OpClass::kLoadShared).unit;
  for (Segment& s : conflict_free.segments) s.busy[unit] = std::max(0.0, s.busy[unit] - s.conflicts);
  consider("bank conflicts", "shared-memory accesses without conflicts", conflict_free);

  Workload even = w;
  const double rounds = std::ceil(now.rounds);
  even.shape.blocks = static_cast<uint64_t>(rounds * now.resident * p.sms);
  Estimate full = estimate(even, p);
  const double cycles = full.overhead + (full.cycles - full.overhead) * static_cast<double>(w.shape.blocks) /
                                            static_cast<double>(even.shape.blocks);
  if (cycles < now.cycles * (1 - kWorthwhile))
    changes.push_back({"grid",
                       fmt::format("as much work in blocks that fill every round ({:.2f} now)", now.rounds),
                       cycles, full.factor()});
  std::ranges::sort(changes, {}, &Change::cycles);
  return changes;
}

}  // namespace gpusim::analysis::latency_hidden
