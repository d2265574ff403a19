#include "analysis/source/graph_parts.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>

namespace gpusim::analysis {

Parts parts_of(const Graph& graph) {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> copy(graph.size());
  for (size_t node = 0; node < graph.size(); ++node)
    for (const uint32_t to : graph[node]) boost::add_edge(node, to, copy);
  Parts parts;
  parts.edges = boost::num_edges(copy);
  parts.of.resize(graph.size());
  const auto of = boost::make_iterator_property_map(parts.of.begin(), boost::get(boost::vertex_index, copy));
  parts.size.resize(static_cast<size_t>(boost::strong_components(copy, of)));
  for (const uint32_t part : parts.of) ++parts.size[part];
  return parts;
}

}  // namespace gpusim::analysis
