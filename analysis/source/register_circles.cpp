#include "analysis/source/register_circles.h"

#include <algorithm>

namespace gpusim::analysis {

RegisterCircles::RegisterCircles(const std::vector<PtxStatement>& statements,
                                 const std::function<bool(const PtxStatement&)>& chosen) {
  std::vector<std::vector<size_t>> edges;
  const auto number = [&](std::string_view r) {
    const auto [at, first] = numbers_.try_emplace(r, edges.size());
    if (first) edges.emplace_back();
    return at->second;
  };
  for (const PtxStatement& s : statements) {
    if (!chosen(s)) continue;
    for (const std::string_view r : s.results) {
      const size_t from = number(r);
      for (const std::string_view operand : s.operands) {
        const size_t to = number(operand);
        edges[from].push_back(to);
      }
    }
  }
  find_parts(edges);
}

void RegisterCircles::find_parts(const std::vector<std::vector<size_t>>& edges) {
  struct Visit {
    size_t at, edge;  ///< the next edge to follow
  };
  parts_.assign(edges.size(), kNone);
  std::vector<size_t> order(edges.size(), kNone), lowest(edges.size(), 0), open;
  std::vector<Visit> way;  // without recursion: chains are as long as programs
  size_t visited = 0, parts = 0;
  const auto enter = [&](size_t at) {
    order[at] = lowest[at] = visited++;
    open.push_back(at);
    way.push_back({at, 0});
  };
  const auto leave = [&](size_t at) {
    way.pop_back();
    if (!way.empty()) lowest[way.back().at] = std::min(lowest[way.back().at], lowest[at]);
    if (lowest[at] != order[at]) return;
    for (bool more = true; more; open.pop_back()) {
      parts_[open.back()] = parts;
      more = open.back() != at;
    }
    ++parts;
  };
  for (size_t first = 0; first < edges.size(); ++first) {
    if (order[first] == kNone) enter(first);
    while (!way.empty()) {
      const size_t at = way.back().at;
      if (way.back().edge == edges[at].size()) {
        leave(at);
        continue;
      }
      const size_t to = edges[at][way.back().edge++];
      if (order[to] == kNone)
        enter(to);
      else if (parts_[to] == kNone)
        lowest[at] = std::min(lowest[at], order[to]);
    }
  }
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
