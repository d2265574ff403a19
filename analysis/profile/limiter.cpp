#include "analysis/profile/limiter.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/profile/limiter_estimate.h"
#include "analysis/profile/limiter_shares.h"
#include "simcore/text/json_text.h"

namespace gpusim::analysis {
namespace {

void sort(std::vector<LimiterCandidate>& all) {
  std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.saved > b.saved; });
}

}  // namespace

std::optional<BlocksThatWait> blocks_that_wait(const KernelRecord& kernel,
                                               const core::MachineConfig& machine) {
  if (kernel.cycles == 0) return std::nullopt;
  const Polling p = longest_polling(kernel, machine);
  if (KernelShares(kernel, machine).of_resident(p.share()) / 2 < kLimits) return std::nullopt;
  return BlocksThatWait{p.loop.asks, p.times()};
}

std::vector<LimiterCandidate> limiter_candidates(const KernelRecord& kernel,
                                                 const core::MachineConfig& machine) {
  if (kernel.units.empty() || kernel.cycles == 0) return {};
  std::vector<LimiterCandidate> all = limiter_shares(kernel, machine);
  for (LimiterCandidate& c : all) c.saved *= static_cast<double>(kernel.cycles);
  sort(all);
  return all;
}

std::vector<LimiterCandidate> limiter_candidates(const std::vector<KernelRecord>& kernels,
                                                 const core::MachineConfig& machine) {
  std::map<std::string, double> sums;
  for (const KernelRecord& kernel : kernels)
    for (const LimiterCandidate& c : limiter_candidates(kernel, machine)) sums[c.name] += c.saved;
  std::vector<LimiterCandidate> all;
  for (const auto& [name, saved] : sums) all.push_back({name, saved});
  sort(all);
  return all;
}

std::string limiter_name(const std::vector<LimiterCandidate>& candidates, uint64_t cycles) {
  if (candidates.empty() || candidates.front().saved < kLimits * static_cast<double>(cycles))
    return std::string(kNoLimiter);
  return candidates.front().name;
}

std::string limiter_text(const KernelRecord& kernel, const core::MachineConfig& machine) {
  const std::vector<LimiterCandidate> all = limiter_candidates(kernel, machine);
  return all.empty() ? std::string() : limiter_words(limiter_name(all, kernel.cycles), kernel, machine);
}

std::string limiter_rivals(const std::vector<LimiterCandidate>& candidates, uint64_t cycles) {
  constexpr double kRival = 0.6;
  std::vector<std::string> near;
  for (const LimiterCandidate& c : candidates) {
    const double share = c.saved / std::max(1.0, static_cast<double>(cycles));
    if (share < kLimits || c.saved < kRival * candidates.front().saved) break;
    near.push_back(fmt::format("{} {:.0f} %", c.name, 100 * share));
  }
  return near.size() < 2 ? std::string() : fmt::format("{}", fmt::join(near, ", "));
}

std::string limiter_json(const KernelRecord& kernel, const core::MachineConfig& machine) {
  const std::vector<LimiterCandidate> all = limiter_candidates(kernel, machine);
  std::string list;
  for (const LimiterCandidate& c : all)
    list +=
        fmt::format("{}{{\"name\": {}, \"saves\": {}}}", list.empty() ? "" : ", ", core::json_quoted(c.name),
                    core::json_number(c.saved / static_cast<double>(kernel.cycles)));
  const std::string text = limiter_text(kernel, machine);
  return fmt::format("{{\"name\": {}, \"text\": {}, \"estimates\": [{}]}}",
                     all.empty() ? "null" : core::json_quoted(limiter_name(all, kernel.cycles)),
                     all.empty() ? "null" : core::json_quoted(text), list);
}

}  // namespace gpusim::analysis
