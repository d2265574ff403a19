#include "analysis/models/latency_hidden/invariants.h"

#include <fmt/format.h>

namespace gpusim::analysis::latency_hidden {
namespace {

constexpr double kRounding = 1e-6;  ///< of the time

/// False for what is no number, too.
bool is_share(double factor) { return factor >= 0 && factor <= 1; }

}  // namespace

void check_factors(const std::string& kernel, const Estimate& estimate, const Breakdown& breakdown,
                   const std::vector<Change>& changes, Invariants& invariants) {
  const auto require = [&](bool good, const auto& what) {
    if (good)
      ++invariants.held;
    else
      invariants.broken.push_back(fmt::format("{}: {}", kernel, what()));
  };
  const RoundPart& full = estimate.full;
  double beyond = full.beyond;
  for (const RoundPart& stage : estimate.all.stages) beyond += stage.beyond;
  require(is_share(full.factor()) && beyond <= kRounding * estimate.cycles, [&] {
    return fmt::format("factor {}, {} of {} cycles, {} cycles more than all", full.factor(), full.exposed,
                       full.latency, beyond);
  });
  for (const SegmentTime& s : breakdown.segments)
    require(is_share(s.factor) && s.exposed >= 0 && s.exposed <= s.predicted(), [&] {
      return fmt::format("segment from operation {} to {}: factor {}, {} cycles exposed of {}", s.first,
                         s.last, s.factor, s.exposed, s.predicted());
    });
  for (const Change& c : changes)
    require(is_share(c.factor), [&] { return fmt::format("change '{}': factor {}", c.name, c.factor); });
}

}  // namespace gpusim::analysis::latency_hidden
