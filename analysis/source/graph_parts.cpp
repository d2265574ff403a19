#include "analysis/source/graph_parts.h"

#include <algorithm>
#include <limits>

namespace gpusim::analysis {

Parts parts_of(const Graph& graph) {
  constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  struct Visit {
    uint32_t node;
    size_t next = 0;  ///< edge
  };
  Parts parts;
  parts.of.assign(graph.size(), kNone);
  // When each node was first come to, and the earliest node that it leads back to.
  std::vector<uint32_t> order(graph.size(), kNone), earliest(graph.size(), kNone);
  std::vector<uint32_t> open;  // nodes that have no part yet, in the order in which they were come to
  std::vector<Visit> path;
  uint32_t seen = 0;
  const auto enter = [&](uint32_t node) {
    order[node] = earliest[node] = seen++;
    open.push_back(node);
    path.push_back({node});
  };
  for (uint32_t start = 0; start < graph.size(); ++start) {
    if (order[start] != kNone) continue;
    enter(start);
    while (!path.empty()) {
      const uint32_t node = path.back().node;
      if (path.back().next < graph[node].size()) {
        const uint32_t to = graph[node][path.back().next++];
        ++parts.looked_at;
        if (order[to] == kNone)
          enter(to);
        else if (parts.of[to] == kNone)
          earliest[node] = std::min(earliest[node], order[to]);
        continue;
      }
      path.pop_back();
      if (!path.empty()) earliest[path.back().node] = std::min(earliest[path.back().node], earliest[node]);
      if (earliest[node] != order[node]) continue;
      const auto number = static_cast<uint32_t>(parts.size.size());
      parts.size.push_back(0);
      for (uint32_t member = kNone; member != node; ++parts.size.back()) {
        member = open.back();
        open.pop_back();
        parts.of[member] = number;
      }
    }
  }
  return parts;
}

}  // namespace gpusim::analysis
