#include "analysis/source/register_circles.h"

#include <algorithm>

#include "analysis/source/graph_parts.h"

namespace gpusim::analysis {

RegisterCircles::RegisterCircles(const std::vector<PtxStatement>& statements,
                                 const std::function<bool(const PtxStatement&)>& chosen) {
  Graph edges;
  const auto number = [&](std::string_view r) {
    const auto [at, first] = numbers_.try_emplace(r, static_cast<uint32_t>(edges.size()));
    if (first) edges.emplace_back();
    return at->second;
  };
  for (const PtxStatement& s : statements) {
    if (!chosen(s)) continue;
    for (const std::string_view r : s.results) {
      const uint32_t from = number(r);
      for (const std::string_view operand : s.operands) {
        const uint32_t to = number(operand);
        edges[from].push_back(to);
      }
    }
  }
  parts_ = parts_of(edges).of;
}

size_t RegisterCircles::part(std::string_view r) const {
  const auto at = numbers_.find(r);
  return at == numbers_.end() ? kNone : parts_[at->second];
}

bool RegisterCircles::together(std::string_view a, std::string_view b) const {
  return a == b || (part(a) != kNone && part(a) == part(b));
}

bool RegisterCircles::closes(const PtxStatement& s, std::string_view r) const {
  return std::ranges::any_of(s.operands, [&](std::string_view operand) { return together(operand, r); });
}

}  // namespace gpusim::analysis
