// Which nodes of a directed graph lead back to each other.
#pragma once
#include <cstdint>
#include <vector>

namespace gpusim::analysis {

/// Of each node, those to which an edge leads from it.
using Graph = std::vector<std::vector<uint32_t>>;

/// Nodes that lead to each other are one part (a strongly connected component of the graph).
struct Parts {
  /// Of each node its part. Edges that leave a part lead to smaller numbers.
  std::vector<uint32_t> of;
  std::vector<uint32_t> size;  ///< of each part, in nodes
  uint64_t edges = 0;          ///< of the graph: what finding its parts takes
};

/// Takes time in proportion to nodes and edges.
[[nodiscard]] Parts parts_of(const Graph& graph);

}  // namespace gpusim::analysis
